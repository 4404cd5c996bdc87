"""The pages for people: a list of studies, and one study."""

from fastapi import APIRouter, Depends
from fastapi.responses import HTMLResponse

from windfall.serve.edge import allowed

__all__ = ["router"]

router = APIRouter(include_in_schema=False, dependencies=[Depends(allowed("read"))])


@router.get("/", response_class=HTMLResponse)
async def index() -> str:
    """The list of studies."""
    return "<!doctype html><title>windfall</title>"


@router.get("/studies/{name}", response_class=HTMLResponse)
async def study(name: str) -> str:
    """One study; the name comes as it was sent (see ``api.named``)."""
    return "<!doctype html><title>windfall</title>"
