"""One process that serves a folder's memory: REST and MCP over TCP, and over a socket of the owner's.

On TCP every request needs an API key. The unix socket can be opened by the owner of the folder
alone, who needs none.
"""

import asyncio
import contextlib
import json
import os
import signal
import socket
import stat
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
    nullcontext,
)
from dataclasses import asdict, dataclass
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import ParamSpec, TypeVar

import uvicorn

from metamem.api import home_folder
from metamem.core.errors import Broken, Busy, MetamemError, StoreError, UsageError
from metamem.service.archives import FILE as ARCHIVE
from metamem.service.connecting import LocalMemories
from metamem.service.database import FILE, now_ms
from metamem.service.defaults import whole
from metamem.service.designs.served import ServedDesigns
from metamem.service.designs.starting import served_designs
from metamem.service.enriching import enriching_beside
from metamem.service.metered import Metered, PaidModel, metered
from metamem.service.routing.watching import watching_beside
from metamem.service.service import MemoryService
from metamem.store.runlock import lock_file
from metamem.web.app import LOOPBACK, Designs, Settings, build
from metamem.web.asgi import Application, Receive, Scope, Send
from metamem.web.desk import OWNER

PORT = 7348
FINISH_SECONDS = 20  # that requests under way have when the server is told to stop
KEEP_ALIVE_SECONDS = 30
MOST_AT_ONCE = 512  # connections
STATE = "server.json"


@dataclass(frozen=True, slots=True)
class Offer:
    """Which designs are served: those in use in the archive, and one that is named for a scope."""

    archive: Path | None = None  # its folder; None: the usual one, if there is an archive
    design: str = ""
    scope: str = ""

    @property
    def is_any(self) -> bool:
        """Whether designs are served at all."""
        return bool(self.archive or self.design) or (home_folder(None) / ARCHIVE).is_file()


