"""The process that serves: connections that wait for nothing are closed, and it ends gracefully."""

import asyncio
import logging
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from windfall.serve.guard import Limits
from windfall.serve.logs import LOG, Lines

__all__ = ["Server", "log_to"]

#: After an answer a connection stays open for the next request for so many seconds.
_IDLE = 30
#: What is under way when the service ends may take so many seconds.
_GRACE = 30


class _Connection(H11Protocol):
    """A connection that has to ask for something within a few seconds.

    uvicorn closes those that are idle after an answer; not those that never ask, or that stop in
    the midst of their headers. Where there are too many, the one that has been idle longest goes.
    """

    #: Of a server: how many connections there may be, how long a request may take to arrive, and
    #: the connections that were idle when they were last looked at, the longest first.
    most: int
    seconds: float
    resting: dict["_Connection", None]

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._late = self.loop.call_later(self.seconds, self._close_if_idle)
        self.resting[self] = None
        if len(self.connections) > self.most:
            self._make_room()

    def _make_room(self) -> None:
        while self.resting:
            first = next(iter(self.resting))
            del self.resting[first]
            if first.idle:
                first.transport.abort()
                return

    @property
    def idle(self) -> bool:
        """Whether no request is under way: there are no headers yet, or only a part of them."""
        return self.cycle is None or self.cycle.response_complete

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self.resting.pop(self, None)
        self.resting[self] = None
        self._late.cancel()
        self._late = self.loop.call_later(_IDLE + self.seconds, self._close_if_idle)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.resting.pop(self, None)
        self._late.cancel()

    def _close_if_idle(self) -> None:
        if self.idle and not self.transport.is_closing():
            self.transport.close()


class Server(uvicorn.Server):
    """Serves an application until it is told to end.

    Args:
        app: The application.
        host: Which address it listens on.
        port: Which port; 0 for any that is free.
        limits: As the application has them.

    Attributes:
        listening: Called with the port once it listens.
    """

    def __init__(self, app: FastAPI, host: str, port: int, limits: Limits):
        bounds = {"most": limits.connections, "seconds": limits.seconds, "resting": {}}
        super().__init__(
            uvicorn.Config(
                app,
                host=host,
                port=port,
                http=type("Connection", (_Connection,), bounds),
                ws="none",
                timeout_keep_alive=_IDLE,
                timeout_graceful_shutdown=_GRACE,
                log_config=None,
                access_log=False,  # the application logs, without queries
                server_header=False,
            )
        )
        self._app = app
        self._loop: asyncio.AbstractEventLoop | None = None
        self.listening: Callable[[int], None] = lambda port: None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End gracefully: streams first, as they would never end by themselves."""
        LOG.info("ending", extra={"said": {"signal": signal.Signals(sig).name}})
        self._app.state.closing.set()
        super().handle_exit(sig, frame)

    def end(self) -> None:
        """The same, from another thread."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._app.state.closing.set)
        self.should_exit = True

    @property
    def port(self) -> int:
        """The port, once it listens."""
        return self.servers[0].sockets[0].getsockname()[1]

    async def startup(self, sockets: Any = None) -> None:
        """Listen, and say so."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        if self.started:
            said = {"host": self.config.host, "port": self.port}
            LOG.info("serving", extra={"said": said})
            self.listening(self.port)


def log_to(stream: Any = None, level: str = "info") -> None:
    """Write the log as lines of JSON."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(Lines())
    for name in ("windfall.serve", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level.upper() if name == "windfall.serve" else "WARNING")
