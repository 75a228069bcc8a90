"""Two processes at once, processes that are killed, and a disk that is full."""

import random
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from metamem.service import changing
from metamem.service.database import FILE, Database
from metamem.service.export import exported
from metamem.service.reading_export import read_export
from metamem.service.words import Change
from tests.service.writing.support import ADA, SHOP, assert_redrawn_alike, kept, opened, remember

# Writes notes and turns one after the other, and says when each is in. What is given again after a
# death is the same, so that everything must be there once.
WRITER = """
import sys
from pathlib import Path
from metamem.service.words import Draft, Session, Turn
from metamem.service.writing.writer import Writer
from tests.service.writing.support import ADA, SHOP, opened
folder, who, first, count, size = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
writer = Writer(opened(Path(folder)))
turns = ()
for number in range(first, first + count):
    drafts = [Draft(f"{who} saw customer {number} order lamp {n}") for n in range(size)]
    drafts.append(Draft(f"the shared note {number}"))
    results = writer.remember(ADA, str(SHOP), drafts)
    assert all(one.outcome in ("stored", "duplicate") for one in results)
    part = tuple(Turn(who, f"line {number} {n}", id=f"{number}-{n}") for n in range(size))
    writer.ingest(ADA, str(SHOP), Session(f"talk of {who}", part))
    shared = tuple(Turn("both", f"shared {number} {n}", id=f"{number}-{n}") for n in range(size))
    writer.ingest(ADA, str(SHOP), Session("shared", shared))
    print(number, flush=True)
"""


def writer(
    folder: Path, who: str, *, first: int = 0, count: int, size: int
) -> "subprocess.Popen[str]":
    given = [str(folder), who, str(first), str(count), str(size)]
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, *given], stdout=subprocess.PIPE, text=True
    )


def texts(database: Database) -> Iterator[str]:
    for fact in kept(database, ()):
        yield f"{fact.session}|{fact.text}"


def expected(who: str, numbers: range, size: int) -> set[str]:
    told = {
        f"|{who} saw customer {number} order lamp {n}" for number in numbers for n in range(size)
    }
    told |= {f"|the shared note {number}" for number in numbers}
    told |= {f"talk of {who}|line {number} {n}" for number in numbers for n in range(size)}
    return told | {f"shared|shared {number} {n}" for number in numbers for n in range(size)}


@pytest.mark.slow
def test_two_processes_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    opened(tmp_path).close()
    count, size = 25, 40  # some thousand writes each
    both = [writer(tmp_path, who, count=count, size=size) for who in ("one", "two")]
    for process in both:
        process.communicate(timeout=280)
        assert process.returncode == 0
    database = opened(tmp_path)
    found = list(texts(database))
    assert len(found) == len(set(found))
    assert set(found) == expected("one", range(count), size) | expected("two", range(count), size)
    assert_redrawn_alike(database)


@pytest.mark.slow
def test_kill_at_any_moment_loses_nothing_that_returned(tmp_path: Path) -> None:
    opened(tmp_path).close()
    luck, first, returned = random.Random(11), 0, set[str]()
    for _ in range(50):
        process = writer(tmp_path, "one", first=first, count=10**6, size=7)
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(luck.randrange(0, 6))]
        time.sleep(luck.uniform(0, 0.05))  # into the middle of whatever comes next
        process.kill()
        said += process.stdout.read().splitlines()
        assert process.wait(timeout=60) == -9
        returned |= expected("one", range(first, first + len(said)), 7)
        first += len(said)  # what was under way is given again
        raw = sqlite3.connect(tmp_path / FILE)
        assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert raw.execute("PRAGMA foreign_key_check").fetchall() == []
        raw.close()
        database = opened(tmp_path)
        found = list(texts(database))
        assert len(found) == len(set(found))
        assert returned <= set(found)
        database.close()
    assert first > 10
    database = opened(tmp_path)
    assert_redrawn_alike(database)


READ = """
import sys
from pathlib import Path
import metamem.service.reading_export as reading
from tests.service.writing.support import ADA, SHOP, opened
reading.AT_ONCE = 20
print("begun", flush=True)
with open(sys.argv[2]) as lines:
    reading.read_export(opened(Path(sys.argv[1])), ADA, str(SHOP), lines)
"""


@pytest.mark.slow
def test_an_import_that_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    first = opened(tmp_path / "first")
    for number in range(20):
        written = remember(first, *(f"note {number} {n} of the shop" for n in range(50)))
        changing.forget(first, ADA, written[0].id)
        changing.edit(first, ADA, written[1].id, Change(f"note {number} was edited"))
    file = tmp_path / "export.jsonl"
    file.write_text("".join(exported(first, ADA, [str(SHOP)])))
    opened(tmp_path / "second").close()
    luck, killed = random.Random(5), 0
    for _ in range(10):
        process = subprocess.Popen(
            [sys.executable, "-c", READ, str(tmp_path / "second"), str(file)],
            stdout=subprocess.PIPE,
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(luck.uniform(0, 0.3))
        process.kill()
        killed += process.wait(timeout=60) == -9
    assert killed
    second = opened(tmp_path / "second")
    with file.open() as lines:
        read_export(second, ADA, str(SHOP), lines)
    told = ["".join(exported(each, ADA, [str(SHOP)])).split("\n", 1)[1] for each in (first, second)]
    assert told[0] == told[1]
    assert_redrawn_alike(second)


FILL = """
import sys
from pathlib import Path
from metamem.core.errors import StoreError
from metamem.service.words import Draft
from metamem.service.writing.writer import Writer
from tests.service.writing.support import ADA, SHOP, kept, opened
database = opened(Path(sys.argv[1]))
writer, done = Writer(database), 0
try:
    while True:
        drafts = [Draft(f"number {done} {n} " + "of many words " * 20) for n in range(20)]
        writer.remember(ADA, str(SHOP), drafts)
        done += 1
except StoreError as error:
    assert len(kept(database)) == 20 * done, (len(kept(database)), done)
    print(done, bool(error.hint), error.message)
"""


@pytest.mark.slow
def test_a_full_disk_keeps_what_was_committed(tmp_path: Path) -> None:
    small, copy = tmp_path / "small", tmp_path / "copy"
    small.mkdir()
    copy.mkdir()
    script = (
        f'mount -t tmpfs -o size=2m tmpfs "{small}" || exit 42; "$@" || exit 1; '
        f'for end in "" -wal; do test ! -e "{small}/{FILE}$end" || '
        f'cp "{small}/{FILE}$end" "{copy}/{FILE}$end" || exit 1; done'
    )
    prefix = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh")
    allowed = shutil.which("unshare") is not None and (
        subprocess.run([*prefix, "true"], capture_output=True, timeout=60).returncode == 0
    )
    if not allowed:
        pytest.skip("this machine does not allow a small file system of one's own")
    finished = subprocess.run(
        [*prefix, sys.executable, "-c", FILL, str(small)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert finished.returncode == 0, finished.stderr
    done, hint, message = finished.stdout.split(" ", 2)
    assert int(done) > 2 and hint == "True" and "disk is full" in message
    database = opened(copy)
    assert len(kept(database)) == 20 * int(done)
    assert_redrawn_alike(database)
