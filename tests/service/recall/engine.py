"""A memory with real parts, for tests of the engine: one scope that Ada may use, one that Bob may."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from metamem.core.access import Caller, Scope
from metamem.service.access.scopes import make_scope
from metamem.service.database import FILE, Database
from metamem.service.recall.recaller import Recaller
from metamem.service.words import Ask, Draft, Written
from metamem.service.writing.writer import Writer

SHOP = Scope("acme", "project", "webshop")
HOME = Scope("acme", "user", "bob")
ADA = Caller("acme", "ada", reads=frozenset({SHOP}), writes=frozenset({SHOP}))
BOB = Caller("acme", "bob", reads=frozenset({HOME}), writes=frozenset({HOME}))
BOTH = Caller("acme", "eve", reads=frozenset({SHOP, HOME}), writes=frozenset({SHOP, HOME}))


class Memory:
    """The parts over one file. With `background=False` vectors are made only when a test says so."""

    def __init__(
        self, folder: Path, embedder: str = "auto", *, background: bool = False, **options: int
    ) -> None:
        self.folder = folder
        self.database = Database(folder / FILE)
        with self.database.writing() as execute:
            for scope in (SHOP, HOME):
                make_scope(execute, scope)
        self.writer = Writer(self.database)
        self.recaller = Recaller(self.database, embedder, background=background, **options)

    def keep(self, *texts: str, caller: Caller = ADA, scope: Scope = SHOP) -> list[Written]:
        return self.writer.remember(caller, str(scope), [Draft(text) for text in texts])

    def texts(self, query: str, caller: Caller = ADA) -> list[str]:
        found = self.recaller.recall(caller, Ask(query, floor=0.0))
        return [item.fact.text for item in found.items]

    def close(self) -> None:
        self.recaller.close()
        self.database.close()


@contextmanager
def memory(
    folder: Path, embedder: str = "auto", *, background: bool = False, **options: int
) -> Iterator[Memory]:
    made = Memory(folder, embedder, background=background, **options)
    try:
        yield made
    finally:
        made.close()
