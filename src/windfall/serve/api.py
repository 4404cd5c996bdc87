"""The routes of studies, for programs and for the page: /api/v1/studies."""

import asyncio
import csv
import io
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool

from windfall.errors import InputError
from windfall.serve import arms_table, described, models
from windfall.serve.desk import Desk, Turn
from windfall.serve.edge import PROBLEMS, Strict, allowed
from windfall.serve.refusals import Refused
from windfall.serve.served import ServedStudy
from windfall.serve.studies import Studies
from windfall.study import history as events_table

__all__ = ["Name", "named", "router", "studies_of"]

router = APIRouter(prefix="/api/v1/studies", route_class=Strict, responses=PROBLEMS)

_READ, _WRITE, _ADMIN = ([Depends(allowed(scope))] for scope in ("read", "write", "admin"))


def studies_of(request: Request) -> Studies:
    """The studies of the application that is asked."""
    return request.app.state.studies


def named(name: Annotated[str, Path(description="Of a study; a slash in it as %2F.")]) -> str:
    """The name in a path, which comes as it was sent."""
    try:
        return unquote(name, errors="strict")
    except UnicodeDecodeError:
        raise Refused(404, "study has a name that is no text; expected UTF-8") from None


Name = Annotated[str, Depends(named)]
All = Annotated[Studies, Depends(studies_of)]


async def _desk(studies: All, name: Name) -> Desk:
    return await run_in_threadpool(studies.desk, name)


At = Annotated[Desk, Depends(_desk)]


@router.get("", dependencies=_READ)
async def list_studies(studies: All) -> models.Studies:
    """All studies, in the order of their creation."""

    def rows() -> list[dict[str, Any]]:
        listed = []
        for name, key in studies.store.list().items():
            try:
                summary = studies.desk_of(key).read(lambda s, n=name: described.summary(n, s))
            except (InputError, Refused) as error:  # one that is broken, or was deleted just now
                summary = {"name": name, "error": str(error)}
            listed.append(summary)
        return listed

    return models.Studies(studies=await run_in_threadpool(rows))


@router.post("", status_code=201, dependencies=_WRITE, responses={200: {"model": dict[str, Any]}})
async def create(studies: All, body: models.Create, response: Response) -> dict[str, Any]:
    """Create a study; 200 if the very same is there already."""

    def work() -> tuple[bool, dict[str, Any]]:
        options = body.model_dump(include={"goal", "budget", "seed", "initial", "context", "drift"})
        new = studies.create(body.name, body.space, body.policy, **options)
        return new, studies.desk(body.name).read(lambda study: described.facts(body.name, study))

    new, facts = await run_in_threadpool(work)
    response.status_code = 201 if new else 200
    return facts


@router.get("/{name}", dependencies=_READ)
async def show(desk: At, name: Name) -> dict[str, Any]:
    """All about a study but its history and its arms."""
    return await _read(desk, lambda study: described.facts(name, study))


@router.patch("/{name}", dependencies=_ADMIN)
async def rename(studies: All, name: Name, body: models.Rename) -> models.Rename:
    """Give a study another name."""
    await run_in_threadpool(lambda: studies.rename(studies.key(name), body.name))
    return body


@router.delete("/{name}", status_code=204, dependencies=_ADMIN)
async def delete(studies: All, name: Name) -> None:
    """Drop a study and all that happened to it, for good."""
    await run_in_threadpool(lambda: studies.delete(studies.key(name)))


@router.post("/{name}/ask", dependencies=_WRITE)
async def ask(desk: At, body: models.Ask) -> models.Asked:
    """What to try next; without n, worker and lease it only looks."""

    def work(study: ServedStudy) -> list[dict[str, Any]]:
        asked = study.ask(**body.model_dump())
        return described.choices(study, [asked] if body.n is None else asked)

    return models.Asked.model_validate({"choices": await _done(desk, Turn.DECIDE, work)})


@router.post("/{name}/tell", dependencies=_WRITE)
async def tell(desk: At, body: models.Tell) -> models.Held:
    """Record a reward."""
    said = body.model_dump(exclude={"choice", "arm", "parameters"})
    return await _happen(desk, lambda study: study.tell(_meant(study, body), **said))


@router.post("/{name}/fail", dependencies=_WRITE)
async def fail(desk: At, body: models.Meant) -> models.Held:
    """Record that a pull failed."""
    return await _happen(
        desk, lambda study: study.fail(_meant(study, body), body.request, context=body.context)
    )


@router.post("/{name}/forget", dependencies=_WRITE)
async def forget(desk: At, body: models.Meant) -> models.Held:
    """A choice will never be told, or failed by accident: drop it."""
    return await _happen(
        desk, lambda study: study.forget(_meant(study, body), body.request, context=body.context)
    )


@router.post("/{name}/add", dependencies=_WRITE)
async def add(desk: At, body: models.Added) -> models.Numbered:
    """Add arms to the list; a retired one is that arm again."""
    work = partial(ServedStudy.add_arms, **body.model_dump())
    return models.Numbered(arms=await _done(desk, Turn.HAPPEN, work))


