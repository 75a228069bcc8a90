"""The manual says what is true."""

import inspect
import re
from collections.abc import AsyncIterator
from dataclasses import fields

import pytest

from metamem.agents.explorer_advice import read_told
from metamem.agents.reader import Reader
from metamem.agents.repair_advice import read_advice as read_edits
from metamem.core.protocols import Seat
from metamem.core.types import Design, Experience, Message, Observation, Query, Step
from metamem.designs import Hit, Tools, text
from metamem.designs.jailed import Jail
from metamem.designs.limits import Limits
from metamem.designs.toolbox import Table, TextIndex
from metamem.designs.toolbox.tools import LanguageModel
from metamem.designs.toolbox.vectors import Vectors
from metamem.evaluation.rules import Rules
from metamem.search.manual import manual, reading

PLACES = {Tools: "tools", Table: "table", TextIndex: "index", Vectors: "vectors",
          LanguageModel: "tools.llm"}  # fmt: skip


def public(thing):
    return [name for name, _ in inspect.getmembers(thing, inspect.isfunction) if name[0] != "_"]


@pytest.mark.parametrize("kind", PLACES, ids=lambda kind: kind.__name__)
def test_every_method_of_the_toolbox_is_told_with_its_arguments(kind):
    said = re.sub(r"\s+", " ", manual()).replace("\\|", "|")
    for name in public(kind):
        method = getattr(kind, name)
        call = re.search(rf"(await )?{PLACES[kind]}\.{name}\((.*?)\)`", said)
        assert call, f"{PLACES[kind]}.{name} is not in the manual"
        assert bool(call[1]) == inspect.iscoroutinefunction(method), name
        for argument in list(inspect.signature(method).parameters.values())[1:]:
            assert argument.name in call[2], (name, argument.name)
    assert "tools.rng" in said


def test_every_helper_is_told():
    own = [n for n in public(text) if getattr(text, n).__module__ == text.__name__]
    assert own
    for name in own:
        assert f"text.{name}(" in manual(), name


@pytest.mark.parametrize("kind", [Query, Experience, Step, Message, Hit])
def test_every_field_is_told(kind):
    row = next(line for line in manual().splitlines() if f"`{kind.__name__}`" in line)
    for each in fields(kind):
        assert f"`{each.name}:" in row, each.name


def test_limits_are_the_real_ones():
    limits, said = Limits(), manual().replace(",", "").replace("\n", " ")
    assert f"{limits.retrieve_cpu:g} seconds of CPU time" in said
    assert f"one `update` {limits.update_cpu:g}" in said
    assert f"{limits.memory_mb} MB" in said
    assert f"{limits.tool_calls} questions" in said and f"{limits.model_calls} to a model" in said
    assert f"{Rules().advice_tokens} tokens" in said


# --- what it says of agents is so --------------------------------------------------------------

ACTIONS = {("up",): "up", ("left",): "left"}


@pytest.mark.parametrize("form", ["up", "3. go up", "> up", "up, up, then left", "left x3"])
def test_the_explorer_takes_these_for_ways(form):
    assert f"`{form}`" in reading()
    (way,) = read_told(form, ACTIONS).ways
    assert {step.action for step in way.steps} <= {"up", "left"}


def test_the_explorer_reads_likings_places_and_warnings():
    assert read_told("- up\n- left", ACTIONS).likings == {"up": 1.0, "left": 0.5}
    assert len(read_told("1. up\n2. left\n\n1. left", ACTIONS).ways) == 2
    assert read_told("1. up\nA wall lies ahead\n2. left", ACTIONS).ways[0].pictured
    avoided = read_told("Avoid this:\n1. up", ACTIONS)
    assert not avoided.ways and avoided.likings == {"up": -1.0}


@pytest.mark.parametrize(
    "edit",
    [
        '{"find": "a = 1", "replace": "a = 2"}',
        '{"old": "a = 1", "new": "a = 2"}',
        "-a = 1\n+a = 2",
        "In m.py, line 3, change\na = 1\ninto\na = 2",
    ],
)
def test_the_repairer_takes_these_for_edits(edit):
    (found,) = read_edits(f"{edit}\n\nall tests pass").edits
    assert (found.old, found.new, found.trust) == ("a = 1", "a = 2", 1.0)
    assert read_edits(f"{edit}\n\nundo").edits == []


async def reads(advice, *actions, goal="bring the spoon"):
    player = Reader(taste=0).start(Seat(goal, 0))
    player.advise(advice)
    return await player.act(Observation("A hall.", actions))


async def test_the_reader_follows_steps_and_notes():
    doors = ("go to shelf 1", "go to shelf 3", "go to table 1", "wait")
    assert await reads("To bring the spoon:\n1. go to shelf 3\n2. wait", *doors) == "go to shelf 3"
    assert await reads("spoon: table, shelf", *doors) == "go to table 1"
    # In a long sentence it is no step.
    lost = "Somebody walked around quite happily before it turned out shelf 3 mattered to go on"
    assert await reads(lost, *doors) != "go to shelf 3"


@pytest.fixture
async def jail() -> AsyncIterator[Jail]:
    async with Jail() as running:
        yield running


async def test_the_example_runs_in_the_jail(jail):
    from metamem.models.hashed_embedder import HashedEmbedder

    (example,) = re.findall(r"```python\n(.*?)```", manual(), re.S)
    memory = await jail.open(Design(example), seed=1, embedder=HashedEmbedder())
    query = Query("put the red cup away")
    assert await memory.retrieve(query) == ""
    await memory.update(Experience())
    steps = (Step("take the blue cup", "taken"), Step("put the blue cup away", "done", reward=1.0))
    await memory.update(Experience("put the blue cup away", steps=steps, reward=1.0))
    assert "1. take the red cup\n2. put the red cup away" in await memory.retrieve(query)
    await memory.close()
