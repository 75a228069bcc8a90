"""From a request to its answer. All that touches the store happens in threads, never in the loop."""

import logging
import math
import secrets
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from fastapi import Request, Response
from fastapi.concurrency import iterate_in_threadpool
from fastapi.responses import StreamingResponse

from metamem.core.access import Caller
from metamem.core.errors import BadKey, DataError, Denied, MetamemError, UsageError
from metamem.service import wire
from metamem.service.connecting import LocalMemories
from metamem.service.designs.threads import Served
from metamem.service.operation import Operation
from metamem.service.problems import MEDIA_TYPE, Problem, problem
from metamem.service.service import MemoryService
from metamem.web.metrics import Metrics
from metamem.web.replies import Replies, Reply

BODY_BYTES = 8 << 20
LARGE = 64 << 10  # bytes of a body that nobody sends without a key that is good
THREADS = 32
OWNER = "metamem.owner"  # in the scope of requests that came over the owner's own socket
_log = logging.getLogger("metamem.web")
T = TypeVar("T")


class Unfit(UsageError):
    """A request that the transport itself has to refuse, with its status."""

    def __init__(self, message: str, status: int, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status = status


class Gone(Exception):
    """Whoever asked has hung up."""


class BrokenOff(Exception):
    """An answer that had begun cannot be finished: the connection is ended, so that nobody takes a
    part for the whole."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it came, before anything in it is believed."""

    bearer: str
    owner: bool  # it came over a socket that only the owner of the file can open
    path: dict[str, Any]
    query: list[tuple[str, str]]
    body: bytes
    repeat_key: str | None
    line: bytes  # what makes it the same request


class Desk:
    """Answers operations over one service."""

    def __init__(
        self, service: MemoryService, metrics: Metrics, *, body_bytes: int = BODY_BYTES
    ) -> None:
        self.service, self.metrics = service, metrics
        self._replies = Replies(service.database)
        self._body_bytes = body_bytes
        self._threads = anyio.CapacityLimiter(THREADS)
        self._waiting = anyio.CapacityLimiter(THREADS)  # whatever designs do, others go on
        self.designs: Served | None = None  # while the application runs, if any are served
        self.watched: list[Callable[[], str]] = []  # what may have to warn whoever asks how it is

    async def answer(self, operation: Operation[Any, Any], request: Request) -> Response:
        """Never raises: whatever happens becomes an answer, a line in the log and a count."""
        began = time.perf_counter()
        note: dict[str, str] = {"id": secrets.token_hex(6), "key": "-"}
        outcome = "ok"
        try:
            asked = await self._asked(operation, request)
            response = await self.in_thread(
                lambda: self._answer(operation, asked, note), waits=operation.waits
            )
        except Gone:
            response, outcome = Response(status_code=400), "gone"
        except MetamemError as error:
            told = problem(error, _status(operation, error))
            response, outcome = refused(told), told.name
        except Exception as error:
            response, outcome = _bug(error, note["id"]), "bug"
        seconds = time.perf_counter() - began
        self.metrics.count("rest", operation.name, outcome, seconds)
        response.headers["X-Request-Id"] = note["id"]
        _log.info(
            "%s %s %d %s %.1f ms key=%s",
            note["id"],
            operation.name,
            response.status_code,
            outcome,
            seconds * 1000,
            note["key"],
        )
        return response

    def caller(self, bearer: str, owner: bool) -> Caller:
        """Who asks, as the credential says."""
        if bearer:
            return self.service.doorkeeper.authenticate(bearer)
        if owner:
            return self.service.local_caller()
        raise BadKey(
            "an API key is needed",
            hint="send it in the header Authorization, after the word Bearer",
        )

    def memories(self, caller: Caller) -> LocalMemories:
        return LocalMemories(self.service, lambda: caller, designs=self.designs)

    async def in_thread(self, work: Callable[[], T], *, waits: bool = False) -> T:
        limiter = self._waiting if waits else self._threads
        return await anyio.to_thread.run_sync(work, limiter=limiter)

    async def _asked(self, operation: Operation[Any, Any], request: Request) -> Asked:
        bearer, owner = bearer_of(request), bool(request.scope.get(OWNER))
        if not bearer and not owner:
            self.caller("", False)
        body = b""
        if operation.has_body:
            length = _declared_length(request)
            if length > LARGE or length < 0:
                await self.in_thread(lambda: self.caller(bearer, owner))
            if length > self._body_bytes:
                raise self._too_large()
            body = await self._read(request)
            declared = request.headers.get("content-type", "").partition(";")[0].strip().lower()
            if body and declared != "application/json":
                raise Unfit("the body must be declared as application/json", 415)
        line = f"{operation.method} {request.url.path}?{request.url.query}\n".encode()
        return Asked(
            bearer,
            owner,
            dict(request.path_params),
            request.query_params.multi_items(),
            body,
            request.headers.get("idempotency-key") if operation.writes else None,
            line + body,
        )

    async def _read(self, request: Request) -> bytes:
        pieces, size = [], 0
        while True:
            message = await request.receive()
            if message["type"] == "http.disconnect":
                raise Gone
            pieces.append(message.get("body", b""))
            size += len(pieces[-1])
            if size > self._body_bytes:
                raise self._too_large()
            if not message.get("more_body", False):
                return b"".join(pieces)

    def _too_large(self) -> Unfit:
        most = self._body_bytes
        return Unfit(f"the body is larger than {most} bytes", 413, hint="send it in parts")

    def _answer(
        self, operation: Operation[Any, Any], asked: Asked, note: dict[str, str]
    ) -> Response:
        caller = self.caller(asked.bearer, asked.owner)
        note["key"] = caller.key or "owner"
        arguments = _arguments(operation, asked)
        memories = self.memories(caller)

        def work() -> Reply:
            given = operation.does(memories, arguments)
            nothing = operation.gives is type(None)
            return (204, "") if nothing else (200, wire.text_of(given))

        if operation.streams:
            pieces = operation.does(memories, arguments)
            return _streamed(pieces, arguments.form, note["id"])
        replayed = False
        if asked.repeat_key is None:
            status, text = work()
        elif not operation.repeatable:
            raise UsageError(
                "secrets are told once, so that this cannot be repeated",
                hint="leave the Idempotency-Key out",
            )
        else:
            check = _still_allowed(operation, memories, arguments)
            (status, text), replayed = self._replies.once(
                caller,
                asked.repeat_key,
                asked.line,
                work,
                check,
                has_texts=operation.name != "erase",
            )
        headers = {"Idempotency-Replayed": "true"} if replayed else {}
        media = "application/json" if text else None
        return Response(text.encode(), status, headers, media)


def bearer_of(request: Request) -> str:
    scheme, _, credential = request.headers.get("authorization", "").partition(" ")
    return credential.strip() if scheme.lower() == "bearer" else ""


def refused(told: Problem) -> Response:
    """A problem as an answer."""
    headers = {"Cache-Control": "no-store"}
    if told.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="metamem"'
    if told.retry_after is not None:
        headers["Retry-After"] = str(max(1, math.ceil(told.retry_after)))
    return Response(wire.text_of(told).encode(), told.status, headers, MEDIA_TYPE)


def _status(operation: Operation[Any, Any], error: MetamemError) -> int:
    """The status where it is not the error's usual one."""
    if isinstance(error, Unfit):
        return error.status
    # Lines that were sent are the sender's; all other data is ours.
    return 422 if operation.name == "read_export" and isinstance(error, DataError) else 0


def _note_bug(error: Exception, request_id: str) -> None:
    """Where it happened goes to the log; what was said there could be anybody's."""
    frames = reversed(traceback.extract_tb(error.__traceback__)[-6:])
    place = " < ".join(f"{frame.name}:{frame.lineno}" for frame in frames)
    _log.error("%s bug %s at %s", request_id, type(error).__name__, place)


def _bug(error: Exception, request_id: str) -> Response:
    _note_bug(error, request_id)
    return refused(
        problem(
            MetamemError(
                "this is a bug in metamem",
                hint=f"please report it; the server's log has more under {request_id}",
            )
        )
    )


def _arguments(operation: Operation[Any, Any], asked: Asked) -> Any:
    known = set(wire.field_types(operation.takes))
    if not operation.has_body:
        pairs = [(name, value) for name, value in asked.path.items() if name in known]
        for name, _ in asked.query:
            if name in asked.path:
                raise UsageError(f"{name} stands in the path already")
        return wire.from_query(operation.takes, [*pairs, *asked.query])
    if asked.query:
        raise UsageError(f"{asked.query[0][0]!r} does not belong in the address")
    try:
        data = wire.parse(asked.body) if asked.body else {}
    except UsageError as error:
        raise Unfit(error.message, 400) from None
    if not isinstance(data, dict):
        raise UsageError("the body must be an object")
    for name in operation.in_path:
        if name in data:
            raise UsageError(f"{name} stands in the path already")
    return wire.decode(operation.takes, {**data, **asked.path})


def _still_allowed(
    operation: Operation[Any, Any], memories: LocalMemories, arguments: Any
) -> Callable[[], None]:
    """An earlier reply is shown only to those who could see it now."""

    def check() -> None:
        if operation.name in ("remember", "ingest", "experience"):
            if arguments.scope not in memories.administration.me().writes:
                raise Denied(f"no right to write {arguments.scope}")
        elif operation.name == "advise":
            if arguments.scope not in memories.administration.me().reads:
                raise Denied(f"no right to read {arguments.scope}")
        elif operation.name in ("edit", "forget", "restore"):
            memories.get(arguments.fact)

    return check


def _streamed(pieces: Iterator[str], form: str, request_id: str) -> Response:
    """The first piece is made before the answer begins, so that a refusal can still be told."""
    first = next(pieces, None)

    def whole() -> Iterator[bytes]:
        try:
            if first is not None:
                yield first.encode("utf-8", "backslashreplace")
            for piece in pieces:
                yield piece.encode("utf-8", "backslashreplace")
        except Exception as error:
            _note_bug(error, request_id)
            raise BrokenOff(request_id) from None

    media = "application/x-ndjson" if form == "jsonl" else "text/markdown; charset=utf-8"
    return StreamingResponse(iterate_in_threadpool(whole()), media_type=media)


def _declared_length(request: Request) -> int:
    """-1 where nobody says."""
    text = request.headers.get("content-length", "")
    return int(text) if text.isascii() and text.isdigit() else -1
