"""The application: routes, what guards them, and what is counted."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager

from fastapi import Depends, FastAPI, Request
from fastapi.responses import PlainTextResponse

from windfall._version import __version__
from windfall.serve import api, models, pages, store_api, stream
from windfall.serve.edge import PROBLEMS, allowed
from windfall.serve.guard import Guard, Limits
from windfall.serve.logs import Logged
from windfall.serve.metrics import Metrics
from windfall.serve.refusals import answer_in_words
from windfall.serve.studies import Studies
from windfall.serve.tokens import Tokens
from windfall.study.stores import Store

__all__ = ["LOCAL", "application"]

#: The names of a machine for itself.
LOCAL = ("127.0.0.1", "localhost", "::1")


def application(
    store: Store, tokens: Tokens, hosts: Collection[str] = LOCAL, limits: Limits | None = None
) -> FastAPI:
    """The service for the studies of a store.

    Args:
        store: Where studies are kept.
        tokens: Who may do what.
        hosts: Under which names it is reached.
        limits: How much is taken from one client.
    """
    limits = limits or Limits()
    studies, metrics = Studies(store), Metrics()

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(studies.close)

    app = FastAPI(
        title="windfall",
        version=__version__,
        openapi_url="/api/v1/openapi.json",
        docs_url=None,  # their pages come from elsewhere
        redoc_url=None,
        lifespan=life,
    )
    app.state.studies, app.state.limits, app.state.streams = studies, limits, 0
    app.state.closing = asyncio.Event()
    answer_in_words(app)

    @app.get("/health")
    async def health() -> models.Health:
        """Whether the service runs."""
        return models.Health(status="ok", version=__version__)

    @app.get(
        "/metrics",
        dependencies=[Depends(allowed("read"))],
        response_class=PlainTextResponse,
        responses=PROBLEMS,
    )
    async def numbers(request: Request) -> PlainTextResponse:
        """What was counted, for Prometheus."""
        desks = studies.open
        gauges = {
            "studies_open": len(desks),
            "jobs_waiting": sum(desk.waiting for desk in desks),
            "streams_open": request.app.state.streams,
        }
        text = metrics.text(gauges)
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    app.include_router(api.router)
    app.include_router(stream.router)
    app.include_router(store_api.router)
    app.include_router(pages.router)
    app.mount("/static", pages.Files(packages=[("windfall.serve", "static")]))
    # The last that is added comes first.
    app.add_middleware(Guard, tokens=tokens, hosts=hosts, limits=limits)
    app.add_middleware(Logged, metrics=metrics)
    return app
