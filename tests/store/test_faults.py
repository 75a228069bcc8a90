"""Full disks, read-only folders, damaged and foreign files, and attempts to rewrite history."""

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from metamem.core.calls import AttemptEnd, AttemptRecord, CallRecord
from metamem.core.errors import DataError, MetamemError, StoreError
from metamem.core.types import Case, Design
from metamem.store import (
    Origin,
    Place,
    PromotionRecord,
    ProposalRecord,
    ReadRecord,
    SqliteArchive,
    Subject,
    export_archive,
)
from metamem.store.conformance.support import design, episode, row, with_evaluation
from metamem.store.experiments import EXPERIMENTS

# Fills an archive until it is refused, then says how many batches were acknowledged and why
# no more; then shows that reading goes on.
FILL = """
import sys
from metamem.core.errors import StoreError
from metamem.store import SqliteArchive
from metamem.store.conformance.support import episode, row, with_evaluation
import resource
limit = int(sys.argv[2])
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
archive = SqliteArchive(sys.argv[1])
key = with_evaluation(archive, planned=10**6)
done = 0
try:
    while True:
        rows = [row(f"task {done}", repeat) for repeat in range(20)]
        noise = "".join(str((done * 7919 + n) ** 5) for n in range(2000))
        archive.add_rows(key, rows, {rows[0].case: episode(text=noise)})
        done += 1
except StoreError as error:
    assert len(archive.evaluation(key).rows) == 20 * done
    print(done, type(error).__name__, "hint" if error.hint else "", error.message)
"""


