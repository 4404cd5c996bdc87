"""How windfall runs on JAX: float64 in a scope, lanes together or in turn, a compile cache.

None of this changes the settings of a user's own JAX code, except where the user calls
``compilation_cache``.
"""

import gc
import os
from collections.abc import Callable, Hashable
from functools import wraps
from pathlib import Path
from threading import Lock
from typing import ParamSpec, TypeVar

import numpy as np
import platformdirs

from windfall.guard import one_blas_thread

with one_blas_thread():
    import scipy.linalg  # noqa: F401  the BLAS that JAX will use

import jax

__all__ = [
    "compilation_cache",
    "first_call_alone",
    "float64",
    "map_lanes",
    "on_accelerator",
    "relieve_memory_maps",
]

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


def first_call_alone(function: Callable[P, R]) -> Callable[P, R]:
    """Let the first call of a compiled function for given shapes finish before others start.

    Threads that need the same program then compile it once, not each for itself.
    """
    locks: dict[Hashable, Lock] = {}
    ready: set[Hashable] = set()

    @wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        leaves, tree = jax.tree.flatten((args, kwargs))
        shapes = tuple((np.shape(a), str(getattr(a, "dtype", a))) for a in leaves)
        key = (tree, shapes)
        if key in ready:
            return function(*args, **kwargs)
        with locks.setdefault(key, Lock()):
            result = function(*args, **kwargs)
            ready.add(key)
        return result

    return guarded


def relieve_memory_maps() -> None:
    """Forget compiled programs before the process runs out of memory maps.

    Each program that XLA compiles for the CPU keeps hundreds of memory maps. Linux allows a process
    65,530 of them, and XLA aborts when there are no more; a long row of different simulations gets
    there. Forgotten programs are compiled again, or read from the compilation cache.
    """
    try:
        limit = int(Path("/proc/sys/vm/max_map_count").read_text())
        with open("/proc/self/maps", "rb") as maps:
            used = sum(1 for _ in maps)
    except OSError:  # not Linux
        return
    if used > 0.5 * limit:
        jax.clear_caches()
        gc.collect()


def compilation_cache(folder: Path | str | None = None) -> Path:
    """Keep compiled programs on disk, so that the next process starts deciding at once.

    The command line and worker processes call this; a library user may. ``WINDFALL_CACHE`` or
    ``folder`` choose the place, by default the user's cache folder.
    """
    path = Path(
        folder or os.environ.get("WINDFALL_CACHE") or platformdirs.user_cache_path("windfall")
    )
    jax.config.update("jax_compilation_cache_dir", str(path / "jax"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.3)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
    return path / "jax"
