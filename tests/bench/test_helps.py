"""Whether memory helps: the streams at a small size, their controls, and going on after a stop."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from bench.helps import Size, by_task, main, stream
from bench.helps_coding import Coding
from bench.helps_home import Home
from bench.helps_stream import Row, Stream, run
from bench.helps_talks import Talks

from metamem.core.types import Episode, Step, Task
from metamem.sandbox import bubblewrap

pytestmark = pytest.mark.slow


def played(which: Stream, folder: Path) -> list[Row]:
    return asyncio.run(run(which, 0, folder / f"{which.name}.jsonl"))


def mean(rows: list[Row], condition: str) -> float:
    found = by_task(rows, condition)
    return sum(found.values()) / len(found)


def outcome(rows: list[Row], condition: str) -> list[tuple[Any, ...]]:
    return [(r.group, r.task, r.reward, r.steps, r.read) for r in rows if r.condition == condition]


@pytest.fixture(scope="module")
def home_rows(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    return played(Home(4, 8, first=500), tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def talk_rows(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    return played(Talks("train", 2), tmp_path_factory.mktemp("talks"))


def test_whoever_lived_through_nothing_does_as_one_who_is_not_attached(
    home_rows: list[Row], talk_rows: list[Row]
) -> None:
    for rows in (home_rows, talk_rows):
        assert outcome(rows, "empty") == outcome(rows, "none")
        assert not any(row.advice for row in rows if row.condition == "empty")


def test_nothing_is_known_of_the_first_day(home_rows: list[Row]) -> None:
    first = [row for row in home_rows if row.stage == 0]
    assert not any(row.advice for row in first if row.condition != "oracle")
    assert outcome(first, "attached") == outcome(first, "none") == outcome(first, "other")


def test_own_memory_helps_and_that_of_a_strange_home_does_not(home_rows: list[Row]) -> None:
    assert mean(home_rows, "attached") > mean(home_rows, "none") + 0.1
    assert mean(home_rows, "other") < mean(home_rows, "none") + 0.1
    assert mean(home_rows, "oracle") > mean(home_rows, "attached")


def test_own_conversation_helps_and_another_does_not(talk_rows: list[Row]) -> None:
    assert mean(talk_rows, "attached") > mean(talk_rows, "none") + 0.2
    assert mean(talk_rows, "other") < mean(talk_rows, "none") + 0.05
    assert mean(talk_rows, "oracle") == 1


def test_a_stream_goes_on_where_it_was_stopped(home_rows: list[Row], tmp_path: Path) -> None:
    class Counted(Home):
        played = 0

        async def play(self, task: Task, seed: int, advice: str) -> Episode:
            self.played += 1
            return await super().play(task, seed, advice)

    whole = tmp_path / "whole.jsonl"
    asyncio.run(run(Home(4, 8, first=500), 0, whole))
    text = whole.read_text(encoding="utf-8")
    stopped = tmp_path / "stopped.jsonl"
    stopped.write_text(text[: len(text) // 2], encoding="utf-8")  # within a line
    kept = text[: len(text) // 2].count("\n")

    rest = Counted(4, 8, first=500)
    rows = asyncio.run(run(rest, 0, stopped))

    assert rest.played == text.count("\n") - kept
    assert stopped.read_text(encoding="utf-8") == text
    assert rows == home_rows


def test_notes_of_a_home_hold_only_what_was_seen() -> None:
    steps = (
        Step("go to desk 1", "You arrive at desk 1. On the desk 1, you see a mug 1, and a pen 2."),
        Step("take mug 1 from desk 1", "You pick up the mug 1 from the desk 1."),
        Step("go to sinkbasin 1", "On the sinkbasin 1, you see nothing."),
        Step("clean mug 1 with sinkbasin 1", "You clean the mug 1 using the sinkbasin 1."),
        Step("go to drawer 1", "The drawer 1 is closed."),
        Step(
            "open drawer 1", "You open the drawer 1. The drawer 1 is open. In it, you see a cd 1."
        ),
        Step("move mug 1 to drawer 1", "You move the mug 1 to the drawer 1.", done=True),
    )
    goal = "put a clean mug in drawer"
    episode = Episode("t", goal, "", (), steps, 1.0)

    notes = Home(1, 1).lessons(Task("t", goal), episode)

    assert [note.text for note in notes if note.type == "observation"] == [
        "The cd 1 is at the drawer 1.",
        "The mug 1 is at the desk 1.",
        "The pen 2 is at the desk 1.",
    ]
    (done,) = (note.text for note in notes if note.type == "insight")
    assert done.endswith("once it is taken:\n1. go to sinkbasin 1\n2. clean it with sinkbasin 1")


def test_notes_of_a_repair_hold_the_change_that_stood(tmp_path: Path) -> None:
    def edit(find: str, replace: str) -> str:
        return json.dumps({"action": "edit_file", "path": "a.py", "find": find, "replace": replace})

    run_tests, undo = '{"action": "run_command", "command": "pytest"}', '{"action": "undo"}'
    failed = "FAILED tests/test_a.py::test_one\n1 failed"
    steps = (
        Step(run_tests, failed),
        Step(edit("x < 1", "x > 1"), "Edited."),
        Step(run_tests, failed),
        Step(undo, "Undone."),
        Step(edit("x < 1", "x <= 1"), "Edited."),
        Step(run_tests, "2 passed"),
        Step('{"action": "submit"}', "Submitted.", reward=1.0, done=True),
    )
    coding = Coding(("train",), 1, str(tmp_path))
    task = coding.tasks("bakery")[0]

    (mended,) = coding.lessons(task, Episode("t", task.goal, "", (), steps, 1.0))
    (missed,) = coding.lessons(task, Episode("t", task.goal, "", (), steps[:4], 0.0))

    assert '"find": "x < 1", "replace": "x <= 1"' in mended.text
    assert "test_one" in mended.text
    assert missed.type == "error"
    fix = next(iter(task.data["fix"].values()))
    assert not any(line in missed.text for line in fix.splitlines() if len(line.strip()) > 20)


def test_the_command_prints_its_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--quick", "--streams", "talks", "--workers", "1", "--folder", str(tmp_path)]

    assert main(arguments) == 0
    first = capsys.readouterr().out
    assert main(arguments) == 0
    again = capsys.readouterr().out

    assert "FTS5 over the same lines" in first
    assert first.splitlines()[:-1] == again.splitlines()[:-1]


@pytest.mark.skipif(not bubblewrap.works(), reason="the isolation bwrap does not work here")
def test_a_repairer_is_attached_too(tmp_path: Path) -> None:
    class Small(Coding):
        conditions: Sequence[str] = ("none", "empty", "attached", "oracle")

        def groups(self) -> Sequence[str]:
            return sorted(self._streams)[:1]

    rows = played(Small(("test",), 1, str(tmp_path / "cache")), tmp_path)

    assert outcome(rows, "empty") == outcome(rows, "none")
    assert mean(rows, "oracle") == 1
    assert all(row.lessons for row in rows if row.condition == "attached")
    assert isinstance(stream("coding", Size(True, "off")), Coding)
