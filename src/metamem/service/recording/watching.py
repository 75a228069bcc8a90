"""What passes between an MCP client and its server, understood as calls of tools.

Messages are JSON-RPC, one a line. A request for a tool and its answer have one id; several may be under
way at once. Client and server name themselves when they meet, or, since 2026, with every message. Lines
that are no messages are nobody's business here.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from metamem.core.documents import read_json
from metamem.service.importing.transcript import Call, mapping, string, text_of

LONGEST = 16_000_000  # bytes of a line that is looked at
_LATE = re.compile(r"time[d-]?\s?-?out|deadline", re.IGNORECASE)
CANCELLED = "cancelled by the user's client"
GONE = "the server ended before it answered"
Emit = Callable[[Call], None]


def now_ms() -> int:
    return time.time_ns() // 1_000_000


class Lines:
    """Lines out of a stream of bytes. One that is too long is left out."""

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self._size = 0
        self.left_out = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        *whole, rest = data.split(b"\n")
        for line in whole:
            self._add(line)
            if self._size <= LONGEST:
                yield b"".join(self._rest)
            else:
                self.left_out += 1
            self._rest, self._size = [], 0
        self._add(rest)

    def lose(self) -> None:
        """Something of the stream is missing: what is under way cannot be made whole."""
        self._rest, self._size = [], LONGEST + 1

    def _add(self, part: bytes) -> None:
        self._size += len(part)
        if self._size <= LONGEST:
            self._rest.append(part)
        else:
            self._rest = []


class Watching:
    """Makes calls of messages, one half when a tool is asked for and the other when it answers."""

    def __init__(self, emit: Emit, clock: Callable[[], int] = now_ms, prefix: str = "") -> None:
        """`prefix` is how the ids of calls begin: requests are counted anew in every session."""
        self._emit, self._clock, self._prefix = emit, clock, prefix
        self._open: dict[str, Call] = {}  # by the request's id
        self._count = self._groups = 0
        self.client = self.server = ""  # as they name themselves

    def asked(self, line: bytes) -> None:
        """A line of the client."""
        for message in _messages(line):
            method, params = message.get("method"), mapping(message.get("params"))
            self.client = self.client or _name(params, "clientInfo")
            if method == "tools/call" and "id" in message:
                self._begin(_key(message["id"]), params)
            elif method == "notifications/cancelled":
                reason = string(params.get("reason"))
                late = _LATE.search(reason) is not None  # which is no wish of the user's
                why = f"{'timed out' if late else CANCELLED}: {reason}"
                self._end(_key(params.get("requestId")), error=why, failed=True)

    def answered(self, line: bytes) -> None:
        """A line of the server."""
        for message in _messages(line):
            if "method" in message or "id" not in message:
                continue  # a request or a notification of its own
            key = _key(message["id"])
            self.server = self.server or _name(mapping(message.get("result")), "serverInfo")
            if "error" in message:
                error = mapping(message["error"])
                said = string(error.get("message")) or json.dumps(message["error"])
                code = error.get("code")
                told = f"{said} (code: {code})" if isinstance(code, int) else said
                self._end(key, told, told, True)
            else:
                result = mapping(message.get("result"))
                failed = result.get("isError") is True
                said = _words(result)
                self._end(key, said, said if failed else "", failed)

    def over(self) -> None:
        """The server is gone: what it was asked will have no answer."""
        for key in list(self._open):
            self._end(key, error=GONE, failed=True)

    def _begin(self, key: str, params: Mapping[str, Any]) -> None:
        self._count += 1
        # What is asked for while something is under way is asked for at once with it.
        together = next(iter(self._open.values()), None)
        if together is None:
            self._groups += 1
        call = Call(
            f"{self._prefix}{self._count}",
            string(params.get("name")),
            mapping(params.get("arguments")),
            at=self._clock(),
            group=together.group if together is not None else f"g{self._groups}",
        )
        self._open[key] = call
        self._emit(call)

    def _end(
        self, key: str, result: str | None = None, error: str = "", failed: bool | None = None
    ) -> None:
        call = self._open.pop(key, None)
        if call is None or call.at is None:
            return  # of something else, or late: it was cancelled
        took = max(0, self._clock() - call.at)
        self._emit(Call(call.id, result=result, error=error, failed=failed, milliseconds=took))


def _messages(line: bytes) -> list[Mapping[str, Any]]:
    """The messages of a line: one, several, or none where it is no JSON."""
    if not line.strip():
        return []
    try:
        read = read_json(line)
    except ValueError:
        return []
    found = read if isinstance(read, list) else [read]
    return [each for each in found if isinstance(each, Mapping)]


def _name(params: Mapping[str, Any], about: str) -> str:
    """How somebody names itself in a message, if it does."""
    meta = mapping(params.get("_meta")).get(f"io.modelcontextprotocol/{about}")
    return string(mapping(params.get(about, meta)).get("name"))


def _key(identifier: Any) -> str:
    """Ids are texts or numbers; 1 is not "1"."""
    return json.dumps(identifier) if isinstance(identifier, str | int | float) else ""


def _words(result: Mapping[str, Any]) -> str:
    """What a tool gave, in words."""
    if said := text_of(result.get("content")):
        return said
    given = result.get("structuredContent", result.get("content"))
    return "" if given is None else json.dumps(given, ensure_ascii=False)
