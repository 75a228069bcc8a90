"""An archive that an older version made opens whole, and nothing can leave it in between."""

import hashlib
import json
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from metamem.core.errors import DataError, StoreError
from metamem.store import Place, SqliteArchive, Subject, check_file, export_archive
from tests.store.packed import unpack_archive

# Made by the version before components: a toy run of 6 designs, a run of a scripted model that was
# stopped, and decisions that were entered by hand, one of them undone.
SCHEMA_3 = "archive-schema-3.sql.xz"
# What that version's own export of it was.
EXPORTED = {
    "calls.jsonl": "6eda0f3cb54044b1",
    "collections.jsonl": "524d98b2d021262f",
    "designs.jsonl": "465f390d01359b8a",
    "evaluations.jsonl": "96e5846876141f7a",  # of all but what version 5 has replaced
    "proposals.jsonl": "392e7abe9315129f",
    "reads.jsonl": "0071be09fcb419a7",
    "runs.jsonl": "cca83f6e569bce76",
    "spending.jsonl": "832a9da422f5ecf8",
    "designs": "d486ba9e99adb0de",
    "traces": "957a69e783a7fcb3",
}


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "archive.db"
    unpack_archive(SCHEMA_3, path)
    return path


def digest(exported: Path) -> str:
    """Of a file, or of all files of a folder."""
    content = hashlib.sha256()
    if exported.is_dir():
        for file in sorted(exported.iterdir()):
            content.update(file.name.encode())
            content.update(file.read_bytes())
    elif exported.name == "evaluations.jsonl":
        content.update(_without_replaced(exported.read_text()).encode())
    else:
        content.update(exported.read_bytes())
    return content.hexdigest()[:16]


def _without_replaced(lines: str) -> str:
    """Rows without the measure of use that version 5 replaced by another, and costs of later."""
    kept = []
    for line in lines.splitlines():
        evaluation = json.loads(line)
        for row in evaluation["rows"]:
            row.pop("advice_used", None)
            row.pop("actions_digest", None)
            assert not row.pop("costs")
        kept.append(json.dumps(evaluation, sort_keys=True))
    return "\n".join(kept)


def assert_everything_is_there(path: Path, folder: Path) -> None:
    with SqliteArchive(path, create=False) as archive:
        export_archive(archive, folder)
    assert {name: digest(folder / name) for name in EXPORTED} == EXPORTED


def contents(path: Path) -> dict[str, list[tuple[object, ...]]]:
    database = sqlite3.connect(path)
    query = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
    tables = [name for (name,) in database.execute(query).fetchall()]
    found = {t: sorted(database.execute(f"SELECT * FROM {t}").fetchall(), key=str) for t in tables}
    database.close()
    return found


def test_everything_is_there_after_the_migration(old: Path, tmp_path: Path) -> None:
    assert_everything_is_there(old, tmp_path / "export")
    blobs = contents(old)["blobs"]
    assert len(blobs) == 8
    with SqliteArchive(old) as archive:
        assert all(archive.blob(str(name)) == content for name, content in blobs)
        assert archive.erasures() == []


def test_decisions_keep_their_meaning(old: Path) -> None:
    with SqliteArchive(old) as archive:
        found = archive.promotions()
        by_run = archive.promotions("toy-s0-1")
        toy = archive.promotions(of=(Subject("design", ""), Place("domain", "toy")))
    told = [(p.subject.id[:8], str(p.place), p.decision, p.decided_by, p.waits) for p in found]
    assert told == [
        ("ee6f4461", "toy", "refused", "gate", False),
        ("c76ade64", "toy", "promoted", "gate", False),
        ("22b87f7d", "toy", "promoted", "gate", False),
        ("22b87f7d", "elsewhere", "promoted", "gate", False),
        ("22b87f7d", "toy", "undone", "operator", False),
    ]
    assert by_run == found[:1] and found[0].evidence["best_human"] == "success_retrieval"
    assert [p.ordinal for p in toy] == [0, 1, 2, 3]
    assert {(p.subject.kind, p.subject.name, p.risk) for p in found} == {("design", "", "code")}


