"""Simulation: one trial, many trials."""

from windfall.simulate.runner import simulate

__all__ = ["simulate"]
