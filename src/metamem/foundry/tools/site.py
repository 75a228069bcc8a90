"""Where the tools of one scope are: their rows, the ledger that decides about them, their repository."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from metamem.core.access import Scope
from metamem.core.errors import UnknownName
from metamem.foundry.failures.tables import FAILURES
from metamem.foundry.lessons.tables import LESSONS
from metamem.foundry.tools import store
from metamem.foundry.tools.repository import Repository, folder_of
from metamem.foundry.tools.tables import TOOLS
from metamem.foundry.workflows.tables import WORKFLOWS
from metamem.promotion.contents import Evidence
from metamem.promotion.ledger import Ledger
from metamem.service.database import FILE, Database, make_private
from metamem.service.sight import scope_number
from metamem.store.facets import Promotions
from metamem.store.records import Place, Subject
from metamem.store.sqlite import SqliteArchive

COMPONENTS = (FAILURES, WORKFLOWS, LESSONS, TOOLS)
ARCHIVE = "archive.db"  # called as those of experiments are


@dataclass(frozen=True, slots=True)
class Site:
    memory: Path  # the folder of the memory service
    database: Database
    archive: Promotions
    scope: Scope
    number: int
    skills: bool = True  # whether tools are also told of by files in the project

    @property
    def place(self) -> Place:
        return Place("scope", str(self.scope))

    @property
    def ledger(self) -> Ledger:
        """Nothing is promoted that is not in the store."""
        return Ledger(self.archive, {"tool": self._has})

    @property
    def repository(self) -> Repository:
        return Repository(folder_of(self.memory, self.scope))

    def _has(self, subject: Subject, evidence: Evidence) -> bool:
        with self.database.reading() as execute:
            return store.has(execute, self.number, subject.id)


def subject_of(slot: str, tool: str = "") -> Subject:
    """A version of a tool, for the ledger; without one, what all versions share. The ledger is never
    erased, so it knows a tool by its slot: names are made of somebody's words."""
    return Subject("tool", tool, slot)


def tools_database(memory: Path, *, create: bool = True) -> Database:
    """The memory's database, with Foundry's tables in it."""
    return Database(memory / FILE, create=create, also=COMPONENTS)


def tools_archive(memory: Path) -> SqliteArchive:
    """The archive whose ledger decides about tools: one for all projects, beside the memory. It is its
    owner's, as the memory is."""
    archive = SqliteArchive(memory / ARCHIVE)
    try:
        make_private(memory / ARCHIVE)
    except BaseException:
        archive.close()
        raise
    return archive


def site_of(
    memory: Path,
    database: Database,
    archive: Promotions,
    scope: Scope | str,
    *,
    skills: bool = True,
) -> Site:
    """Whoever calls must have asked before whether the scope may be used."""
    named = Scope.parse(scope) if isinstance(scope, str) else scope
    with database.reading() as execute:
        number = scope_number(execute, named)
    if number is None:
        raise UnknownName(f"there is no scope {named}")
    return Site(memory, database, archive, named, number, skills)


@contextmanager
def opened_site(memory: Path, scope: Scope | str) -> Iterator[Site]:
    """A site of its own, for a command."""
    database = tools_database(memory, create=False)
    try:
        with tools_archive(memory) as archive:
            yield site_of(memory, database, archive, scope)
    finally:
        database.close()