NO_DESIGN = Offer()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a server can be asked."""

    pid: int
    url: str
    socket: str  # empty for none


def serve(
    folder: Path,
    *,
    host: str = "127.0.0.1",
    port: int = PORT,
    socket_path: Path | None = None,
    offer: Offer = NO_DESIGN,
    model: PaidModel | None = None,
    enrich: bool = False,
    ready: Callable[[Place], None],
) -> None:
    """Serve until SIGTERM or SIGINT. Requests under way are finished, and all records written.

    `model` answers the designs that are served, and with `enrich` draws facts from conversations.
    """
    with _alone(folder), contextlib.ExitStack() as stack:
        service = MemoryService(folder)
        stack.callback(service.close)
        local = _is_loopback(host)
        if not local and not has_keys(service):
            raise UsageError(
                f"there is no API key yet, so nothing is offered on {host}",
                hint="metamem keys make",
            )
        settings = Settings(hosts=LOOPBACK if local else (), open_metrics=local)
        trouble: list[MetamemError] = []
        app = build(
            service,
            settings,
            _told(_designs(service, offer), trouble),
            _told(partial(enriching_beside, service) if enrich else None, trouble),
            _told(partial(metered, service.database, model) if model else None, trouble),
            partial(watching_beside, service.database),
        )
        listener = _listen(host, port)
        stack.callback(listener.close)
        shown = f"[{host}]" if ":" in host else host
        url = f"http://{shown}:{listener.getsockname()[1]}"
        servers = [_Server(_config(app, lifespan="on"), [listener])]
        if socket_path is not None:
            own = _listen_unix(socket_path)
            stack.callback(own.close)
            stack.callback(socket_path.unlink, missing_ok=True)
            servers.append(_Server(_config(_Owned(app), lifespan="off"), [own]))
        place = Place(os.getpid(), url, str(socket_path or ""))
        state = folder / STATE
        state.write_text(json.dumps(asdict(place)), encoding="utf-8")
        stack.callback(state.unlink, missing_ok=True)
        started = asyncio.run(_run(servers, lambda: ready(place)))
        for error in trouble:
            raise error
        if not started:
            raise Broken("the server did not start", hint="its log may say why")


P = ParamSpec("P")
T = TypeVar("T")


def _designs(service: MemoryService, offer: Offer) -> Designs | None:
    """None where there is nothing to serve."""
    if bool(offer.design) != bool(offer.scope):
        raise UsageError("a design is named for a scope", hint="give both --design and --scope")
    if not offer.is_any:
        return None
    scope = whole(offer.scope, LocalMemories(service, service.local_caller)) if offer.scope else ""

    def opened(model: Metered | None) -> AbstractAsyncContextManager[ServedDesigns]:
        return served_designs(
            service,
            home_folder(offer.archive),
            design=offer.design,
            scope=scope,
            create=offer.archive is not None,
            model=model or "",
        )

    return opened


def _told(
    opens: Callable[P, AbstractAsyncContextManager[T]] | None, trouble: list[MetamemError]
) -> Callable[P, AbstractAsyncContextManager[T]] | None:
    """Why something could not be opened is left in `trouble`: it happens where nobody else could
    say it."""
    if opens is None:
        return None

    @asynccontextmanager
    async def opened(*words: P.args, **settings: P.kwargs) -> AsyncIterator[T]:
        async with AsyncExitStack() as held:
            try:
                found = await held.enter_async_context(opens(*words, **settings))
            except MetamemError as error:
                trouble.append(error)
                raise
            yield found

    return opened


def running(folder: Path) -> Place | None:
    """The server that serves a folder now, as far as it has said so."""
    try:
        found = json.loads((folder / STATE).read_text(encoding="utf-8"))
        place = Place(int(found["pid"]), str(found["url"]), str(found["socket"]))
        os.kill(place.pid, 0)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return place


def has_keys(service: MemoryService) -> bool:
    """Whether there is a key that opens anything."""
    with service.database.reading() as execute:
        ((count,),) = execute(
            "SELECT COUNT(*) FROM api_keys WHERE revoked_at IS NULL"
            " AND (expires_at IS NULL OR expires_at > ?)",
            (now_ms(),),
        )
    return bool(count)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise StoreError(f"the folder {folder} cannot be made: {error.strerror}") from error
    try:
        with lock_file(folder / f"{FILE}.locks", "serve"):
            yield
    except Busy:
        there = running(folder)
        where = f" at {there.url} (process {there.pid})" if there else ""
        raise Busy(
            f"the memory in {folder} is served already{where}",
            hint="use that one, or stop it first",
        ) from None


class _Server(uvicorn.Server):
    """Signals are ours: there may be two servers, and both must stop."""

    def __init__(self, config: uvicorn.Config, sockets: list[socket.socket]) -> None:
        super().__init__(config)
        self.sockets = sockets
        self.up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().startup(sockets)
        except SystemExit:  # the application could not be opened: whoever runs this says why
            self.should_exit = True
        else:
            self.up.set()

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
        return nullcontext()


async def _run(servers: list[_Server], ready: Callable[[], None]) -> bool:
    """Serve until told to stop; whether it ever began."""

    def stop() -> None:
        for server in servers:
            server.force_exit = server.should_exit  # told twice: at once
            server.should_exit = True

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    tasks: list[asyncio.Task[None]] = []
    for server in servers:  # the first brings up the application for all
        tasks.append(asyncio.create_task(server.serve(server.sockets)))
        up = asyncio.create_task(server.up.wait())
        await asyncio.wait([tasks[-1], up], return_when=asyncio.FIRST_COMPLETED)
        up.cancel()
        if not server.started:
            break
    started = all(server.started for server in servers)
    if started:
        ready()
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for server in servers:
        server.should_exit = True
    await asyncio.gather(*tasks)
    return started


def _config(app: Application, *, lifespan: str) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        lifespan="on" if lifespan == "on" else "off",
        log_config=None,
        access_log=False,  # addresses hold what was asked
        ws="none",
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=FINISH_SECONDS,
        limit_concurrency=MOST_AT_ONCE,
    )


class _Owned:
    """Marks what comes over the owner's socket."""

    def __init__(self, app: Application) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app({**scope, OWNER: True}, receive, send)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        # Its protocol is named: asyncio sends answers at once (TCP_NODELAY) only where it knows it.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(256)
    except OSError as error:
        raise UsageError(
            f"nothing can be offered on {host}, port {port}: {error.strerror or error}",
            hint="--port 0 takes a free one",
        ) from None
    return listener


def _listen_unix(path: Path) -> socket.socket:
    """A socket that its owner alone can open, from its first moment."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        _clear(path)
        listener.bind(str(path))
        listener.listen(256)
    except OSError as error:
        listener.close()
        raise UsageError(f"there can be no socket at {path}: {error.strerror or error}") from None
    finally:
        os.umask(before)
    return listener


def _clear(path: Path) -> None:
    """A socket that nobody listens on any more is in the way; anything else stays."""
    if not path.exists() or not stat.S_ISSOCK(path.stat().st_mode):
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
        else:
            raise Busy(f"another process serves at {path}", hint="stop it, or choose another path")
