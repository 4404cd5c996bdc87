"""What the service says about itself: one line of JSON each, and no secret in any."""

import json
import logging
import time
import traceback
import uuid
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from windfall.serve.metrics import Metrics
from windfall.serve.refusals import problem

__all__ = ["LOG", "Lines", "Logged"]

LOG = logging.getLogger("windfall.serve")

_HEADERS = [
    (b"content-security-policy", b"default-src 'self'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
]


class Lines(logging.Formatter):
    """Records as lines of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        said: dict[str, Any] = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "said", {}),
        }
        if record.exc_info:
            said["trace"] = "".join(traceback.format_exception(*record.exc_info))
        return json.dumps(said, default=str)


class Logged:
    """Logs and counts every answer of an application, and answers in its place where it breaks.

    Args:
        app: The application.
        metrics: Where answers are counted.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics):
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, status = time.perf_counter(), 0
        scope.setdefault("state", {})

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message["headers"], *_HEADERS]}
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception:
            number = uuid.uuid4().hex[:12]
            LOG.exception("broken", extra={"said": {"number": number, **_request(scope)}})
            if not status:
                text = f"the service is broken; its log says why under {number}"
                await problem(500, text, "Fault")(scope, receive, watched)
        finally:
            seconds = time.perf_counter() - begun
            route = getattr(scope.get("route"), "path", "other")
            self._metrics.answered(scope["method"], route, status, seconds)
            said = {**_request(scope), "status": status, "ms": round(1000 * seconds, 1)}
            LOG.info("answered", extra={"said": said})


def _request(scope: Scope) -> dict[str, Any]:
    """What may be said of a request: never its query, headers or body."""
    grant = scope["state"].get("grant")
    client = scope.get("client")
    return {
        "method": scope["method"],
        "path": scope["path"],
        "token": None if grant is None else grant.name,
        "client": client[0] if client else None,
    }
