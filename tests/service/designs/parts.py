"""Scopes, callers and designs for tests of served designs."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from metamem.core.access import Caller, Scope
from metamem.core.types import Design, Experience, Query, Step
from metamem.models.hashed_embedder import HashedEmbedder
from metamem.promotion.ledger import Ledger
from metamem.service.designs.served import ServedDesigns
from metamem.service.designs.serving import Serving
from metamem.service.service import MemoryService
from metamem.store.records import Place, Subject
from metamem.store.sqlite import SqliteArchive

SCOPE = Scope("acme", "project", "web")
NAME = str(SCOPE)
PLACE = Place("scope", NAME)

_SOURCE = '''
from metamem.designs import Memory


class {name}(Memory):
    """All goals, behind a mark."""

    def __init__(self, tools):
        super().__init__(tools)
        self.seen = []

    async def update(self, experience):
        if "poison" in experience.goal:
            raise SystemExit(3)
        if "spoilt" in experience.goal:
            raise ValueError("spoilt")
        self.seen.append(experience.goal)

    async def retrieve(self, query):
        if "explode" in query.goal:
            raise ValueError(query.goal)
        return " ".join(["{mark}", *self.seen])
'''
A = Design(_SOURCE.format(name="Goals", mark="A:"))
B = Design(_SOURCE.format(name="Others", mark="B:"))
BROKEN = Design("this is no memory")

WORDS = frozenset({SCOPE})
MEMBER = Caller("acme", "ada", reads=WORDS, writes=WORDS, manages=WORDS)
READER = Caller("acme", "rhea", reads=WORDS)
WRITER = Caller("acme", "walt", writes=WORDS)
STRANGER = Caller("acme", "sam")
QUICK = Serving(look_every=0.0, retry_seconds=0.0, patience=60.0)


class Home:
    """A memory service and an archive, beside each other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.service = MemoryService(folder / "memory")
        self.archive = SqliteArchive(folder / "archive.db")
        self.ledger = Ledger(self.archive)
        self.number = self.service.make_scope(SCOPE)

    def put_to_use(self, design: Design) -> None:
        self.propose(design)
        self.ledger.approve(
            Subject("design", design.id),
            PLACE,
            by="ada",
            evidence={"without_comparison": "a test"},
        )

    def propose(self, design: Design) -> None:
        self.archive.add_design(design)
        subject = Subject("design", design.id)
        self.ledger.promote(subject, PLACE, reason="a test", evidence={})

    def undo(self, design: Design) -> None:
        self.ledger.undo(Subject("design", design.id), PLACE, by="ada", reason="a test")

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with self.service.database.reading() as execute:
            return execute(statement, values)

    def close(self) -> None:
        self.service.close()
        self.archive.close()


@asynccontextmanager
async def serving(
    home: Home, *, named: Mapping[str, Design] | None = None, **settings: Any
) -> AsyncIterator[ServedDesigns]:
    how = replace(QUICK, **settings)
    async with ServedDesigns(
        home.service, home.archive, named=named or {}, serving=how, embedder=HashedEmbedder()
    ) as served:
        yield served


def lived(goal: str, reward: float = 0.0) -> Experience:
    return Experience(goal=goal, steps=(Step("look", "a room"),), reward=reward)


async def told(served: ServedDesigns, scope: str = NAME) -> list[str]:
    return (await served.advise(MEMBER, scope, Query("what now?"))).text.split()
