"""What must happen before JAX starts; imports nothing heavy."""

import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

__all__ = ["guard_threads", "one_blas_thread", "wedge_possible"]

#: Where JAX keeps what makes its clients. It has no public way to act when the CPU's is made.
_BRIDGE = "jax._src.xla_bridge"
_POOL = "PJRT_NPROC"
_guarded = False


def guard_threads() -> None:
    """Keep XLA's CPU thread pool from wedging; called when windfall is imported.

    In jaxlib 0.10 a batched LAPACK call splits its batch over XLA's CPU thread pool and waits for
    the parts. When as many such calls run at once as the pool has threads, nobody is left to do the
    parts and every thread sleeps for ever; on two cores that takes seconds. A pool of one thread
    never splits a batch. XLA reads the size from ``PJRT_NPROC`` (or ``NPROC``) when it creates the
    CPU client, at the first computation: the variable is set for as long as that takes, so that
    processes which the user's program starts do not inherit it. A value that the user has set is
    respected.

    On a CPU windfall's own programs avoid batched linear algebra anyway, so that they cannot wedge
    even where JAX was started before windfall was imported.
    """
    global _guarded
    if _chosen() is not None:
        return
    if _BRIDGE in sys.modules:
        _guarded = _guard_client(sys.modules[_BRIDGE])
    else:
        sys.meta_path.insert(0, _WhenJaxIsImported())
        _guarded = True


def wedge_possible() -> bool:
    """Whether batched linear algebra on the CPU could wedge: JAX's pool has several threads."""
    return not _guarded and _chosen() != "1"


def _chosen() -> str | None:
    """The number of threads that the user has set."""
    return os.environ.get(_POOL, os.environ.get("NPROC"))


def _guard_client(bridge: Any) -> bool:
    """Make the CPU client with one thread; whether it was not too late for that."""
    if getattr(bridge, "backends_are_initialized", lambda: False)():
        return False
    cpu = getattr(bridge, "_backend_factories", {}).get("cpu")
    if cpu is None:  # a JAX that keeps it elsewhere: better inherited than wedged
        os.environ[_POOL] = "1"
    else:
        cpu.factory = _with_one_thread(cpu.factory)
    return True


def _with_one_thread(make_client: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(make_client)
    def made(*args: Any, **kwargs: Any) -> Any:
        if _chosen() is not None:  # since windfall was imported
            return make_client(*args, **kwargs)
        os.environ[_POOL] = "1"
        try:
            return make_client(*args, **kwargs)
        finally:
            del os.environ[_POOL]

    return made


class _WhenJaxIsImported(MetaPathFinder):
    """Guards the client once the module that makes it has been imported, and steps aside."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name != _BRIDGE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def guarded(module: Any) -> None:
                execute(module)
                _guard_client(module)

            spec.loader.exec_module = guarded
        return spec


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
