"""The process that serves: connections that wait for nothing are closed, and it ends gracefully."""

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
    """A connection that has to ask for something within a few seconds of being made."""

    most, seconds = Limits.connections, Limits.seconds

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > self.most:
            transport.close()
        else:
            self._wait()

    def _wait(self) -> None:
        self._late = self.loop.call_later(self.seconds, self._too_late)

    def _too_late(self) -> None:
        """No request is under way: there are no headers yet, or only a part of them."""
        if self.transport.is_closing():
            return
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._late.cancel()
        if not self.transport.is_closing():
            # As long as a connection may be idle, and then a request needs to arrive.
            self._late = self.loop.call_later(_IDLE + self.seconds, self._too_late)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        late = getattr(self, "_late", None)
        if late is not None:
            late.cancel()


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
        bounds = {"most": limits.connections, "seconds": limits.seconds}
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
        self.listening: Callable[[int], None] = lambda port: None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End gracefully: streams first, as they would never end by themselves."""
        LOG.info("ending", extra={"said": {"signal": signal.Signals(sig).name}})
        self._app.state.closing.set()
        super().handle_exit(sig, frame)

    @property
    def port(self) -> int:
        """The port, once it listens."""
        return self.servers[0].sockets[0].getsockname()[1]

    async def startup(self, sockets: Any = None) -> None:
        """Listen, and say so."""
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
