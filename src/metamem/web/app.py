"""REST, MCP, health and metrics as one ASGI application over one memory service."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from metamem import __version__
from metamem.core.errors import MetamemError, StoreError, UnknownName, UsageError
from metamem.service.designs.served import ServedDesigns
from metamem.service.designs.threads import FromThreads
from metamem.service.enriching import Enriching
from metamem.service.metered import Metered
from metamem.service.operation import Operation
from metamem.service.operations import OPERATIONS
from metamem.service.problems import problem
from metamem.service.routing.watching import SettingsWatch
from metamem.service.service import MemoryService
from metamem.web.asgi import Application, Receive, Scope, Send
from metamem.web.desk import BODY_BYTES, OWNER, Desk, bearer_of, refused
from metamem.web.mcp_http import McpOverHttp
from metamem.web.metrics import Metrics
from metamem.web.openapi import document

LOOPBACK = ("127.0.0.1", "localhost", "::1")
MCP_PATH = "/mcp"
_log = logging.getLogger("metamem.web")


@dataclass(frozen=True, slots=True)
class Settings:
    """How a service is offered."""

    hosts: tuple[str, ...] = LOOPBACK  # names in Host that are answered; none: any
    body_bytes: int = BODY_BYTES
    open_metrics: bool = True  # without a key


Hires = Callable[[], AbstractAsyncContextManager[Metered]]
Designs = Callable[[Metered | None], AbstractAsyncContextManager[ServedDesigns]]
Enriches = Callable[[Metered], AbstractAsyncContextManager[Enriching]]
Watches = Callable[[], AbstractAsyncContextManager[SettingsWatch]]


def build(
    service: MemoryService,
    settings: Settings | None = None,
    designs: Designs | None = None,
    enriches: Enriches | None = None,
    hires: Hires | None = None,
    watches: Watches | None = None,
) -> Application:
    """The application. Whoever runs it closes the service afterwards. `designs` opens those that
    are served while it runs, `enriches` begins to draw facts from conversations, `watches` to look at
    settings of routers that are watched; without, none of it is done. `hires` opens the model that
    designs and enrichment ask."""
    settings = settings or Settings()
    metrics = Metrics(service)
    desk = Desk(service, metrics, body_bytes=settings.body_bytes)
    desk.watched.append(service.routing.warning)
    mcp = McpOverHttp(desk)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with mcp.running(), AsyncExitStack() as opened:
            model = await opened.enter_async_context(hires()) if hires is not None else None
            if designs is not None:
                served = await opened.enter_async_context(designs(model))
                desk.designs = FromThreads(served)
                metrics.watch(served.status)
                desk.watched.append(served.warning)
            if enriches is not None and model is not None:
                job = await opened.enter_async_context(enriches(model))
                metrics.watch_enrichment(job.status)
                desk.watched.append(lambda: job.status()["warning"])
            if watches is not None:
                watch = await opened.enter_async_context(watches())
                metrics.watch_settings(watch.status)
                desk.watched.append(watch.warning)
            yield

    app = FastAPI(
        title="metamem",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,  # its page would load programs from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    described = document(OPERATIONS)
    app.openapi = lambda: described  # type: ignore[method-assign]
    for operation in OPERATIONS:
        app.add_api_route(
            operation.path,
            _endpoint(desk, operation),
            methods=[operation.method],
            response_model=None,
            operation_id=operation.name,
        )
    _add_health(app, desk)
    _add_metrics(app, desk, metrics, open_to_all=settings.open_metrics)
    app.add_exception_handler(404, _no_route)
    app.add_exception_handler(405, _no_method)
    return _Door(app, mcp, settings.hosts)


def _endpoint(
    desk: Desk, operation: Operation[Any, Any]
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        return await desk.answer(operation, request)

    return endpoint


def _add_health(app: FastAPI, desk: Desk) -> None:
    async def alive() -> Response:
        return JSONResponse({"status": "ok", "version": __version__})

    async def ready() -> Response:
        """Whether requests can be answered: the store is read, and the audit can be written."""
        try:
            warnings = await desk.in_thread(lambda: _look(desk))
        except MetamemError as error:
            _log.warning("not ready: %s", type(error).__name__)
            return refused(problem(StoreError("the store is not ready", hint="see the log")))
        return JSONResponse({"status": "ready", "warnings": warnings})

    app.add_api_route("/healthz", alive, methods=["GET"], include_in_schema=False)
    app.add_api_route("/readyz", ready, methods=["GET"], include_in_schema=False)


def _look(desk: Desk) -> list[str]:
    """That the store works, and what else somebody should look at: that stops no request."""
    with desk.service.database.reading() as execute:
        execute("SELECT 1 FROM scopes LIMIT 1")
    if desk.service.trouble is not None:
        raise desk.service.trouble
    return [warning for warning in (look() for look in desk.watched) if warning]


def _add_metrics(app: FastAPI, desk: Desk, metrics: Metrics, *, open_to_all: bool) -> None:
    async def told(request: Request) -> Response:
        try:
            if not open_to_all:
                bearer, owner = bearer_of(request), bool(request.scope.get(OWNER))
                await desk.in_thread(lambda: desk.caller(bearer, owner))
        except MetamemError as error:
            return refused(problem(error))
        text = await desk.in_thread(metrics.text)
        return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    app.add_api_route("/metrics", told, methods=["GET"], include_in_schema=False)


async def _no_route(request: Request, error: Exception) -> Response:
    nothing = UnknownName("there is nothing at this address", hint="see /openapi.json")
    return refused(problem(nothing))


async def _no_method(request: Request, error: Exception) -> Response:
    response = refused(problem(UsageError("this address has no such method"), 405))
    response.headers.update(getattr(error, "headers", None) or {})
    return response


class _Door:
    """What every request passes first: whether it was meant for this server.

    A page that a browser was lured to can make its own name mean 127.0.0.1 and then ask here; its
    name still stands in `Host`.
    """

    def __init__(self, app: Application, mcp: McpOverHttp, hosts: tuple[str, ...]) -> None:
        self._app, self._mcp, self._hosts = app, mcp, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        if self._hosts and not scope.get(OWNER) and _host(request) not in self._hosts:
            wrong = UsageError("this server does not go by that name", hint="ask for 127.0.0.1")
            await refused(problem(wrong, 421))(scope, receive, send)
        elif scope["path"] == MCP_PATH:
            await self._mcp(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _host(request: Request) -> str:
    """The name in Host, without its port."""
    name = request.headers.get("host", "")
    if name.startswith("["):
        return name[1:].partition("]")[0]
    return name.partition(":")[0].lower()
