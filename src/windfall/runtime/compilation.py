"""What JAX compiled: forgotten in time, and how long it took."""

import gc
import threading
from pathlib import Path
from typing import Any

import jax
import jax.monitoring

from windfall.runtime.programs import forget_all

__all__ = ["CompileClock", "relieve_memory_maps"]


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
        forget_all()
        jax.clear_caches()
        gc.collect()


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
