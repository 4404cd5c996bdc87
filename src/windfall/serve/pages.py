"""The pages for people: a list of studies, and one study. All else they get from the API."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from jinja2 import Environment, PackageLoader
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import Scope

from windfall.registry import POLICIES
from windfall.serve import view
from windfall.serve.api import Name, studies_of
from windfall.serve.edge import allowed
from windfall.serve.refusals import Refused
from windfall.serve.studies import Studies

__all__ = ["Files", "router"]

router = APIRouter(include_in_schema=False, dependencies=[Depends(allowed("read"))])
_TEMPLATES = Environment(
    loader=PackageLoader("windfall.serve"), autoescape=True, trim_blocks=True, lstrip_blocks=True
)
#: Nothing from elsewhere, nothing inline, in nobody's frame; and no address told to others.
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
All = Annotated[Studies, Depends(studies_of)]


class Files(StaticFiles):
    """The files of the pages, asked for anew every time: a new version is seen at once."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "no-cache"
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response


@router.get("/", response_class=HTMLResponse)
async def index(request: Request) -> HTMLResponse:
    """The list of studies."""
    return _page("studies.html", request, policies=list(POLICIES))


@router.get("/studies/{name}", response_class=HTMLResponse)
async def study(request: Request, studies: All, name: Name) -> HTMLResponse:
    """One study. It is not opened for this: a long one is on the screen as fast as a short one."""
    try:
        await run_in_threadpool(studies.key, name)
    except Refused as refused:
        return _page("missing.html", request, refused.status, name=name)
    return _page("study.html", request, name=name)


@router.get("/studies/{name}/view")
async def shape(studies: All, name: Name) -> dict[str, Any]:
    """What the page of a study has to know to draw it."""

    def look() -> dict[str, Any]:
        return studies.desk(name).read(view.shape)

    return await run_in_threadpool(look)


@router.get("/studies/{name}/digest")
async def digest(
    studies: All, name: Name, after: Annotated[int, Query(ge=0, le=2**53)] = 0
) -> JSONResponse:
    """What charts and maps show, with the rewards after the first few."""

    def look() -> JSONResponse:
        desk = studies.desk(name)
        return JSONResponse(desk.read(lambda opened: view.digest(opened, after)))

    return await run_in_threadpool(look)


def _page(template: str, request: Request, status: int = 200, **values: Any) -> HTMLResponse:
    writes = request.state.grant.allows("write")
    text = _TEMPLATES.get_template(template).render(writes=writes, **values)
    return HTMLResponse(text, status, _HEADERS)
