"""Older archives are brought forward whole or not at all; newer ones are left alone."""

import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from metamem.core.errors import Guarded, StoreError
from metamem.store import DesignRecord, SqliteArchive, check_file
from metamem.store.conformance.support import design
from metamem.store.experiments import EXPERIMENTS
from metamem.store.schema import Component, upgrade
from metamem.store.sqlite import SqliteEngine
from tests.store.packed import unpack_archive
from tests.store.versions import earlier

NEWEST = [("experiments", number + 1) for number in range(EXPERIMENTS.newest)]


def first_version(path: Path) -> None:
    """An archive as the first version of the schema left it, with a design in it."""
    engine = SqliteEngine(path)
    upgrade(engine, [earlier(EXPERIMENTS, 1)])
    with engine.writing() as execute:
        old = design()
        execute(
            "INSERT INTO designs (id, kind, source, name, created_at) VALUES (?, ?, ?, ?, ?)",
            (old.id, old.kind, old.source, old.name, "2030-01-01T00:00:00+00:00"),
        )
    engine.close()


def versions(path: Path) -> list[tuple[str, int]]:
    database = sqlite3.connect(path)
    query = "SELECT component, version FROM component_versions ORDER BY component, version"
    found = database.execute(query).fetchall()
    database.close()
    return found


def schema(path: Path) -> set[tuple[str, str]]:
    database = sqlite3.connect(path)
    found = database.execute("SELECT type, name FROM sqlite_master").fetchall()
    database.close()
    return set(found)


def longer(*step: str, **changes: Any) -> Component:
    return replace(EXPERIMENTS, steps=(*EXPERIMENTS.steps, step), **changes)


def test_an_old_archive_is_brought_forward_with_its_content(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    first_version(path)
    with SqliteArchive(path) as archive:
        assert archive.designs() == [DesignRecord.of(design())]
        assert archive.designs()[0].created_at == "2030-01-01T00:00:00+00:00"
        archive.add_design(design(1), created_by="me")
        assert archive.designs()[1].created_by == "me"
    assert versions(path) == NEWEST
    SqliteArchive(tmp_path / "new.db").close()
    assert schema(path) == schema(tmp_path / "new.db")


def test_two_that_upgrade_at_once_do_it_once(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    first_version(path)
    one, other = SqliteEngine(path), SqliteEngine(path)
    upgrade(one, [EXPERIMENTS])
    upgrade(other, [EXPERIMENTS])
    one.close()
    other.close()
    assert versions(path) == NEWEST


def test_a_step_that_fails_leaves_everything_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    first_version(path)
    before = schema(path)
    engine = SqliteEngine(path)
    with pytest.raises(StoreError, match="nonsense"):
        upgrade(engine, [longer("CREATE TABLE extra (a TEXT)", "nonsense")])
    engine.close()
    assert schema(path) == before
    SqliteArchive(path).close()
    assert versions(path) == NEWEST


def test_a_step_may_rewrite_rows_and_the_guards_are_back_after_it(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    first_version(path)
    engine = SqliteEngine(path)
    step = ("UPDATE designs SET name = 'renamed'", "CREATE TABLE extra (a TEXT)")
    upgrade(engine, [longer(*step, append_only=(*EXPERIMENTS.append_only, "extra"))])
    with engine.reading() as execute:
        assert execute("SELECT name FROM designs") == [("renamed",)]
    for statement in ("UPDATE designs SET name = ''", "DELETE FROM extra"):
        with engine.writing() as execute:
            execute("INSERT INTO extra (a) VALUES ('a')")
            with pytest.raises(Guarded, match="append-only"):
                execute(statement)
    engine.close()


def test_a_newer_archive_asks_for_an_upgrade(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    SqliteArchive(path).close()
    database = sqlite3.connect(path)
    database.execute("INSERT INTO component_versions VALUES ('experiments', 99)")
    database.commit()
    database.close()
    with pytest.raises(StoreError, match="version 99") as caught:
        SqliteArchive(path)
    assert "upgrade metamem" in caught.value.hint


NOTES = Component(
    name="notes",
    steps=(
        ("CREATE TABLE notes (id TEXT NOT NULL PRIMARY KEY)", "CREATE TABLE seen (id TEXT)"),
        ("ALTER TABLE notes ADD COLUMN author TEXT",),
    ),
    append_only=("seen",),
    erasable=("notes",),
)


def test_components_live_side_by_side_and_move_on_their_own(tmp_path: Path) -> None:
    path = tmp_path / "archive.db"
    SqliteArchive(path).close()
    engine = SqliteEngine(path)
    upgrade(engine, [EXPERIMENTS, replace(NOTES, steps=NOTES.steps[:1])])
    with engine.writing() as execute:
        execute("INSERT INTO notes (id) VALUES ('a'), ('b')")
        execute("INSERT INTO seen (id) VALUES ('a')")
    assert not list(tmp_path.glob("*.backup"))  # a component that is new changes nothing there
    upgrade(engine, [EXPERIMENTS, NOTES])
    assert [copy.name for copy in tmp_path.glob("*.backup")] == ["archive.db.notes-1.backup"]
    with engine.writing() as execute:
        execute("DELETE FROM notes WHERE id = 'a'")
        assert execute("SELECT id, author FROM notes") == [("b", None)]
        for refused in (
            "UPDATE notes SET id = 'c'",
            "DELETE FROM seen",
            "DELETE FROM archive_schema",
        ):
            with pytest.raises(Guarded, match="append-only"):
                execute(refused)
    engine.close()
    assert versions(path) == [*NEWEST, ("notes", 1), ("notes", 2)]
    with SqliteArchive(path) as archive:  # which knows nothing of notes
        archive.add_design(design())
    assert versions(path) == [*NEWEST, ("notes", 1), ("notes", 2)]


def test_every_table_says_whether_its_rows_can_be_erased(tmp_path: Path) -> None:
    path = tmp_path / "archive.db"
    SqliteArchive(path).close()
    tables = {name for kind, name in schema(path) if kind == "table"}
    assert tables == set(EXPERIMENTS.tables)
    assert len(EXPERIMENTS.tables) == len(tables)


@pytest.mark.parametrize("version", range(1, EXPERIMENTS.newest + 1))
def test_another_component_may_come_before_an_old_archive_moves_on(
    version: int, tmp_path: Path
) -> None:
    path = tmp_path / "old.db"
    engine = SqliteEngine(path)
    upgrade(engine, [earlier(EXPERIMENTS, version)])
    upgrade(engine, [NOTES])
    upgrade(engine, [EXPERIMENTS, NOTES])
    engine.close()
    assert versions(path) == [*NEWEST, ("notes", 1), ("notes", 2)]
    SqliteArchive(tmp_path / "new.db", components=[NOTES]).close()
    assert schema(path) == schema(tmp_path / "new.db")


def test_an_archive_from_before_components_can_take_another_first(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    unpack_archive("archive-schema-3.sql.xz", path)
    engine = SqliteEngine(path)
    upgrade(engine, [NOTES])
    with engine.reading() as execute:
        assert execute("SELECT MAX(version) FROM archive_schema") == [(4,)]
    engine.close()
    assert check_file(path).versions == {"experiments": 3, "notes": 2}
    with SqliteArchive(path) as archive:
        assert len(archive.designs()) > 1
    assert versions(path) == [*NEWEST, ("notes", 1), ("notes", 2)]
