"""Snapshots save time and nothing else: where one does not fit, the log is replayed, and it is said."""

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import metamem
from metamem.core.errors import DesignFailure, StoreError
from metamem.core.types import Design, Experience
from metamem.designs import toolbox
from metamem.hosting import memory as hosting
from metamem.hosting import opening
from tests.hosting.designs import BESIDE, COUNTING

ROOT = Path(__file__).parents[2]


def learn(folder: Path, goals: range, design: Design = COUNTING) -> str:
    with metamem.open_memory(design, folder) as memory:
        for goal in goals:
            memory.update(Experience(goal=str(goal)))
        return memory.retrieve("x")


def the_snapshot(folder: Path) -> Path:
    [found] = (folder / "snapshots").iterdir()
    return found


def test_an_opening_replays_only_what_came_after_the_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosting, "SNAPSHOT_EVERY", 10)
    learn(tmp_path, range(3))
    with metamem.open_memory(COUNTING, tmp_path) as memory:
        assert memory.replayed == 0
    kept = the_snapshot(tmp_path).read_bytes()
    told = learn(tmp_path, range(3, 27))
    the_snapshot(tmp_path).write_bytes(kept)  # as if the process had been killed before the last
    with metamem.open_memory(COUNTING, tmp_path) as memory:
        assert memory.replayed == 24
        assert memory.retrieve("x") == told
        assert not memory.notes


def test_snapshots_are_kept_now_and_then_while_it_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosting, "SNAPSHOT_EVERY", 10)
    with metamem.open_memory(COUNTING, tmp_path) as memory:
        for goal in range(25):
            memory.update(Experience(goal=str(goal)))
            if goal in (9, 19):  # one that is still being kept is not begun again
                _wait_for(tmp_path, goal + 1)
        assert _position(tmp_path) == 20
    assert _position(tmp_path) == 25


def _wait_for(folder: Path, position: int) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        # Beside one that is whole the next may just be written.
        whole = [*(folder / "snapshots").glob("*.snapshot")]
        if whole and _position_in(whole[0]) == position:
            return
        time.sleep(0.02)
    raise AssertionError(f"no snapshot at {position}")


def _wait_for_any(folder: Path) -> None:
    end = time.monotonic() + 60
    while not list((folder / "snapshots").glob("*.snapshot")):
        assert time.monotonic() < end
        time.sleep(0.02)


def _position(folder: Path) -> int:
    return _position_in(the_snapshot(folder))


def _position_in(snapshot: Path) -> int:
    position: int = json.loads(snapshot.read_bytes().partition(b"\n")[0])["position"]
    return position


