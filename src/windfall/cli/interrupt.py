"""Ctrl-C: one line, exit code 130, at once, and no file half-written.

An exception raised in the midst of JAX is no way to stop: Python drops it inside callbacks of the
garbage collector, it waits until XLA has compiled, and unwinding compiled code can crash. So the
signal wakes a thread, which ends the process from outside.
"""

import multiprocessing
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from typing import NoReturn

__all__ = ["WRITING", "leave_to_command", "on_interrupt", "watch"]

INTERRUPTED = 130  # 128 + SIGINT, as shells expect

WRITING = threading.Lock()  # held while files are written: an interrupt waits for it

_farewells: list[Callable[[], None]] = []


def on_interrupt(farewell: Callable[[], None]) -> None:
    """Have a command say what it has found so far before it leaves; called in another thread."""
    _farewells.append(farewell)


def watch() -> None:
    """Answer Ctrl-C from now on."""
    # The pool's janitor process cleans up after us; it need not say so.
    quiet = os.environ.get("PYTHONWARNINGS"), "ignore:resource_tracker:UserWarning"
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, quiet))
    woken, waker = socket.socketpair()
    waker.setblocking(False)
    signal.signal(signal.SIGINT, lambda number, frame: None)
    signal.set_wakeup_fd(waker.fileno())
    threading.Thread(target=_wait, args=(woken, waker), daemon=True).start()


def leave_to_command() -> None:
    """For a command that answers Ctrl-C itself: a server, which ends what it is at."""
    signal.set_wakeup_fd(-1)


def _wait(woken: socket.socket, waker: socket.socket) -> None:
    """End the process when the signal comes; ``waker`` is only kept open."""
    while woken.recv(1) != bytes([signal.SIGINT]):
        pass
    with WRITING:
        try:
            for farewell in _farewells:
                farewell()
        finally:
            _leave()


def _leave() -> NoReturn:
    for worker in multiprocessing.active_children():
        if worker.pid is not None:
            os.kill(worker.pid, signal.SIGTERM)
    clear_line_show_cursor = "\r\x1b[2K\x1b[?25h" if sys.stderr.isatty() else ""
    print(f"{clear_line_show_cursor}windfall: interrupted", file=sys.stderr, flush=True)
    os._exit(INTERRUPTED)  # not sys.exit: that would wait for the main thread
