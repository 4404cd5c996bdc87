"""The routes behind ``wf.ServedStudy(name, store="http://…")``: a store over HTTP, /api/v1/store.

A study that can be opened takes only what can happen to it, and in its turn. A store keeps whatever
else it is given, as every store does, as long as its specs import nothing.
"""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool

from windfall import specs
from windfall.errors import InputError
from windfall.serve import described, models
from windfall.serve.api import All
from windfall.serve.desk import Desk, Turn
from windfall.serve.edge import PROBLEMS, Strict, allowed
from windfall.serve.served import ServedStudy
from windfall.study.events import Event
from windfall.study.stores import Conflict
from windfall.study.stores.http import OWN, PAGE

__all__ = ["router"]

router = APIRouter(prefix="/api/v1/store", route_class=Strict, responses=PROBLEMS)

_READ, _WRITE, _ADMIN = ([Depends(allowed(scope))] for scope in ("read", "write", "admin"))
#: What stands in event 0 and can lead to imports.
_SPECS = ("space", "policy")


@router.get("/time", dependencies=_READ)
async def now(studies: All) -> dict[str, float]:
    """The time by the clock of the store."""
    return {"now": studies.store.now()}


@router.get("/studies", dependencies=_READ)
async def list_studies(studies: All) -> dict[str, list[Any]]:
    """Names and keys, in the order of creation."""
    known = await run_in_threadpool(studies.store.list)
    return {"studies": [[name, key] for name, key in known.items()]}


@router.post("/studies", status_code=201, dependencies=_WRITE)
async def create(studies: All, body: models.Created) -> dict[str, int]:
    """A new study, from what it rests on."""
    studies.check_name(body.name)
    for part in _SPECS:
        if part in body.created:
            await run_in_threadpool(specs.check_spec, body.created[part])
    return {"key": await run_in_threadpool(studies.store.create, body.name, body.created)}


@router.get("/studies/{key}/events", dependencies=_READ, response_model=models.Appended)
async def read(studies: All, key: int, after: Annotated[int, Query(ge=-1)] = -1) -> JSONResponse:
    """The next events after a number."""
    events = await run_in_threadpool(studies.store.read, key, after)
    return _told(events[:PAGE])


@router.post("/studies/{key}/events", dependencies=_WRITE, response_model=models.Appended)
async def append(studies: All, key: int, body: models.Drafts) -> JSONResponse:
    """Let events happen, all of them or none."""
    drafts = [(draft.kind, draft.contents) for draft in body.drafts]
    options = body.model_dump(include={"after", "worker", "request", "holder"})

    def directly() -> Any:
        return studies.store.append(key, drafts, **options)

    desk = await _desk(studies, key)
    try:
        if desk is None:
            taken = await run_in_threadpool(directly)
        else:
            work = desk.do(Turn.HAPPEN, lambda study: study.take(drafts, **options))
            taken = await asyncio.wrap_future(work)
    except Conflict:
        taken = await run_in_threadpool(lambda: _of(studies.store.read(key), body.request))
        if not taken:
            raise
    return _told(taken)


@router.post("/studies/{key}/lock", dependencies=_WRITE)
async def lock(studies: All, key: int, body: models.Lock) -> dict[str, bool]:
    """Try to have a study to oneself."""
    locked = await run_in_threadpool(studies.store.lock, key, body.holder, body.seconds)
    return {"locked": locked}


@router.post("/studies/{key}/unlock", dependencies=_WRITE)
async def unlock(studies: All, key: int, body: models.Lock) -> dict[str, bool]:
    """Give a lock back."""
    await run_in_threadpool(studies.store.unlock, key, body.holder)
    return {"locked": False}


@router.patch("/studies/{key}", dependencies=_ADMIN)
async def rename(studies: All, key: int, body: models.Rename) -> models.Rename:
    """Give a study another name."""
    await run_in_threadpool(studies.rename, key, body.name)
    return body


@router.delete("/studies/{key}", dependencies=_ADMIN)
async def delete(studies: All, key: int) -> dict[str, bool]:
    """Drop a study."""
    await run_in_threadpool(studies.delete, key)
    return {"deleted": True}


@router.post("/studies/{key}/ask", dependencies=_WRITE)
async def ask(studies: All, key: int, body: models.Ask) -> dict[str, list[int]]:
    """The ids of choices."""

    def work(study: ServedStudy) -> list[int]:
        asked = study.ask(**body.model_dump())
        return [choice.id for choice in ([asked] if body.n is None else asked)]

    desk = await run_in_threadpool(studies.desk_of, key)
    return {"ids": await asyncio.wrap_future(desk.do(Turn.DECIDE, work))}


@router.post("/studies/{key}/beliefs", dependencies=_READ)
async def beliefs(studies: All, key: int, body: models.Beliefs) -> dict[str, list[Any]]:
    """What is believed about unit points, by column."""
    desk = await run_in_threadpool(studies.desk_of, key)

    def work(study: ServedStudy) -> dict[str, Any]:
        return study.believed(body.what, body.points, body.context)

    columns = await asyncio.wrap_future(desk.do(Turn.BELIEVE, work))
    return {name: described.plain(column) for name, column in columns.items()}


async def _desk(studies: Any, key: int) -> Desk | None:
    """Where a study is served; None for what is in the store and cannot be opened."""
    try:
        return await run_in_threadpool(studies.desk_of, key)
    except InputError:
        return None


def _of(events: Any, request: str | None) -> list[Event]:
    """What a call had led to whose answer was lost: clients give each its own id."""
    own = request is not None and request.startswith(OWN)
    return [event for event in events if own and event.request == request]


def _told(events: Any) -> JSONResponse:
    return JSONResponse({"events": [_event(event) for event in events]})


def _event(event: Event) -> dict[str, Any]:
    own = event.request is not None and event.request.startswith(OWN)
    return {
        "number": event.number,
        "kind": event.kind,
        "contents": event.contents,
        "worker": event.worker,
        "request": None if own else event.request,
        "time": event.time,
    }
