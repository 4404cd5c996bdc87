"""``windfall serve``, from its options to the end of the process."""

import gc
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from windfall.checks import whole
from windfall.errors import InputError
from windfall.serve.app import LOCAL, application
from windfall.serve.guard import Limits
from windfall.serve.server import Server, log_to
from windfall.serve.tokens import Tokens
from windfall.study.stores import open_store
from windfall.study.stores.base import DecidingStore

__all__ = ["run_server"]

#: For how long the printed link can be used, in seconds.
_LINK = 30 * 24 * 3600.0
#: Open files besides connections.
_FILES = 500
#: Threads give way to each other so often, in seconds: while one prepares a compilation, which is
#: pure Python, others answer.
_SWITCH = 0.001


def run_server(
    store: str,
    tokens: Path,
    host: str,
    port: int,
    names: Sequence[str],
    say: Callable[[str], None],
    limits: Limits | None = None,
) -> None:
    """Serve until a signal ends it.

    Args:
        store: The file, or the address of a database.
        tokens: The file of tokens.
        host: The address to listen on.
        port: The port; 0 for any that is free.
        names: By which the machine is reached, besides its own for itself.
        say: Prints a line for the user.
        limits: How much is taken from one client.
    """
    limits = limits or Limits()
    whole("port", port, 0, 65535)
    with closing(open_store(store, create=True)) as kept, closing(Tokens(tokens)) as opened:
        if isinstance(kept, DecidingStore):
            raise InputError(f"store is {store!r}, a server itself; expected a file or a database")
        # Here, not in the midst of serving: the import of JAX lets nobody else run.
        import windfall.study.decide  # noqa: F401

        sys.setswitchinterval(_SWITCH)
        _allow_connections(limits.connections)
        log_to()
        app = application(kept, opened, {*LOCAL, *names}, limits)
        server = Server(app, host, port, limits)
        if host in LOCAL:
            server.listening = lambda at: say(_link(opened, at))
        else:
            server.listening = lambda at: say(
                f"serving on {host}:{at}; tokens are made by: windfall serve token add NAME"
            )
        # What is there by now stays. Looking through it for garbage stops all for 0.1 s each time.
        gc.collect()
        gc.freeze()
        server.run()


def _allow_connections(wanted: int) -> None:
    """As many open files as connections need, where the system would give fewer by default."""
    try:
        import resource
    except ImportError:  # not POSIX
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = hard if hard != resource.RLIM_INFINITY else wanted + _FILES
    if soft != resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(most, wanted + _FILES)), hard))


def _link(tokens: Tokens, port: int) -> str:
    """An address that opens the page, for whoever started the service."""
    name = f"link {datetime.now(UTC).isoformat(timespec='microseconds')}"
    secret = tokens.add(name, "admin", _LINK)
    return f"http://127.0.0.1:{port}/?token={secret}"
