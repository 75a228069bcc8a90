"""The learned designs that come along: listed, opened, and silent where they have lived through nothing."""

import json

import pytest

import metamem
from metamem.cli.main import run
from metamem.core.errors import UnknownName
from metamem.core.types import Experience, Query, Step
from metamem.designs import library
from metamem.evaluation.jobs import Spec
from tests.runs.test_runs import SMALL

LEARNED = ("alfworld", "alfworld_acting", "baba", "coding", "dialogue", "minihack", "textworld")
QUERY = Query("put a hot mug in the box", "You see a mug 1 and a box 2.", ("go to box 2", "look"))


def test_there_is_one_at_least_for_each_domain_of_worlds(capsys) -> None:
    assert library.learned_names() == [f"learned/{name}" for name in LEARNED]
    assert run(["designs", "--json"]) == 0
    listed = {row["name"]: row["about"] for row in json.loads(capsys.readouterr().out)}
    assert all(listed[name] for name in library.learned_names())
    with pytest.raises(UnknownName, match="no design called"):
        library.load("learned/nowhere")


@pytest.mark.slow
@pytest.mark.parametrize("name", library.learned_names())
def test_it_says_nothing_without_experience(name: str) -> None:
    with metamem.open_memory(name) as memory:
        assert memory.retrieve(QUERY.goal, QUERY.observation, QUERY.actions) in ("", None)


@pytest.mark.slow
def test_one_can_be_lived_with() -> None:
    steps = (
        Step("go to box 2", "On the box 2, you see a mug 1.", ("take mug 1 from box 2",)),
        Step("take mug 1 from box 2", "You have the mug 1.", ("put mug 1 in box 2",)),
        Step("put mug 1 in box 2", "Done.", (), 1.0, True),
    )
    with metamem.open_memory("learned/alfworld") as memory:
        for _ in range(4):
            memory.update(Experience("put a mug in box", "A room.", ("go to box 2",), steps, 1.0))
        told = memory.retrieve("put a mug in box", "A room.", ("go to box 2",))
    assert "mug" in told and "box 2" in told


@pytest.mark.slow
def test_one_that_is_asked_while_acting_tells_the_next_action() -> None:
    steps = (
        Step("go to box 2", "On the box 2, you see a mug 1.", ("take mug 1 from box 2",)),
        Step("take mug 1 from box 2", "You have the mug 1.", ("go to bin 1",)),
        Step("go to bin 1", "The bin 1 is empty.", ("put mug 1 in bin 1",)),
        Step("put mug 1 in bin 1", "You put the mug 1 in the bin 1.", (), 1.0, True),
    )
    start = ("go to bin 1", "go to box 2")
    with metamem.open_memory("learned/alfworld_acting") as memory:
        for _ in range(4):
            memory.update(Experience("put a mug in bin", "A room.", start, steps, 1.0))
        beside = memory.acting("put a mug in bin", "A room.", start)
        for step in steps:
            assert beside.advice == f"Next: {step.action}"
            beside.saw(step.action, step.observation, step.actions, reward=step.reward)


@pytest.mark.slow
def test_a_search_begins_with_one_and_must_beat_it(tmp_path) -> None:
    own = {**SMALL, "designs": 2, "control": False, "executor": Spec("inline"), "home": tmp_path}
    found = metamem.learn("toy", begin=("learned/alfworld",), **own)
    assert "learned/alfworld" in {row.name for row in found.summary.tables["test"]}
    assert run(["learn", "toy", "--from", "learned", "--home", str(tmp_path)]) == 2
