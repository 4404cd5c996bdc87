"""What all routes share: strict JSON, scopes, and the problems that they may answer with."""

import json
import re
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import Request, Response, Security
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer

from windfall.serve.models import Problem
from windfall.serve.refusals import Refused

__all__ = ["PROBLEMS", "Strict", "allowed"]

_WHEN = {
    400: "The body is no JSON.",
    401: "The token is missing, unknown or expired.",
    403: "The token does not allow it, or the request comes from another site's page.",
    404: "There is no such study.",
    408: "The body did not arrive in time.",
    409: "Something else happened first.",
    413: "The body is too long.",
    421: "The server is not reached by this name.",
    422: "The request cannot be done; the error says why.",
    423: "Somebody has the study to himself for a moment.",
    429: "Requests come too fast.",
    503: "The service is about to end, or has too much to do.",
}
_CONTENT = {"application/json": {"schema": Problem.model_json_schema()}}
#: JSON also where a route answers with something else.
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"content": _CONTENT, "description": text} for status, text in _WHEN.items()
}

_bearer = HTTPBearer(auto_error=False, description="A token, as `windfall serve token add` made.")
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def allowed(scope: str) -> Callable[..., None]:
    """A dependency: the token of the request reaches as far as a scope."""

    def check(request: Request, _: Annotated[Any, Security(_bearer)]) -> None:
        grant = request.state.grant
        if not grant.allows(scope):
            raise Refused(403, f"token {grant.name!r} has scope {grant.scope}; expected {scope}")

    return check


class Strict(APIRoute):
    """A route that takes JSON as it is defined: no NaN, no broken text, no endless nesting."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """As the base class, with bodies read strictly."""
        handler = super().get_route_handler()

        async def strict(request: Request) -> Response:
            return await handler(_StrictRequest(request.scope, request.receive))

        return strict


class _StrictRequest(Request):
    async def json(self) -> Any:
        return strict_json(await self.body())


def strict_json(body: bytes) -> Any:
    """JSON, or a refusal.

    >>> strict_json(b'{"reward": NaN}')
    Traceback (most recent call last):
    windfall.serve.refusals.Refused: body is no JSON (NaN is no number); expected JSON
    """

    def no(text: str) -> Any:
        raise ValueError(f"{text} is no number")

    try:
        value = json.loads(body.decode(), parse_constant=no)
        if _SURROGATE.search(body):  # half a character, which no file can hold
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        reason = str(error) or "it is nested too deep"
        raise Refused(400, f"body is no JSON ({reason:.100}); expected JSON") from None
    return value
