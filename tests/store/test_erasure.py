"""What is erased is not in the files any more, either."""

import sqlite3
from pathlib import Path

import pytest

from metamem.core.errors import StoreError
from metamem.store import Origin, SqliteArchive

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
    monkeypatch.setattr("metamem.store.sqlite.BUSY_SECONDS", 0.05)
    path = tmp_path / "archive.db"
    archive = with_secret(path)
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    assert reader.execute("SELECT COUNT(*) FROM blobs").fetchone() == (2,)
    with pytest.raises(StoreError, match="still in the log") as caught:
        archive.erase("someone", decided_by="Ada", reason="asked to")
    assert "again" in caught.value.hint
    assert archive.erasure("blob", "secret") is not None
    reader.close()
    archive.erase("someone", decided_by="Ada", reason="asked to")
    assert files_with_secret(tmp_path) == []
    archive.close()