@router.post("/{name}/retire", dependencies=_WRITE)
async def retire(desk: At, body: models.Retired) -> models.Held:
    """An arm is no longer chosen; its rewards still count."""
    return await _happen(desk, lambda study: study.retire(body.arm, body.request))


@router.post("/{name}/undo", dependencies=_WRITE)
async def undo(desk: At, body: models.Undo) -> models.Held:
    """Take back the last reward or failure."""
    return await _happen(desk, lambda study: study.undo(body.event, body.request))


@router.post("/{name}/note", dependencies=_WRITE)
async def note(desk: At, body: models.Noted) -> models.Held:
    """Keep a remark with the study."""
    return await _happen(desk, lambda study: study.note(body.text, body.request))


@router.get("/{name}/best", dependencies=_READ)
async def best(desk: At) -> models.Best:
    """What has the highest mean reward so far."""
    return models.Best.model_validate(await _read(desk, described.best))


@router.post("/{name}/posterior", dependencies=_READ, response_model=models.Columns)
async def posterior(desk: At, body: models.Points) -> Response:
    """Mean and deviation of the payoff, in reward units."""

    def work(study: ServedStudy) -> dict[str, Any]:
        mean, deviation = study.posterior(_points(study, body), context=body.context)
        return {"mean": mean, "deviation": deviation}

    return await _columns(desk, work)


@router.get("/{name}/explain", dependencies=_READ, response_model=models.Columns)
async def explain(desk: At) -> Response:
    """Of every arm, or every point told: mean, std, ratio, acquisition and pulls."""
    return await _columns(desk, lambda study: study.explain())


@router.post("/{name}/explain", dependencies=_READ, response_model=models.Columns)
async def explain_at(desk: At, body: models.Points) -> Response:
    """The same at points, without pulls."""
    return await _columns(
        desk, lambda study: study.explain(_points(study, body), context=body.context)
    )


@router.get("/{name}/history", dependencies=_READ, response_model=models.History)
async def history(desk: At, after: Annotated[int, Query(ge=0, le=2**53)] = 0) -> Response:
    """All that happened after an event, in columns."""

    def look(study: ServedStudy) -> Response:
        table = events_table.columns(study.record, study.events[1:], after)
        columns = {name: [*map(described.plain, column)] for name, column in table.items()}
        return JSONResponse({"columns": columns})

    return await _read(desk, look)


@router.get(
    "/{name}/history.csv",
    dependencies=_READ,
    response_class=Response,
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}}}},
)
async def history_csv(desk: At) -> Response:
    """All that happened, as a table."""

    def look(study: ServedStudy) -> str:
        text = io.StringIO(newline="")
        table = study.history()
        writer = csv.writer(text)
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
        return text.getvalue()

    headers = {"Content-Disposition": 'attachment; filename="history.csv"'}
    return Response(await _read(desk, look), media_type="text/csv", headers=headers)


@router.get("/{name}/arms", dependencies=_READ, response_model=models.Arms)
async def arms(desk: At, page: Annotated[models.Page, Query()]) -> Response:
    """Some rows of the table of arms, with what is believed about them if asked for."""
    wanted = page.model_dump(exclude={"beliefs"})

    def look(study: ServedStudy) -> Response:
        beliefs = study.beliefs() if page.beliefs and study.rewards else {}
        found = arms_table.page(arms_table.columns(study, beliefs), **wanted)
        rows = {name: described.plain(column) for name, column in found["columns"].items()}
        return JSONResponse(found | {"columns": rows})

    return await (_done(desk, Turn.BELIEVE, look) if page.beliefs else _read(desk, look))


async def _read(desk: Desk, look: Callable[[ServedStudy], Any]) -> Any:
    return await run_in_threadpool(desk.read, look)


async def _done(desk: Desk, turn: Turn, work: Callable[[ServedStudy], Any]) -> Any:
    return await asyncio.wrap_future(desk.do(turn, work))


async def _happen(desk: Desk, work: Callable[[ServedStudy], None]) -> models.Held:
    def counted(study: ServedStudy) -> int:
        work(study)
        return len(study.events)

    return models.Held(events=await _done(desk, Turn.HAPPEN, counted))


async def _columns(desk: Desk, work: Callable[[ServedStudy], dict[str, Any]]) -> Response:
    columns = await _done(desk, Turn.BELIEVE, work)
    plain = {name: described.plain(column) for name, column in columns.items()}
    return await run_in_threadpool(JSONResponse, {"columns": plain})


def _meant(study: ServedStudy, body: models.Meant) -> Any:
    """The choice, arm or parameters that a request means: one of them."""
    given = [x for x in (body.choice, body.arm, body.parameters) if x is not None]
    if len(given) != 1:
        raise InputError("choice is not said; expected one of choice, arm and parameters")
    return given[0] if body.choice is None else study.choice(body.choice)


def _points(study: ServedStudy, body: models.Points) -> Any:
    if body.points is None:
        return None
    if not body.points:
        raise InputError("points is []; expected one or more")
    if all(isinstance(point, dict) for point in body.points):
        return [study.space.features(study.space.point(point)) for point in body.points]
    return body.points