def fill(path: Path, *, limit: int = 0, prefix: tuple[str, ...] = ()) -> tuple[int, str]:
    finished = subprocess.run(
        [*prefix, sys.executable, "-c", FILL, str(path), str(limit)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert finished.returncode == 0, finished.stderr
    done, _, message = finished.stdout.partition(" ")
    return int(done), message


def assert_intact(path: Path, batches: int) -> None:
    with SqliteArchive(path, create=False) as archive:
        (evaluation,) = archive.evaluations()
        assert len(evaluation.rows) == 20 * batches
        assert len(archive.traces(evaluation.id)) == batches
        assert archive.add_rows(evaluation.id, [row("one more")]) == 1


def test_a_write_past_the_size_limit_keeps_what_was_committed(tmp_path: Path) -> None:
    path = tmp_path / "archive.db"
    done, message = fill(path, limit=1_000_000)
    assert done > 5
    assert message.startswith("StoreError hint the disk refused a read or write")
    assert_intact(path, done)


def test_a_full_disk_keeps_what_was_committed(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    copy = tmp_path / "copy.db"
    # A file system of 1 MB in a mount namespace of its own; the archive is copied out at the end.
    script = (
        f'mount -t tmpfs -o size=1m tmpfs "{small}" || exit 42; "$@" || exit 1; '
        f'for end in "" -wal; do test ! -e "{small}/archive.db$end" || '
        f'cp "{small}/archive.db$end" "{copy}$end" || exit 1; done'
    )
    prefix = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh")
    allowed = shutil.which("unshare") is not None and (
        subprocess.run([*prefix, "true"], capture_output=True, timeout=60).returncode == 0
    )
    if not allowed:
        pytest.skip("this machine does not allow a small file system of one's own")
    done, message = fill(small / "archive.db", prefix=prefix)
    assert done > 5
    assert message.startswith("StoreError hint the disk is full")
    assert_intact(copy, done)


def test_a_read_only_folder_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir()
    SqliteArchive(folder / "there.db").close()
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from metamem.core.errors import StoreError\n"
        "from metamem.store import SqliteArchive\n"
        "os.chmod(sys.argv[1], 0o555)\n"
        "if os.getuid() == 0:\n"
        "    os.setuid(65534)\n"  # nothing is read-only to root
        "for name in ('new.db', 'there.db', 'new/folder.db'):\n"
        "    try:\n"
        "        archive = SqliteArchive(Path(sys.argv[1]) / name)\n"
        "        archive.create_run('r', {})\n"
        "    except StoreError as error:\n"
        "        print('refused', sys.argv[1] in error.message)\n"
    )
    for parent in (folder, *folder.parents):  # pytest's folders are for their owner alone
        if parent.stat().st_uid == os.getuid() and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o055)
        if parent.name.startswith("pytest-of-"):
            break
    finished = subprocess.run(
        [sys.executable, "-c", script, str(folder)], capture_output=True, text=True, timeout=60
    )
    folder.chmod(0o755)
    assert finished.stdout == "refused True\n" * 3, finished.stderr


def test_a_path_that_cannot_be_an_archive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no archive at"):
        SqliteArchive(tmp_path / "nothing.db", create=False)
    assert not (tmp_path / "nothing.db").exists()
    with pytest.raises(StoreError):
        SqliteArchive(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError):
        SqliteArchive(tmp_path / "file" / "archive.db")


def test_odd_characters_in_the_path_are_just_characters(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "50% #1?mode=ro&x.db"
    with SqliteArchive(path) as archive:
        archive.add_design(design())
    with SqliteArchive(path, create=False) as archive:
        assert len(archive.designs()) == 1
    assert path.is_file()


def test_a_file_of_something_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("These are notes, not an archive.\n" * 100)
    with pytest.raises(DataError, match="not an archive"):
        SqliteArchive(text)
    assert text.read_text().startswith("These are notes")

    foreign = tmp_path / "foreign.db"
    database = sqlite3.connect(foreign)
    database.execute("CREATE TABLE recipes (name TEXT)")
    database.close()
    with pytest.raises(DataError, match="something else"):
        SqliteArchive(foreign)
    database = sqlite3.connect(foreign)
    assert database.execute("SELECT name FROM sqlite_master").fetchall() == [("recipes",)]
    database.close()


def filled(path: Path) -> None:
    with SqliteArchive(path) as archive:
        key = with_evaluation(archive)
        rows = [row(f"task {number}", number % 3) for number in range(60)]
        archive.add_rows(key, rows, {rows[0].case: episode()})
        archive.create_run("r", {"seed": 1})
        one = design().id
        archive.add_proposal(
            ProposalRecord("r", 0, one, (one,), "p", "o", "n", "accepted", "", {}, key, {})
        )
        subject, place = Subject("design", one), Place("domain", "toy")
        archive.add_promotion(
            PromotionRecord(subject, place, 0, "promoted", "me", "", {}, "now", "r")
        )
        archive.record_read(ReadRecord("now", "r", "test", one, key, "report"))
        archive.put_collection("c", [episode()] * 3)
        archive.add_origin(Origin("someone", "blob", "gone"))
        archive.erase("someone", decided_by="me", reason="asked to")
        archive.put_blob("b", b"content")
        attempt = AttemptRecord("k", "r", "memory", "m", one, "t", 9, 0.1, "now")
        call = CallRecord("k", "memory", "m", one, "t", (("user", "hello"),), "good day")
        archive.end_attempt(archive.begin_attempt(attempt), AttemptEnd("answered"), call)


def test_damage_is_reported_as_such_and_never_crashes(tmp_path: Path) -> None:
    good = tmp_path / "good.db"
    filled(good)
    content = good.read_bytes()
    luck = random.Random(3)
    reported = 0
    for number in range(150):
        damaged = bytearray(content)
        for _ in range(luck.choice((1, 10, 100))):
            damaged[luck.randrange(len(damaged))] = luck.randrange(256)
        if number % 10 == 0:
            damaged = damaged[: luck.randrange(len(damaged))]
        path = tmp_path / f"{number}.db"
        path.write_bytes(damaged)
        try:
            with SqliteArchive(path) as archive:
                export_archive(archive, tmp_path / f"{number}")
        except MetamemError:
            reported += 1
    assert reported > 50


def tamper(path: Path, statement: str) -> None:
    """Change what the guards would not let change."""
    database = sqlite3.connect(path, isolation_level=None)
    for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
        database.execute(f"DROP TRIGGER {name}")
    database.execute(statement)
    database.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE designs SET source = source || ' '",
        "UPDATE designs SET kind = 'params'",
        "UPDATE evaluations SET fingerprint = replace(fingerprint, 'reader', 'cheater')",
        "UPDATE evaluations SET fingerprint = '{}'",
        "UPDATE evaluations SET fingerprint = '{'",
        "UPDATE traces SET episode = x'00'",
        "UPDATE collections SET episodes = substr(episodes, 1, 40)",
        "UPDATE runs SET config = 'nonsense'",
        "UPDATE model_texts SET content = x'00'",
        "UPDATE model_texts SET content = 5",
        "UPDATE promotions SET evidence = x'00'",
        "DELETE FROM model_texts",
        "DELETE FROM component_versions",
    ],
)
def test_what_does_not_match_its_id_or_form_is_damage(statement: str, tmp_path: Path) -> None:
    path = tmp_path / "archive.db"
    filled(path)
    tamper(path, statement)
    with pytest.raises(DataError, match=r"damaged|version"), SqliteArchive(path) as archive:
        export_archive(archive, tmp_path / "export")


