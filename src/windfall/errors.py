"""The errors a user can meet: each names the argument, the value and the remedy."""

__all__ = ["InputError", "NumericalError", "WorkerError"]


class InputError(ValueError):
    """An argument or a file that windfall cannot work with."""


class NumericalError(ArithmeticError):
    """A computation that has no finite answer, reported instead of a silent NaN."""


class WorkerError(RuntimeError):
    """Worker processes die again and again, so that trials cannot be played."""