def test_a_copy_is_kept_and_the_version_before_still_opens_it(old: Path, tmp_path: Path) -> None:
    before = contents(old)
    SqliteArchive(old).close()
    copy = tmp_path / "archive.db.experiments-3.backup"
    assert contents(copy) == before
    assert [path.name for path in tmp_path.glob("*.backup*")] == [copy.name]
    changed = copy.stat().st_mtime_ns
    SqliteArchive(old).close()
    assert copy.stat().st_mtime_ns == changed  # nothing was left to migrate


def test_the_version_before_is_told_to_upgrade(old: Path) -> None:
    """It asks this table, and knows versions up to 3."""
    SqliteArchive(old).close()
    assert max(contents(old)["archive_schema"]) == (4,)


def test_looking_at_an_old_archive_leaves_it_as_it_is(old: Path, tmp_path: Path) -> None:
    before = old.read_bytes()
    found = check_file(old)
    assert (found.versions, found.is_older) == ({"experiments": 3}, True)
    assert old.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["archive.db"]
    SqliteArchive(old).close()
    now = check_file(old)
    assert (now.is_older, now.is_newer) == (False, False)
    with SqliteArchive(old) as archive:  # while others have it open
        archive.create_run("r", {})
        assert check_file(old) == now
    damaged = bytearray(old.read_bytes())
    damaged[len(damaged) // 2 : len(damaged) // 2 + 20_000] = bytes(20_000)
    old.write_bytes(damaged)
    with pytest.raises(DataError, match="damaged"):
        check_file(old)
    with pytest.raises(StoreError, match="no archive"):
        check_file(tmp_path / "nothing.db")


def test_a_copy_that_cannot_be_kept_leaves_the_archive_as_it_was(old: Path) -> None:
    before = contents(old)
    (old.parent / "archive.db.experiments-3.backup.part").mkdir()
    with pytest.raises(StoreError, match="copy") as caught:
        SqliteArchive(old)
    assert "as it was" in caught.value.hint
    assert contents(old) == before


# Opens an archive and dies by kill -9 before its nth statement, or in the middle of the copy.
DIE = """
import os, signal, sys
from pathlib import Path
from metamem.store import sqlite
from metamem.store.sqlite import Connection, SqliteArchive, SqliteEngine
path, fatal = sys.argv[1], int(sys.argv[2])
done = 0

class Dying(Connection):
    def execute(self, statement, values=()):
        global done
        done += 1
        if done == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().execute(statement, values)

class DyingEngine(SqliteEngine):
    def keep_copy(self, label):
        if fatal == 0:
            Path(f"{self.path}.{label}.backup.part").write_bytes(b"SQLite for")
            os.kill(os.getpid(), signal.SIGKILL)
        super().keep_copy(label)

sqlite.Connection = Dying
sqlite.SqliteEngine = DyingEngine
SqliteArchive(path).close()
"""


def test_kill_in_the_middle_of_a_migration_leaves_an_archive_that_opens(tmp_path: Path) -> None:
    deaths = 0
    for fatal in (0, 1, 4, 6, 9, 15, 20, 25, 30, 40, 50, 60, 70, 1000):
        folder = tmp_path / str(fatal)
        folder.mkdir()
        path = folder / "archive.db"
        unpack_archive(SCHEMA_3, path)
        ended = subprocess.run([sys.executable, "-c", DIE, str(path), str(fatal)], timeout=60)
        assert ended.returncode in (0, -signal.SIGKILL)
        deaths += ended.returncode != 0
        assert check_file(path).is_older == (ended.returncode != 0)
        assert_everything_is_there(path, folder / "export")
        assert check_file(path).is_older is False
        assert contents(folder / "archive.db.experiments-3.backup")["archive_schema"][-1] == (3,)
        assert not list(folder.glob("*.part"))
    assert 8 <= deaths < 14  # in the midst of it, and not at the end
