"""What must happen before JAX starts; imports nothing heavy."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["guard_threads", "one_blas_thread", "wedge_possible"]

_late = False


def guard_threads() -> None:
    """Keep XLA's CPU thread pool from wedging; called when windfall is imported.

    In jaxlib 0.10 a batched LAPACK call splits its batch over XLA's CPU thread pool and waits for
    the parts. When as many such calls run at once as the pool has threads, nobody is left to do the
    parts and every thread sleeps for ever; on two cores that takes seconds. A pool of one thread
    never splits a batch. XLA reads the size from ``PJRT_NPROC`` (or ``NPROC``) when it creates the
    CPU client at the first computation; a value that the user has set is respected.

    On a CPU windfall's own programs avoid batched linear algebra anyway, so that they cannot wedge
    even where JAX was started before windfall was imported.
    """
    global _late
    # JAX has no public way to ask without starting a backend; where this one is gone, assume not.
    bridge = sys.modules.get("jax._src.xla_bridge")
    started = getattr(bridge, "backends_are_initialized", lambda: False)()
    chosen = "NPROC" in os.environ or "PJRT_NPROC" in os.environ
    _late = started and os.environ.get("PJRT_NPROC", os.environ.get("NPROC")) != "1"
    if not started and not chosen:
        os.environ["PJRT_NPROC"] = "1"


def wedge_possible() -> bool:
    """Whether batched linear algebra on the CPU could wedge: JAX was started unguarded."""
    return _late


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Load SciPy inside, and its BLAS will use one thread, whatever the environment says later.

    JAX factorises matrices on the CPU with SciPy's OpenBLAS, which splits even a 32×32 Cholesky
    over all cores; waiting for the threads then takes far longer than the work: a fit at 100 inputs
    took two seconds instead of 30 ms on two cores that were busy. OpenBLAS reads its number of
    threads once, when it is loaded; where SciPy or JAX was imported before, it is told. NumPy's
    wheels bring a BLAS of their own, which is left alone. So is a number that the user has set.
    """
    name = "OPENBLAS_NUM_THREADS"
    if name in os.environ:
        yield
        return
    early = "scipy.linalg" in sys.modules
    os.environ[name] = "1"
    try:
        yield
    finally:
        del os.environ[name]
    if early:
        _limit_loaded_blas()


def _limit_loaded_blas() -> None:
    """One thread for the OpenBLAS of SciPy, or for the one that it shares with NumPy."""
    from threadpoolctl import ThreadpoolController

    loaded = [c for c in ThreadpoolController().lib_controllers if c.internal_api == "openblas"]
    own = [c for c in loaded if {"scipy", "scipy.libs"} & {*Path(c.filepath).parts[-3:-1]}]
    for library in own or loaded:
        library.set_num_threads(1)