def test_the_database_itself_refuses_to_rewrite_history(tmp_path: Path) -> None:
    path = tmp_path / "archive.db"
    filled(path)
    database = sqlite3.connect(path)
    tables = [
        name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    ]
    assert set(tables) == set(EXPERIMENTS.tables)
    for table in tables:
        column = database.execute(f"SELECT name FROM pragma_table_info('{table}')").fetchone()[0]
        statements = [f"UPDATE {table} SET {column} = {column}"]
        if table in EXPERIMENTS.append_only:
            statements.append(f"DELETE FROM {table}")
        for statement in statements:
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                database.execute(statement)
    database.close()


def test_a_design_that_is_not_text_for_a_file_is_refused(tmp_path: Path) -> None:
    with SqliteArchive(tmp_path / "archive.db") as archive:
        with pytest.raises(DataError, match="Unicode"):
            archive.add_design(Design("x = '\ud800'"))
        assert archive.designs() == []


def test_a_row_of_wrong_types_is_refused(tmp_path: Path) -> None:
    with SqliteArchive(tmp_path / "archive.db") as archive:
        key = with_evaluation(archive)
        for bad in ({"steps": 2.5}, {"task_id": 3}, {"reward": "high"}, {"failure": None}):
            columns = {"task_id": "t", "repeat": 0, "reward": 0.0, "steps": 1, **bad}
            with pytest.raises(DataError, match=next(iter(bad))):
                archive.add_rows(key, [type(row())(**columns)])  # type: ignore[arg-type]
        with pytest.raises(StoreError):
            archive.add_trace(key, Case("t"), episode())


def test_readers_and_writers_do_not_wait_for_each_other(tmp_path: Path) -> None:
    path = tmp_path / "archive.db"
    with SqliteArchive(path) as archive:
        reader = sqlite3.connect(path, isolation_level=None)
        reader.execute("BEGIN")
        count = "SELECT COUNT(*) FROM designs"
        assert reader.execute(count).fetchone() == (0,)
        archive.add_design(design())
        assert reader.execute(count).fetchone() == (0,)  # still its own moment
        reader.execute("COMMIT")
        assert reader.execute(count).fetchone() == (1,)

        writer = sqlite3.connect(path, isolation_level=None)
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("INSERT INTO blobs (id, content) VALUES ('b', 'x')")
        assert archive.blob("b") is None
        assert len(archive.designs()) == 1
        writer.close()
        reader.close()


def test_a_writer_that_is_kept_waiting_too_long_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("metamem.store.sqlite.BUSY_SECONDS", 0.05)
    path = tmp_path / "archive.db"
    with SqliteArchive(path) as archive:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="another process has held") as caught:
            archive.add_design(design())
        assert "repeated" in caught.value.hint
        other.execute("ROLLBACK")
        other.close()
        assert archive.add_design(design())
