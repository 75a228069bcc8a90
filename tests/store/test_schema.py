"""Older archives are brought forward whole or not at all; newer ones are left alone."""

import sqlite3
from pathlib import Path

import pytest

from metamem.core.errors import StoreError
from metamem.store import DesignRecord, SqliteArchive
from metamem.store.conformance.support import design
from metamem.store.schema import STEPS, upgrade
from metamem.store.sqlite import SqliteEngine


def first_version(path: Path) -> None:
    """An archive as the first version of the schema left it, with a design in it."""
    engine = SqliteEngine(path)
    upgrade(engine, STEPS[:1])
    with engine.writing() as execute:
        old = design()
        execute(
            "INSERT INTO designs (id, kind, source, name, created_at) VALUES (?, ?, ?, ?, ?)",
            (old.id, old.kind, old.source, old.name, "2030-01-01T00:00:00+00:00"),
        )
    engine.close()


def versions(path: Path) -> list[int]:
    database = sqlite3.connect(path)
    found = database.execute("SELECT version FROM archive_schema ORDER BY version").fetchall()
    database.close()
    return [version for (version,) in found]


def schema(path: Path) -> set[tuple[str, str]]:
    database = sqlite3.connect(path)
    found = database.execute("SELECT type, name FROM sqlite_master").fetchall()
    database.close()
    return set(found)


def test_an_old_archive_is_brought_forward_with_its_content(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    first_version(path)
    assert versions(path) == [1]
    with SqliteArchive(path) as archive:
        assert archive.designs() == [DesignRecord(design(), created_by="")]
        assert archive.designs()[0].created_at == "2030-01-01T00:00:00+00:00"
        archive.add_design(design(1), created_by="me")
        assert archive.designs()[1].created_by == "me"
    assert versions(path) == list(range(1, len(STEPS) + 1))
    SqliteArchive(tmp_path / "new.db").close()
    assert schema(path) == schema(tmp_path / "new.db")


def test_two_that_upgrade_at_once_do_it_once(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    first_version(path)
    one, other = SqliteEngine(path), SqliteEngine(path)
    upgrade(one)
    upgrade(other)
    one.close()
    other.close()
    assert versions(path) == list(range(1, len(STEPS) + 1))


def test_a_step_that_fails_leaves_everything_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    first_version(path)
    before = schema(path)
    engine = SqliteEngine(path)
    with pytest.raises(StoreError, match="nonsense"):
        upgrade(engine, (*STEPS, ("CREATE TABLE extra (a TEXT)", "nonsense")))
    engine.close()
    assert schema(path) == before
    assert versions(path) == [1]
    SqliteArchive(path).close()
    assert versions(path) == list(range(1, len(STEPS) + 1))


def test_a_step_may_rewrite_rows_and_the_guards_are_back_after_it(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    first_version(path)
    engine = SqliteEngine(path)
    upgrade(
        engine, (*STEPS, ("UPDATE designs SET name = 'renamed'", "CREATE TABLE extra (a TEXT)"))
    )
    with engine.reading() as execute:
        assert execute("SELECT name FROM designs") == [("renamed",)]
    for statement in ("UPDATE designs SET name = ''", "DELETE FROM extra"):
        with engine.writing() as execute:
            execute("INSERT INTO extra (a) VALUES ('a')")
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                execute(statement)
    engine.close()


def test_a_newer_archive_asks_for_an_upgrade(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    SqliteArchive(path).close()
    database = sqlite3.connect(path)
    database.execute("INSERT INTO archive_schema (version) VALUES (99)")
    database.commit()
    database.close()
    with pytest.raises(StoreError, match="version 99") as caught:
        SqliteArchive(path)
    assert "upgrade metamem" in caught.value.hint
