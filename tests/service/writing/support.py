"""A service in a folder, with one scope and some callers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from metamem.core.access import Caller, Scope
from metamem.service import facts, picture
from metamem.service.access.scopes import make_scope
from metamem.service.database import FILE, Database
from metamem.service.sight import sight
from metamem.service.words import Draft, Fact, Listing, Written
from metamem.service.writing.writer import Writer

SHOP = Scope("acme", "project", "webshop")
HOME = Scope("acme", "user", "ada")
BOTH = frozenset({SHOP, HOME})
ADA = Caller("acme", "ada", reads=BOTH, writes=BOTH, manages=BOTH)
READER = Caller("acme", "rita", reads=frozenset({SHOP}))
DROPPER = Caller("acme", "drop", writes=frozenset({SHOP}))  # may write, and read nothing
BOB = Caller("acme", "bob")
TABLES = ("facts", "fact_versions", "fact_entities", "links", "sessions", "postings")


def opened(folder: Path) -> Database:
    database = Database(folder / FILE)
    with database.writing() as execute:
        make_scope(execute, SHOP)
        make_scope(execute, HOME)
    return database


def remember(database: Database, *drafts: Draft | str, scope: Scope = SHOP) -> list[Written]:
    given = [Draft(draft) if isinstance(draft, str) else draft for draft in drafts]
    return Writer(database).remember(ADA, str(scope), given)


def fact_of(database: Database, fact: str, caller: Caller = ADA) -> Fact:
    with database.reading() as execute:
        return facts.by_id(execute, sight(execute, caller, "read"), fact)[1]


def kept(database: Database, lifecycle: tuple[str, ...] = ("active",)) -> list[Fact]:
    """All facts of all scopes, oldest first."""
    found: list[Fact] = []
    with database.reading() as execute:
        view, after = sight(execute, ADA, "read"), ""
        while True:
            page = facts.listed(
                execute, view, Listing(lifecycle=lifecycle, limit=1000, after=after)
            )
            found += page.facts
            if not page.next:
                return found
            after = page.next


def links(database: Database) -> set[tuple[str, str, str]]:
    with database.reading() as execute:
        rows = execute(
            "SELECT s.id, t.id, l.kind FROM links l JOIN facts s ON s.number = l.source"
            " JOIN facts t ON t.number = l.target"
        )
    return {(source, target, kind) for source, target, kind in rows}


def drawn(database: Database) -> dict[str, Sequence[tuple[Any, ...]]]:
    """All of the picture."""
    with database.reading() as execute:
        return {table: sorted(execute(f"SELECT * FROM {table}"), key=repr) for table in TABLES}


def assert_redrawn_alike(database: Database) -> None:
    before = drawn(database)
    with database.writing() as execute:
        picture.redraw(execute)
    assert drawn(database) == before
