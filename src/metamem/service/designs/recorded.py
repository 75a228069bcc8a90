"""The recorded moments of a scope, and what came before each: read from the service's database as it
was when some event was the last."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from metamem.core.access import Scope
from metamem.core.errors import UsageError
from metamem.core.types import Experience, Query
from metamem.service.access.rights import LOCAL, owner_of_file
from metamem.service.database import FILE, Database
from metamem.service.designs.drawing import ASKED, EXPERIENCED
from metamem.service.designs.permission import may_learn
from metamem.service.designs.scoring import Wanted, wanted_of
from metamem.service.sight import denied, scope_number, sight
from metamem.store.engine import Execute


@dataclass(frozen=True, slots=True)
class Moment:
    """Somebody asked, and it is known what would have been good advice."""

    id: str
    event: int
    query: Query
    wanted: tuple[Wanted, ...]


@dataclass(frozen=True, slots=True)
class Records:
    moments: tuple[Moment, ...]
    experiences: tuple[tuple[int, Experience], ...]  # each with the number of its event
    asked: int  # moments of which it may or may not be known
    digest: str

    def before(self, event: int, most: int) -> tuple[Experience, ...]:
        """The newest experiences that came before an event; 0: all."""
        found = [experience for seq, experience in self.experiences if seq < event]
        return tuple(found[-most:] if most else found)


def last_event(folder: Path, scope: Scope) -> int:
    """The event that a look at this moment ends with."""
    with _seen(folder, scope) as (execute, number):
        found = execute("SELECT COALESCE(MAX(seq), 0) FROM events WHERE scope = ?", (number,))
        return int(found[0][0])


def read(folder: Path, scope: Scope, until: int) -> Records:
    """All that a scope recorded up to an event. What was erased since is not there any more."""
    moments: dict[str, tuple[int, Query]] = {}
    wanted: dict[str, list[Wanted]] = {}
    experiences: list[tuple[int, Experience]] = []
    digest = hashlib.sha256()
    with _seen(folder, scope) as (execute, number):
        for seq, kind, own, text in execute(
            "SELECT e.seq, e.kind, e.digest, b.body FROM events e"
            " JOIN event_bodies b ON b.seq = e.seq"
            " WHERE e.scope = ? AND e.seq <= ? AND e.kind IN (?, ?) ORDER BY e.seq",
            (number, until, ASKED, EXPERIENCED),
        ):
            digest.update(f"{seq} {own}\n".encode())
            body = json.loads(text)
            if kind == ASKED:
                moments[body["moment"]] = (seq, Query.from_json(body["query"]))
                continue
            experience = Experience.from_json(body["experience"])
            experiences.append((seq, experience))
            if body["moment"]:
                useful = [Wanted("fact", fact) for fact in _texts(execute, number, body["useful"])]
                found = [*wanted_of(experience), *useful]
                digest.update(repr(useful).encode("utf-8", "surrogatepass"))
                wanted.setdefault(body["moment"], []).extend(found)
    known = [
        Moment(moment, seq, query, tuple(dict.fromkeys(wanted[moment])))
        for moment, (seq, query) in moments.items()
        if wanted.get(moment)
    ]
    return Records(tuple(known), tuple(experiences), len(moments), digest.hexdigest())


@contextmanager
def _seen(folder: Path, scope: Scope) -> Iterator[tuple[Execute, int]]:
    """For whoever owns the file: their own tenant's scopes. Those of others are not theirs to read."""
    path = folder / FILE
    if not path.is_file():
        raise UsageError(
            f"there is no memory service in {folder}", hint="name its folder: METAMEM_MEMORY"
        )
    database = Database(path, create=False)
    try:
        with database.reading() as execute:
            if scope.tenant == LOCAL:
                owner = owner_of_file(execute, scope.tenant)
                (number,) = sight(execute, owner, "read", [str(scope)]).scopes
            else:
                found = scope_number(execute, scope)
                if found is None or not may_learn(execute, found):
                    raise denied("read", scope)
                number = found
            yield execute, number
    finally:
        database.close()


def _texts(execute: Execute, scope: int, facts: list[str]) -> list[str]:
    found = []
    for fact in facts:
        rows = execute("SELECT text FROM facts WHERE id = ? AND scope = ?", (fact, scope))
        found += [text for (text,) in rows]
    return found
