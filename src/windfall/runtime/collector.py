"""Python's collector of garbage rests where much is made that stays; imports nothing heavy."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

__all__ = ["uncollected"]

_lock = Lock()
_inside = 0
_enabled = False


@contextmanager
def uncollected() -> Iterator[None]:
    """Look for no garbage inside, in any thread; afterwards as before.

    Importing JAX and tracing programs make a million objects that stay. Looking through them again
    and again took a tenth of all the time before a first decision.
    """
    global _inside, _enabled
    with _lock:
        if _inside == 0:
            _enabled = gc.isenabled()
            gc.disable()
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0 and _enabled:
                gc.enable()
