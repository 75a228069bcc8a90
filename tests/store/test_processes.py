"""Several processes on one archive, and processes that die at any moment."""

import random
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from metamem.core.types import Evaluation
from metamem.store import SqliteArchive
from metamem.store.conformance.support import design, fingerprint, row

BATCH = 7  # rows in one add_rows

# Adds batches of rows with their traces, and says when each is in.
WRITER = """
import sys
from metamem.store import SqliteArchive
from metamem.store.conformance.support import design, episode, fingerprint, row
path, seed, first, batches, size = sys.argv[1], *map(int, sys.argv[2:])
archive = SqliteArchive(path)
archive.add_design(design())
key = archive.open_evaluation(fingerprint(design(), seed=seed), 10**6)
for number in range(first, first + batches):
    task = f"task {number:04}"
    rows = [row(task, repeat) for repeat in range(size)]
    traces = {one.case: episode(task, "a long hall " * 200) for one in rows}
    assert archive.add_rows(key, rows, traces) == len(rows)
    print(number, flush=True)
archive.close()
"""


def writer(path: Path, *, seed: int = 0, first: int = 0, batches: int) -> "subprocess.Popen[str]":
    arguments = [str(path), str(seed), str(first), str(batches), str(BATCH)]
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, *arguments], stdout=subprocess.PIPE, text=True
    )


def whole_batches(evaluation: Evaluation | None) -> set[int]:
    """The numbers of the batches that are in; fails on a part of a batch."""
    sizes: dict[int, int] = {}
    for one in evaluation.rows if evaluation else ():
        number = int(one.task_id.split()[1])
        sizes[number] = sizes.get(number, 0) + 1
    assert set(sizes.values()) <= {BATCH}
    return set(sizes)


def test_a_reader_sees_each_commit_while_a_writer_writes(tmp_path: Path) -> None:
    path = tmp_path / "archive.db"
    with SqliteArchive(path) as reader:
        process = writer(path, batches=25)
        assert process.stdout is not None
        key = fingerprint(design()).id
        for line in process.stdout:
            assert int(line) in whole_batches(reader.evaluation(key))
        assert process.wait(timeout=60) == 0
        assert whole_batches(reader.evaluation(key)) == set(range(25))


def test_writers_that_open_a_new_archive_at_once_all_get_through(tmp_path: Path) -> None:
    path = tmp_path / "archive.db"
    processes = [writer(path, seed=seed, batches=15) for seed in range(4)]
    outputs = [process.communicate(timeout=120)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4
    with SqliteArchive(path, create=False) as archive:
        for seed, output in enumerate(outputs):
            assert len(output.splitlines()) == 15
            found = archive.evaluation(fingerprint(design(), seed=seed).id)
            assert whole_batches(found) == set(range(15))


def test_kill_at_any_moment_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "archive.db"
    key = fingerprint(design()).id
    luck = random.Random(7)
    acknowledged: set[int] = set()
    first = 0
    for _ in range(10):
        process = writer(path, first=first, batches=10**5)
        assert process.stdout is not None
        heard = 0
        for _ in range(luck.randrange(0, 12)):
            process.stdout.readline()
            heard += 1
        time.sleep(luck.uniform(0, 0.02))  # into the middle of whatever comes next
        process.kill()
        rest = process.stdout.read()
        assert process.wait(timeout=60) == -9
        acknowledged |= set(range(first, first + heard + len(rest.splitlines())))

        database = sqlite3.connect(path)
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []
        database.close()
        with SqliteArchive(path) as archive:
            kept = whole_batches(archive.evaluation(key))
            assert acknowledged <= kept
            assert len(archive.traces(key)) == BATCH * len(kept)
        first = max(kept, default=-1) + 1
    assert len(acknowledged) > 20


def test_a_lock_outlives_neither_block_nor_process(tmp_path: Path) -> None:
    path = tmp_path / "archive.db"
    hold = (
        "import sys, time\n"
        "from metamem.core.errors import Busy\n"
        "from metamem.store import SqliteArchive\n"
        "try:\n"
        "    with SqliteArchive(sys.argv[1]).lock_run('r'):\n"
        "        print('held', flush=True)\n"
        "        time.sleep(60)\n"
        "except Busy as error:\n"
        "    print(error.message, flush=True)\n"
    )

    def holder() -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-c", hold, str(path)], stdout=subprocess.PIPE, text=True
        )

    first = holder()
    assert first.stdout is not None
    assert first.stdout.readline() == "held\n"
    said, _ = holder().communicate(timeout=60)
    assert said == f"process {first.pid} is at work on the run 'r'\n"
    first.kill()
    first.communicate(timeout=60)
    with SqliteArchive(path) as archive, archive.lock_run("r"):
        archive.create_run("r", {})
        archive.add_design(design())
        key = archive.open_evaluation(fingerprint(design()), 1)
        assert archive.add_rows(key, [row()]) == 1
