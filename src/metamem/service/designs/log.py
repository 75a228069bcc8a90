"""The log of a scope's experiences, over the service's events: erased lines are holes."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from metamem.core.errors import UsageError
from metamem.core.ids import canonical_json
from metamem.service import log, picture
from metamem.service.database import Database
from metamem.service.designs.drawing import EXPERIENCED
from metamem.store.engine import Execute

AT_ONCE = 200
ERASED = "erased"


@dataclass(slots=True)
class _Hashed:
    """How far the digest was made, and when: erasing makes the scope's generation another."""

    generation: int
    position: int
    state: Any


class ScopeLog:
    """Experiences of one scope, in the order in which they came.

    The database is the truth: several processes may add to it. Every block of it runs in a thread.
    """

    def __init__(self, database: Database, scope: int, actor: str = "auto:memory") -> None:
        """`actor` is who is said to have added a line that comes without a caller."""
        self._database, self._scope, self._actor = database, scope, actor
        self._hashed = _Hashed(-1, 0, hashlib.sha256())

    async def append(self, line: str) -> int:
        return await asyncio.to_thread(self._append, line)

    def _append(self, line: str) -> int:
        with self._database.writing(durable=True) as execute:
            body = {"experience": json.loads(line), "moment": "", "useful": []}
            return entered(execute, self._scope, self._actor, body)

    async def read(self, start: int = 0) -> AsyncIterator[tuple[int, str | None]]:
        while rows := await asyncio.to_thread(self._page, start):
            for position, body in rows:
                yield position, None if body is None else line_of(body)
            start = rows[-1][0] + 1

    def _page(self, start: int) -> list[tuple[int, str | None]]:
        with self._database.reading() as execute:
            found = execute(
                "SELECT x.position, b.body FROM experiences x"
                " LEFT JOIN event_bodies b ON b.seq = x.event"
                " WHERE x.scope = ? AND x.position >= ? ORDER BY x.position LIMIT ?",
                (self._scope, start, AT_ONCE),
            )
        return [(position, body) for position, body in found]

    async def length(self) -> int:
        return await asyncio.to_thread(self._length)

    def _length(self) -> int:
        with self._database.reading() as execute:
            return length(execute, self._scope)

    async def digest(self, position: int) -> str:
        return await asyncio.to_thread(self._digest, position)

    def _digest(self, position: int) -> str:
        """Of what the events say of themselves, or that they were erased. Made anew where something
        was erased since, and else gone on with."""
        with self._database.reading() as execute:
            if position > (known := length(execute, self._scope)):
                raise UsageError(f"this scope has {known} experiences, not {position}")
            ((generation,),) = execute(
                "SELECT generation FROM scopes WHERE number = ?", (self._scope,)
            )
            begun = self._hashed
            if begun.generation != generation or begun.position > position:
                begun = _Hashed(generation, 0, hashlib.sha256())
            state = begun.state.copy()
            for digest, body in execute(
                "SELECT e.digest, b.seq FROM experiences x JOIN events e ON e.seq = x.event"
                " LEFT JOIN event_bodies b ON b.seq = x.event"
                " WHERE x.scope = ? AND x.position >= ? AND x.position < ? ORDER BY x.position",
                (self._scope, begun.position, position),
            ):
                state.update(f"{ERASED if body is None else digest}\n".encode())
        self._hashed = _Hashed(generation, position, state)
        found: str = state.hexdigest()
        return found


def line_of(body: str) -> str:
    """An experience as memories are given it, of the body of its event."""
    return canonical_json(json.loads(body)["experience"])


def length(execute: Execute, scope: int) -> int:
    ((count,),) = execute(
        "SELECT COALESCE(MAX(position) + 1, 0) FROM experiences WHERE scope = ?", (scope,)
    )
    return int(count)


def entered(execute: Execute, scope: int, actor: str, body: dict[str, Any]) -> int:
    """Enter an experience, inside a transaction; its position."""
    picture.apply(execute, log.append(execute, scope, EXPERIENCED, actor, body))
    return length(execute, scope) - 1
