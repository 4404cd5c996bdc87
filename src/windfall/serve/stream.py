"""Events as they happen: server-sent events, which go on after the last that a client saw."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from windfall.errors import InputError
from windfall.serve import described
from windfall.serve.api import All, Name
from windfall.serve.edge import PROBLEMS, allowed
from windfall.serve.refusals import Refused
from windfall.study.stores import Store

__all__ = ["router"]

router = APIRouter(prefix="/api/v1/studies", responses=PROBLEMS)

#: How often the store is looked at: others may write to it too.
_EVERY = 0.5
#: After so many looks without news a comment keeps the connection open.
_SILENT = 30


@router.get(
    "/{name}/events",
    dependencies=[Depends(allowed("read"))],
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def events(
    request: Request,
    studies: All,
    name: Name,
    after: Annotated[int, Query(ge=-1, le=2**53)] = -1,
    last_event_id: Annotated[str | None, Header()] = None,
) -> StreamingResponse:
    """Every event after a number, as it happens; a browser goes on where it was."""
    state = request.app.state
    if state.streams >= state.limits.streams:
        raise Refused(503, f"{state.streams} streams are open; close one of them")
    if last_event_id is not None:
        if not last_event_id.isdecimal():
            raise Refused(422, f"Last-Event-ID is {last_event_id!r:.40}; expected a whole number")
        after = int(last_event_id)
    key = await run_in_threadpool(studies.key, name)
    stream = _counted(state, _lines(studies.store, key, after, state.closing))
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(stream, media_type="text/event-stream", headers=headers)


async def _counted(state: Any, lines: AsyncIterator[str]) -> AsyncIterator[str]:
    state.streams += 1
    try:
        async for line in lines:
            yield line
    finally:
        state.streams -= 1


async def _lines(store: Store, key: int, after: int, closing: asyncio.Event) -> AsyncIterator[str]:
    """Lines of the stream, until the study or the service ends."""
    yield "retry: 1000\n\n"
    silent = 0
    while not closing.is_set():
        try:
            news = await run_in_threadpool(store.read, key, after)
        except InputError:
            yield "event: deleted\ndata: {}\n\n"
            return
        for event in news:
            after, silent = event.number, 0
            data = json.dumps(described.event(event))
            yield f"id: {event.number}\nevent: {event.kind}\ndata: {data}\n\n"
        silent += 1
        if silent % _SILENT == 0:
            yield ": nothing new\n\n"
        with suppress(TimeoutError):
            await asyncio.wait_for(closing.wait(), _EVERY)
