"""Work beside what a thread goes on to do; imports nothing heavy."""

import atexit
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress

__all__ = ["beside", "closing"]

_closing = threading.Event()
_threads: "weakref.WeakSet[threading.Thread]" = weakref.WeakSet()


def beside(work: Callable[[], object], name: str) -> None:
    """Run something beside what this thread goes on to do."""

    def run() -> None:
        with suppress(Exception):  # whatever is wrong, who needs the outcome will say
            work()

    thread = threading.Thread(target=run, daemon=True, name=name)
    _threads.add(thread)
    thread.start()


def closing(seconds: float = 0.0) -> bool:
    """Whether the process is about to end, or is within so many seconds."""
    return _closing.wait(seconds)


@atexit.register
def _close() -> None:
    """Python must not end while a thread is inside the compiler."""
    _closing.set()
    for thread in list(_threads):
        thread.join()
