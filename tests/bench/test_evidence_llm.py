"""Designs played by a scripted model: the same command, small."""

import json
from pathlib import Path
from typing import Any

import pytest
from bench.evidence_llm import Plan, main, measure
from bench.llm_table import show, table

from metamem.api import open_home
from metamem.core.types import CaseResult, Evaluation, Fingerprint
from tests.models.endpoint import Endpoint

LEARNED = '''"""Tells the actions of episodes that were won."""

from metamem.designs import Experience, Memory, Query, Tools


class Won(Memory):
    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.seen = 0

    async def retrieve(self, query: Query) -> str:
        return f"{self.seen} episodes were seen"

    async def update(self, experience: Experience) -> None:
        self.seen += 1
'''
SMALL = ["--data", "generated", "--limit-tasks", "3", "--collect", "4", "--repeats", "2"]


def _measure(home: Path, designs: str, *more: str) -> dict[str, Any]:
    given = ["--model", "scripted:demo", "--home", str(home), "--designs", designs, *SMALL]
    main([*given, "--at-once", "8", *more])
    found: dict[str, Any] = json.loads((home / "evidence.json").read_text())
    return found


@pytest.mark.slow
def test_all_designs_are_paired_and_nothing_is_asked_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    learned = tmp_path / "learned.py"
    learned.write_text(LEARNED)
    home = tmp_path / "home"
    designs = f"no_memory,trajectory_retrieval,reasoning_bank,{learned}"
    first = _measure(home, designs)
    rows = {row["name"]: row for row in first["rows"]}
    assert list(rows) == ["no_memory", "trajectory_retrieval", "reasoning_bank", "learned"]
    assert all(row["complete"] and row["played"] == 6 for row in rows.values())
    assert (first["tasks"], first["collected"]) == (3, 4)
    assert len({tuple(row["by_task"]) for row in rows.values()}) == 1
    assert "comparison" not in rows["no_memory"]
    assert all("p_holm" in rows[name]["comparison"] for name in list(rows)[1:])
    assert rows["reasoning_bank"]["memory_calls"] >= 4 > rows["learned"]["memory_calls"] == 0
    assert rows["trajectory_retrieval"]["advice_tokens"] > rows["learned"]["advice_tokens"] > 0
    assert all(row["calls"] > 0 for row in rows.values())
    printed = capsys.readouterr().out
    assert all(f"| {name} |" in printed for name in rows)

    with open_home(home) as archive:
        before = sum(spent.attempts for spent in archive.spending())
    again = _measure(home, designs)
    with open_home(home) as archive:
        assert sum(spent.attempts for spent in archive.spending()) == before
    assert again["rows"] == first["rows"]


def test_a_stop_leaves_a_table_and_the_rest_is_played_later(tmp_path: Path) -> None:
    stopped = _measure(tmp_path, "no_memory,object_places", "--stop-after", "0.05")
    assert not any(row["complete"] for row in stopped["rows"])
    assert "cases played" in show(stopped)
    whole = _measure(tmp_path, "no_memory,object_places")
    assert all(row["complete"] for row in whole["rows"])
    alone = _measure(tmp_path / "alone", "no_memory,object_places")
    assert [row["by_task"] for row in alone["rows"]] == [row["by_task"] for row in whole["rows"]]


def test_a_row_of_which_one_case_was_played_is_told_as_such() -> None:
    fingerprint = Fingerprint("d", "toy", "1", "shift", {}, "a", {}, "e", "t", {}, 0)
    begun = Evaluation(fingerprint, (CaseResult("task-1", 0, 1.0, 3),), planned=4)
    rows = table({"no_memory": begun, "other": None}, {})
    assert [(row["played"], row["complete"]) for row in rows] == [(1, False), (0, False)]


def test_an_unknown_design_is_told_in_words(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no design called 'nothing'"):
        _measure(tmp_path, "no_memory,nothing")


async def test_a_server_that_stumbles_is_asked_again_and_every_call_is_counted(
    tmp_path: Path,
) -> None:
    moods = {2: "500", 5: "cut", 9: "nonsense"}
    async with Endpoint(mood=lambda number: moods.get(number, "")) as server:
        plan = Plan(
            f"openai:demo@{server.url}",
            designs=("no_memory", "g_memory"),
            data={"data": "generated", "shift": 2},
            collect=3,
            continues=False,
            repeats=1,
        )
        found = await measure(plan, str(tmp_path))
        assert all(row["complete"] for row in found["rows"])
        with open_home(tmp_path) as archive:
            spent = archive.spending()
        assert sum(s.answered for s in spent) == server.tally.answered
        assert sum(s.usage.input for s in spent) == server.tally.input
        assert sum(s.failed + s.uncertain for s in spent) == len(moods)


@pytest.mark.slow
def test_rows_of_several_processes_are_those_of_one_and_nothing_of_the_agents_is_kept(
    tmp_path: Path,
) -> None:
    designs = "no_memory,object_places,reasoning_bank"
    one = _measure(tmp_path / "one", designs)
    several = _measure(tmp_path / "several", designs, "--processes", "2", "--light")
    assert several["rows"] == one["rows"]
    with open_home(tmp_path / "several") as archive:
        assert {spent.role for spent in archive.spending()} == {"memory"}


def test_a_batch_is_scored_on_generated_train_games_and_tells_what_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    learned = tmp_path / "learned.py"
    learned.write_text(LEARNED)
    home = str(tmp_path / "home")
    given = ["--model", "scripted:demo", "--home", home, "--designs", f"no_memory,{learned}"]
    main([*given, "--batch", "--tasks", "5", "--collect", "4", "--lost", "1"])
    found = json.loads((tmp_path / "home" / "evidence.json").read_text())
    assert (found["split"], found["tasks"], found["collected"]) == ("train", 5, 4)
    assert all(row["complete"] for row in found["rows"])
    printed = capsys.readouterr().out
    assert "--- learned, train-" in printed and "4 episodes were seen" in printed
    assert "\n> " in printed and "| learned |" in printed
