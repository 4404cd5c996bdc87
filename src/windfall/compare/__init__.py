"""Policies compared: suites of problems, contenders, statistics, ablation."""
