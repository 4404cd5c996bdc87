"""A server in this process, on a port of its own, for tests."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from windfall.serve.app import LOCAL, application
from windfall.serve.guard import Limits
from windfall.serve.server import Server
from windfall.serve.tokens import Tokens


@dataclass
class Served:
    """A server that runs.

    Attributes:
        port: Where.
        tokens: Who may do what.
        admin: A token for everything.
        app: The application.
    """

    port: int
    tokens: Tokens
    admin: str
    app: Any

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self, token: str | None = None, **headers: str) -> httpx2.Client:
        bearer = {"Authorization": f"Bearer {token or self.admin}", **headers}
        return httpx2.Client(base_url=self.url, headers=bearer, timeout=60.0, trust_env=False)


@contextmanager
def serving(store, folder: Path, *, limits=None, hosts=LOCAL, clock=time.time) -> Iterator[Served]:
    """A server for the studies of a store."""
    limits = limits or Limits()
    tokens = Tokens(folder / "tokens", clock)
    app = application(store, tokens, hosts, limits)
    server = Server(app, "127.0.0.1", 0, limits)
    listening = threading.Event()
    server.listening = lambda port: listening.set()
    thread = threading.Thread(target=server.run)
    thread.start()
    assert listening.wait(30)
    try:
        yield Served(server.port, tokens, tokens.add("admin", "admin"), app)
    finally:
        server.end()
        thread.join(60)
        tokens.close()
    assert not thread.is_alive()