def edited_log(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = folder / "experiences.jsonl"
    log.write_text(log.read_text().replace('"goal":"1"', '"goal":"one"'))


def shorter_log(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = folder / "experiences.jsonl"
    log.write_text("".join(log.read_text().splitlines(True)[:-1]))


def damaged(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = the_snapshot(folder)
    path.write_bytes(path.read_bytes()[:-1] + b"?")


def no_header(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    the_snapshot(folder).write_bytes(b"\x00\n")


def newer_toolbox(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "TOOLBOX_VERSION", f"{toolbox.TOOLBOX_VERSION} and more")


def not_restorable(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A snapshot that is what it was made, of a state that the jail cannot restore."""
    path = the_snapshot(folder)
    line, _, state = path.read_bytes().partition(b"\n")
    state = state.partition(b"\n")[0] + b"\nbm8gcGlja2xl"
    header = json.loads(line) | {"sha256": hashlib.sha256(state).hexdigest()}
    path.write_bytes(json.dumps(header).encode() + b"\n" + state)


@pytest.mark.parametrize(
    ("harm", "said", "experiences"),
    [
        (edited_log, "the log was changed since", 3),
        (shorter_log, "the log was changed since", 2),
        (damaged, "it is damaged", 3),
        (no_header, "it is damaged", 3),
        (newer_toolbox, "another version of the toolbox", 3),
        (not_restorable, "cannot be restored", 3),
    ],
)
def test_a_snapshot_that_does_not_fit_is_not_used_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm, said: str, experiences: int
) -> None:
    learn(tmp_path, range(3))
    harm(tmp_path, monkeypatch)
    with (
        pytest.warns(UserWarning, match=said),
        metamem.open_memory(COUNTING, tmp_path) as memory,
    ):
        assert memory.replayed == experiences
        assert f"seen {experiences}" in memory.retrieve("x")
        assert said in memory.notes[0]
    with metamem.open_memory(COUNTING, tmp_path) as memory:  # which kept one that fits
        assert memory.replayed == 0


def test_a_state_that_no_snapshot_can_hold_is_said_and_replayed(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=r"not in the memory, but in Beside\.goals"):
        told = learn(tmp_path, range(3), BESIDE)
    assert not (tmp_path / "snapshots").exists()
    with (
        pytest.warns(UserWarning) as said,
        metamem.open_memory(BESIDE, tmp_path) as memory,
    ):
        assert memory.replayed == 3
        assert memory.retrieve("x") == told
    assert len(said) == 1  # for its own closing


def test_failed_updates_are_remembered_by_the_snapshot(tmp_path: Path) -> None:
    choosy = Design('''
from metamem.designs import Memory


class Choosy(Memory):
    """Odd ones only."""

    def __init__(self, tools):
        super().__init__(tools)
        self.taken = 0

    async def update(self, experience):
        self.taken += 1
        if int(experience.goal) % 2 == 0:
            raise ValueError("even")

    async def retrieve(self, query):
        return f"{self.taken}"
''')
    with metamem.open_memory(choosy, tmp_path) as memory:
        for goal in range(4):
            if goal % 2:
                memory.update(Experience(goal=str(goal)))
            else:
                with pytest.raises(DesignFailure, match="even"):
                    memory.update(Experience(goal=str(goal)))
        assert memory.failed_updates == 2
    with metamem.open_memory(choosy, tmp_path) as memory:
        assert (memory.replayed, memory.failed_updates) == (0, 2)
        assert memory.retrieve("x") == "4"


def test_two_that_write_to_one_log_are_told(tmp_path: Path) -> None:
    with metamem.open_memory(COUNTING, tmp_path) as one:
        with metamem.open_memory(COUNTING, tmp_path) as other:
            other.update(Experience(goal="a"))
        with pytest.raises(StoreError, match="changed by somebody else"):
            one.update(Experience(goal="b"))
        assert "seen 0" in one.retrieve("x")
    with metamem.open_memory(COUNTING, tmp_path) as memory:
        assert "seen 1: ['a']" in memory.retrieve("x")


WRITER = """
import sys
import metamem
from metamem.core.types import Experience
from metamem.hosting import memory as hosting
from tests.hosting.designs import COUNTING
hosting.SNAPSHOT_EVERY = 2
with metamem.open_memory(COUNTING, sys.argv[1]) as memory:
    print("open", memory.retrieve("x"), flush=True)
    for number in range(int(sys.argv[2]), 10_000):
        memory.update(Experience(goal=str(number)))
        print(number, flush=True)
"""


@pytest.mark.slow
def test_nothing_that_returned_is_lost_to_kill_9_at_any_moment(tmp_path: Path) -> None:
    luck = random.Random(5)
    returned = 0
    for number in range(12):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), str(returned)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert writer.stdout is not None
        opened = writer.stdout.readline()
        assert f"seen {returned}" in opened or f"seen {returned + 1}" in opened
        for _ in range(luck.randrange(1, 8)):
            returned = int(writer.stdout.readline()) + 1
        if number == 0:  # on a busy machine none might be through before the last kill
            _wait_for_any(tmp_path)
        time.sleep(luck.random() / 50)
        os.kill(writer.pid, signal.SIGKILL)
        for line in writer.stdout:
            returned = int(line) + 1
        writer.wait()
        writer.stdout.close()
        lines = (tmp_path / "experiences.jsonl").read_bytes().split(b"\n")[:-1]
        goals = [int(json.loads(line)["goal"]) for line in lines]
        assert goals[:returned] == [*range(returned)]
        assert len(goals) <= returned + 1
        returned = len(goals)
    with metamem.open_memory(COUNTING, tmp_path) as memory:
        assert f"seen {returned}" in memory.retrieve("x")
        assert memory.replayed < returned
        assert not memory.notes
