"""One policy on one problem, and all such runs on a problem."""

from dataclasses import dataclass

from windfall.policy import Policy
from windfall.problems import Problem

__all__ = ["Experiment", "Run"]


@dataclass(frozen=True)
class Run:
    """One policy on one problem.

    Attributes:
        problem: Name of the problem.
        label: Name of the policy in tables and figures.
        policy: The policy itself.
        rounds: T.
        trials: How many.
        seed: Determines everything.
        variant: How it departs from the paper's text, empty for the library's own computation.
        reference: Key of the authors' saved runs to compare with, as ``problem/policy``.
    """

    problem: str
    label: str
    policy: Policy
    rounds: int
    trials: int
    seed: int
    variant: str = ""
    reference: str = ""


@dataclass(frozen=True)
class Experiment:
    """All runs on one problem.

    Attributes:
        name: The problem's name.
        problem: The problem.
        runs: LW-UCB and the four baselines, in the paper's protocol.
        sensitivity: LW-UCB with other numbers of components (synthetic problems only).
        variants: The same policies as the authors ran them.
    """

    name: str
    problem: Problem
    runs: tuple[Run, ...]
    sensitivity: tuple[Run, ...]
    variants: tuple[Run, ...]

    @property
    def all_runs(self) -> tuple[Run, ...]:
        """Every run, each once."""
        return (*self.runs, *self.sensitivity, *self.variants)
