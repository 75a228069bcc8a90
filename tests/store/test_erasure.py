"""What is erased is not in the files any more, either."""

import sqlite3
from pathlib import Path

import pytest

from metamem.core.errors import ScrubDue, StoreError
from metamem.store import Origin, SqliteArchive
from metamem.store.experiments import EXPERIMENTS
from metamem.store.schema import upgrade
from metamem.store.sqlite import SqliteEngine
from tests.store.versions import earlier

SECRET = b"the code of the safe is 4711-0815"


def with_secret(path: Path) -> SqliteArchive:
    archive = SqliteArchive(path)
    archive.add_origin(Origin("someone", "blob", "secret"))
    archive.put_blob("secret", SECRET * 1000)  # over many pages
    archive.put_blob("other", b"kept" * 1000)
    return archive


def files_with_secret(folder: Path) -> list[str]:
    return [f.name for f in folder.iterdir() if f.is_file() and SECRET in f.read_bytes()]


def test_no_file_holds_what_was_erased(tmp_path: Path) -> None:
    archive = with_secret(tmp_path / "archive.db")
    assert files_with_secret(tmp_path)
    archive.erase("someone", decided_by="Ada", reason="asked to")
    assert files_with_secret(tmp_path) == []
    archive.close()
    assert files_with_secret(tmp_path) == []


def test_a_reader_that_keeps_the_old_log_alive_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("metamem.store.sqlite.SCRUB_SECONDS", 0.05)
    path = tmp_path / "archive.db"
    archive = with_secret(path)
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    assert reader.execute("SELECT COUNT(*) FROM blobs").fetchone() == (2,)
    with pytest.raises(ScrubDue, match="still in the log") as caught:
        archive.erase("someone", decided_by="Ada", reason="asked to")
    assert "again" in caught.value.hint
    assert archive.erasure("blob", "secret") is not None
    archive.put_blob("new", b"written meanwhile")
    with pytest.raises(ScrubDue):
        archive.scrub()
    reader.close()
    archive.scrub()
    assert files_with_secret(tmp_path) == []
    archive.close()


def test_the_copy_before_a_migration_goes_with_what_was_erased(tmp_path: Path) -> None:
    path = tmp_path / "archive.db"
    engine = SqliteEngine(path)
    upgrade(engine, [earlier(EXPERIMENTS, 3)])
    with engine.writing() as execute:
        execute("INSERT INTO blobs (id, content) VALUES ('secret', ?)", (SECRET * 1000,))
    engine.close()
    path.chmod(0o600)
    others = [
        tmp_path / name for name in ("archive.db.mine.backup", "other.db.experiments-3.backup")
    ]
    for other in others:
        other.write_text("somebody else's")
    with SqliteArchive(path) as archive:
        copy = tmp_path / "archive.db.experiments-3.backup"
        assert SECRET in copy.read_bytes()
        assert copy.stat().st_mode & 0o777 == 0o600
        archive.add_origin(Origin("someone", "blob", "secret"))
        made = archive.erase("someone", decided_by="Ada", reason="asked to")
        assert made.copies == (str(copy),)
        assert not copy.exists() and files_with_secret(tmp_path) == []
        assert archive.erase("someone", decided_by="Ada", reason="to be sure").copies == ()
    assert all(other.exists() for other in others)


def test_a_copy_that_cannot_be_removed_is_told_of(tmp_path: Path) -> None:
    archive = with_secret(tmp_path / "archive.db")
    (tmp_path / "archive.db.experiments-3.backup").mkdir()
    with pytest.raises(StoreError, match="cannot be removed") as caught:
        archive.erase("someone", decided_by="Ada", reason="asked to")
    assert "yourself" in caught.value.hint
    archive.close()
