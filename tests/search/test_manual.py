"""The manual says what is true."""

import inspect
import re
from collections.abc import AsyncIterator
from dataclasses import fields

import pytest

from metamem.core.types import Design, Experience, Message, Query, Step
from metamem.designs import Hit, Tools, text
from metamem.designs.jailed import Jail
from metamem.designs.limits import Limits
from metamem.designs.toolbox import Table, TextIndex
from metamem.designs.toolbox.tools import LanguageModel
from metamem.designs.toolbox.vectors import Vectors
from metamem.evaluation.protocol import Protocol
from metamem.search.manual import manual

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
    assert f"{Protocol().advice_tokens} tokens" in said


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
