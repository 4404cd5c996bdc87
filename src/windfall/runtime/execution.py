"""How programs run on JAX: float64 in a scope, lanes together or in turn.

None of this changes the settings of a user's own JAX code.
"""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from windfall.runtime.threads import one_blas_thread

with one_blas_thread():
    import scipy.linalg  # noqa: F401  the BLAS that JAX will use

import jax

__all__ = ["float64", "map_lanes", "on_accelerator"]

P = ParamSpec("P")
R = TypeVar("R")


def float64(function: Callable[P, R]) -> Callable[P, R]:
    """Run a function in double precision without touching the user's JAX configuration."""

    @wraps(function)
    def scoped(*args: P.args, **kwargs: P.kwargs) -> R:
        with jax.enable_x64(True):
            return function(*args, **kwargs)

    return scoped


def on_accelerator() -> bool:
    """Whether JAX computes on something other than the CPU."""
    return jax.default_backend() != "cpu"


def map_lanes(function, lanes):
    """Apply to each lane: together on an accelerator, one after the other on a CPU.

    On a CPU lanes that loop would all wait for the slowest, and batched linear algebra in loops is
    what wedges XLA's thread pool.
    """
    return jax.vmap(function)(lanes) if on_accelerator() else jax.lax.map(function, lanes)
