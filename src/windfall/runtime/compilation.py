"""What JAX compiled: kept on disk, forgotten in time, and how long it took."""

import gc
import os
import threading
from pathlib import Path
from typing import Any

import jax
import jax.monitoring
import platformdirs

import windfall.runtime.execution  # noqa: F401  before JAX: it arranges the threads of its BLAS

__all__ = ["CompileClock", "compilation_cache", "relieve_memory_maps"]


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


class CompileClock:
    """Seconds that XLA spent compiling for this thread while the clock was open."""

    def __init__(self):
        self.seconds = 0.0
        self.programs = 0
        self._thread = threading.get_ident()

    def _listen(self, event: str, duration_secs: float, **_: Any) -> None:
        mine = threading.get_ident() == self._thread
        if mine and event == "/jax/core/compile/backend_compile_duration":
            self.seconds += duration_secs
            self.programs += 1

    def __enter__(self) -> "CompileClock":
        jax.monitoring.register_event_duration_secs_listener(self._listen)
        return self

    def __exit__(self, *_: Any) -> None:
        jax.monitoring.unregister_event_duration_listener(self._listen)
