"""The service's database opens alone or beside an archive, is private, and lets many read."""

import sqlite3
import stat
from pathlib import Path
from threading import Thread

import pytest

from metamem.core.errors import Guarded, ScrubDue, StoreError, UsageError
from metamem.service.database import COMPONENTS, Database
from metamem.store import SqliteArchive, check_file
from metamem.store.conformance.support import design
from metamem.store.experiments import EXPERIMENTS

SETTING = "INSERT INTO service_settings (name, value) VALUES (?, ?)"


def settings(database: Database) -> dict[str, str]:
    with database.reading() as execute:
        return dict(execute("SELECT name, value FROM service_settings"))


def test_it_opens_alone_and_beside_an_archive_in_any_order(tmp_path: Path) -> None:
    for first in (Database, SqliteArchive):
        path = tmp_path / f"{first.__name__}.db"
        first(path).close()
        Database(path).close()
        with SqliteArchive(path) as archive:
            archive.add_design(design())
            known = {part.name: part.newest for part in (EXPERIMENTS, *COMPONENTS)}
            assert archive.components() == known
        database = Database(path, create=False)
        with database.writing() as execute:
            execute(SETTING, ("a", "1"))
        assert settings(database) == {"a": "1"}
        database.close()
    with pytest.raises(StoreError, match="no archive"):
        Database(tmp_path / "nothing.db", create=False)


def test_every_table_says_what_may_be_done_to_its_rows(tmp_path: Path) -> None:
    Database(tmp_path / "memory.db").close()
    there = sqlite3.connect(tmp_path / "memory.db")
    query = "SELECT name FROM sqlite_master WHERE type = 'table'"
    tables = {name for (name,) in there.execute(query)} - {"component_versions"}
    there.close()
    assert tables == {table for part in COMPONENTS for table in part.tables}


def test_its_files_are_its_owners_alone(tmp_path: Path) -> None:
    database = Database(tmp_path / "memory.db")
    with database.writing() as execute:
        execute(SETTING, ("a", "1"))
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    assert set(modes) == {"memory.db", "memory.db-wal", "memory.db-shm"}
    assert set(modes.values()) == {0o600}
    database.close()


def test_recall_does_not_wait_for_a_bulk_write(tmp_path: Path) -> None:
    database = Database(tmp_path / "memory.db")
    with database.writing(durable=True) as execute:
        execute(SETTING, ("a", "1"))
    seen: list[dict[str, str]] = []
    with database.writing() as execute:
        execute(SETTING, ("b", "2"))
        readers = [Thread(target=lambda: seen.append(settings(database))) for _ in range(12)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join(30)
        assert seen == [{"a": "1"}] * 12
        with pytest.raises(UsageError, match="block"):
            settings(database)
    assert settings(database) == {"a": "1", "b": "2"}
    database.close()


def test_the_log_is_guarded_and_the_picture_is_not(tmp_path: Path) -> None:
    database = Database(tmp_path / "memory.db")
    with database.writing() as execute:
        execute(
            "INSERT INTO tombstones (tenant, what, at, decided_by, reason, counts)"
            " VALUES ('acme', 'a', 1, 'ann', 'asked', '{}')"
        )
        execute(SETTING, ("a", "1"))
        execute("UPDATE service_settings SET value = '2'")
        with pytest.raises(Guarded):
            execute("DELETE FROM tombstones")
    assert settings(database) == {"a": "2"}
    database.close()


def test_a_scrub_that_is_due_can_be_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    database = Database(path)
    with database.writing() as execute:
        execute(SETTING, ("a", "a secret of some length"))
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM service_settings").fetchall()
    with database.writing() as execute:
        execute("DELETE FROM service_settings")
    with pytest.raises(ScrubDue):
        database.scrub()
    assert settings(database) == {}
    reader.close()
    database.scrub()
    assert not [f for f in tmp_path.iterdir() if b"secret of some" in f.read_bytes()]
    database.close()


def test_an_outdated_service_is_told_of(tmp_path: Path) -> None:
    Database(tmp_path / "memory.db").close()
    found = check_file(tmp_path / "memory.db", COMPONENTS)
    assert (found.is_older, found.is_newer, found.unjudged) == (False, False, ())
    there = sqlite3.connect(tmp_path / "memory.db")
    there.execute("INSERT INTO component_versions VALUES ('service', 99)")
    there.commit()
    there.close()
    assert check_file(tmp_path / "memory.db", COMPONENTS).is_newer
    with pytest.raises(StoreError, match="99"):
        Database(tmp_path / "memory.db")
