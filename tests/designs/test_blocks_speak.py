"""Every block speaks somewhere, so that none is dead weight, and those of all families run in the jail.

(Those of layers that store are run there by `test_blocks.py`.)
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from itertools import pairwise
from typing import Any

import pytest

from metamem.core.types import Design, Experience, Message, Query, Step
from metamem.designs import Tools
from metamem.designs.blocks import (
    COMBINE,
    FAMILIES,
    LISTENERS,
    THINKERS,
    Block,
    blocks,
    family_with,
)
from metamem.designs.inside import load
from metamem.designs.jailed import Jail
from metamem.search.recombine import draw
from metamem.search.recombine.genome import Genome, LayerGene, from_block
from metamem.search.recombine.render import render
from tests.designs.running import Embeds, advice
from tests.designs.samples import EPISODES, QUERIES, START, VIEW

Sample = tuple[tuple[Experience, ...], tuple[Query, ...]]


def _moving() -> Sample:
    """Among things: what lies to the right is reached by going there."""
    episodes = []
    for far in (2, 3, 4):
        seen = [f"exit {n} steps to the right" for n in range(far, 0, -1)]
        steps = [Step("go", after, ("go", "turn")) for after in seen[1:]]
        steps.append(Step("go", "You are out.", (), 1.0, True))
        episodes.append(Experience("find the exit", seen[0], ("go", "turn"), tuple(steps), 1.0))
    asked = Query("find the exit", "exit 5 steps to the right", ("go", "turn"))
    return tuple(episodes), (asked,)


def _rooms() -> Sample:
    """A house of three rooms, each left by the arch; the thing is in the last."""
    rooms, episodes = ("porch", "attic", "vault"), []
    for thing in ("harp", "drum", "bell", "horn"):
        steps = []
        for here, after in pairwise(rooms):
            there = (f"leave {after} by the arch", f"lift {thing}")
            seen = f"{after}\nThis is the {after} of {thing}."
            steps.append(Step(f"leave {here} by the arch", seen, there))
        steps.append(Step(f"lift {thing}", "Well done.", (), 1.0, True))
        start = f"porch\nThis is the porch of {thing}."
        first = ("leave porch by the arch",)
        episodes.append(Experience(f"lift the {thing}", start, first, tuple(steps), 1.0))
    asked = Query(
        "lift the drum", "porch\nThis is the porch of drum.", ("leave porch by the arch",)
    )
    return tuple(episodes), (asked,)


def _crafts() -> Sample:
    """What is done goes with a word of the goal, and the first thing read is what to do."""
    episodes = []
    for thing in ("harp", "drum", "bell", "horn", "lamp", "ring"):
        for craft, action in (("polish", "rub"), ("kindle", "burn"), ("shorten", "cut")):
            doing = f"{action} {thing} 1"
            steps = (
                Step(f"seek {thing} 1", doing, (doing, "wait")),
                Step(doing, "It is done.", ("wait",), 1.0, True),
            )
            first = (f"seek {thing} 1", "wait")
            lived = Experience(f"{craft} the {thing}", f"A {thing} 1.", first, steps, 1.0)
            episodes.append(lived)
    asked = Query("kindle the bell", "A bell 1.", ("seek bell 1", "wait"))
    return tuple(episodes), (asked, Query("rub drum 1"))


def _drawn() -> Sample:
    """A passage on a map, with one sign that is not like the others at its far end."""
    wall, acts, episodes = "########", ("east", "west"), []
    for _ in range(3):
        rows = [f"{wall}\n#{'.' * at}@{'.' * (5 - at)}#\n{wall}" for at in range(3)]
        steps = [Step("east", row, acts) for row in rows[1:]]
        steps.append(Step("west", rows[1], acts))
        steps += [Step("west", rows[0], acts), Step("west", rows[0], acts)]  # into the wall
        episodes.append(Experience("look about", rows[0], acts, tuple(steps), 0.0))
    asked = Query("look about", f"{wall}\n#@....?#\n{wall}", acts)
    return tuple(episodes), (asked,)


def _talk() -> Sample:
    said = (
        Message("Anna", "Where do you keep the rope?"),
        Message("Ben", "The rope is in the north tower."),
        Message("Anna", "Good morning."),
        Message("Ben", "The rope is in the south tower now."),
    )
    lived = Experience("", "", (), (), 0.0, messages=said)
    return (lived,), (Query("Where does Ben keep the rope?"), Query("Which tower has the rope?"))


SAMPLES: dict[str, Sample] = {
    "towers": (EPISODES, (*QUERIES, Query("look into the north tower", VIEW, START))),
    "moving": _moving(),
    "rooms": _rooms(),
    "crafts": _crafts(),
    "drawn": _drawn(),
    "talk": _talk(),
}


def every_block() -> list[Block]:
    return [b for family in FAMILIES for slot in family.slots for b in blocks(slot)]


def layers_with(block: Block) -> Iterator[LayerGene]:
    """The plainest layers with this block in them, the likeliest to speak first."""
    first = family_with(block.slot).named_by[0]
    leads = [block] if block.slot == first else list(blocks(first))
    leads.sort(key=lambda lead: block not in draw.fitting(lead).get(block.slot, ()))
    for lead in leads:
        asks = [b for b in draw.fitting(lead).get("ask", ()) if block.slot != "ask"]
        for ask in asks or [None]:
            layer = draw.plain(lead)
            for filled in filter(None, (ask, block)):
                layer.set_slot(from_block(filled))
            yield layer


def source(*layers: LayerGene) -> str:
    return render(Genome([*layers], from_block(blocks(COMBINE)[0])), "A test.")


async def says(code: str, sample: Sample) -> list[Any]:
    memory = load(code)(Tools(Embeds(), 0))
    for episode in sample[0]:
        await memory.update(episode)
        await memory.tools.flush()
    return [(await memory.retrieve(query))[0] for query in sample[1]]


def speaks(layer: LayerGene, sample: Sample) -> bool:
    """Alone, or after a layer that tells what was read."""
    if any(asyncio.run(says(source(layer), sample))):
        return True
    before = draw.plain(blocks("hear")[0])
    alone = asyncio.run(says(source(before), sample))
    return asyncio.run(says(source(before, layer), sample)) != alone


@pytest.mark.parametrize("block", every_block(), ids=lambda b: f"{b.slot}-{b.name}")
def test_every_block_speaks_somewhere(block: Block) -> None:
    """In a layer that is otherwise the plainest that suits it, in one of six small worlds."""
    assert any(speaks(layer, sample) for layer in layers_with(block) for sample in SAMPLES.values())


def test_a_block_that_never_speaks_is_found_out() -> None:
    code = source(next(layers_with(blocks("answer")[0])))
    mute = code.replace("return list(dict.fromkeys(", "return [] and list(dict.fromkeys(")
    assert mute != code
    assert any(asyncio.run(says(code, SAMPLES["towers"])))
    for sample in SAMPLES.values():
        assert not any(asyncio.run(says(mute, sample)))


@pytest.fixture
async def jail() -> AsyncIterator[Jail]:
    async with Jail() as running:
        yield running


async def test_every_block_that_thinks_or_listens_runs_in_the_jail(jail: Jail) -> None:
    for family, sample in ((THINKERS, "towers"), (LISTENERS, "talk")):
        episodes, queries = SAMPLES[sample]
        for block in (b for slot in family.slots for b in blocks(slot)):
            design = Design(source(next(layers_with(block))))
            told = await advice(jail, design, episodes, queries)
            assert len(told) == len(queries), block.name
