"""The quick build of listening layers: it is taken where it may be, and says what the plain one says."""

import asyncio
import random
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metamem.core.types import Design, Experience, Message, Query, Step
from metamem.designs import Tools, jailed
from metamem.designs.blocks import COMBINE, LISTENERS, LISTENING, blocks, composers
from metamem.designs.inside import load
from metamem.designs.jailed import Jail
from metamem.designs.listening import Heard, Ranking
from metamem.designs.quickening import quickened
from metamem.models.hashed_embedder import HashedEmbedder
from metamem.search.recombine import draw
from metamem.search.recombine.genome import Genome, LayerGene, from_block, join
from metamem.search.recombine.render import render
from tests.designs.running import Embeds
from tests.designs.samples import EPISODES, QUERIES

LINES = (
    "The north tower holds a rope.",
    "The south tower holds a lantern.",
    "Anna: The rope is in the north tower.",
    "Ben: The rope is in the south tower now.",
    "Anna: Please forget the rope.",
    "Where is the rope?",
    "A rope",
    "...",
)
GOALS = ("Where does Anna keep the rope?", "bring Ben a lantern", "rope tower", "sing", "")

lines = st.lists(st.sampled_from(LINES), max_size=12)
experiences = st.builds(
    lambda goal, seen, said: Experience(
        goal,
        "",
        (),
        tuple(Step("wait", "\n".join(each)) for each in seen),
        0.0,
        messages=tuple(Message(*line.split(": ", 1)) for line in said if ": " in line),
    ),
    st.sampled_from(GOALS),
    st.lists(lines, max_size=4),
    lines,
)


def source(*layers: LayerGene) -> str:
    return render(Genome([*layers], from_block(blocks(COMBINE)[0])), "A test.")


def listening(**names: str) -> LayerGene:
    """The plainest layer that listens, but for what is named."""
    layer = draw.plain(blocks("hear")[0])
    for slot, name in names.items():
        layer.set_slot(from_block(next(b for b in blocks(slot) if b.name == name)))
    return layer


async def told(code: str, episodes: list[Experience], goals: tuple[str, ...] = GOALS) -> list[Any]:
    memory = load(code)(Tools(Embeds(), 0))
    for episode in episodes:
        await memory.update(episode)
    return [await memory.retrieve(Query(goal)) for goal in goals]


@settings(deadline=None, max_examples=60)
@given(st.lists(experiences, max_size=5), st.integers(0, 10**6))
def test_both_builds_say_the_same(episodes: list[Experience], seed: int) -> None:
    rng = random.Random(seed)
    layer = draw.layer(rng, {}, LISTENERS)
    for slot in ("heed", "settle"):
        if rng.random() < 0.3:
            layer.set_slot(join(layer.slots[slot], from_block(draw.block(rng, slot, {}))))
    plain = source(layer)
    quick = quickened(plain)
    assert quick != plain
    assert asyncio.run(told(quick, episodes)) == asyncio.run(told(plain, episodes))


def test_every_block_is_known_and_speaks_alike() -> None:
    """And no line of the design changes its place, so that failures are told where they are."""
    episodes = [
        Experience("rope", "", (), (Step("wait", "\n".join(LINES)), Step("wait", LINES[0])), 0.0)
    ] * 3
    layers = [listening(**{slot: b.name}) for slot in LISTENING for b in blocks(slot)]
    for slot in set(LISTENING) & set(composers()):
        both = listening()
        both.set_slot(join(from_block(blocks(slot)[0]), from_block(blocks(slot)[1])))
        layers.append(both)
    spoke = 0
    for layer in layers:
        plain = source(layer)
        quick = quickened(plain)
        assert quick != plain
        assert len(quick.splitlines()) == len(plain.splitlines())
        assert quick.splitlines()[-20:] == plain.splitlines()[-20:]
        said = asyncio.run(told(quick, episodes))
        assert said == asyncio.run(told(plain, episodes))
        spoke += any(said)
    assert spoke > 20


def test_what_is_not_known_runs_as_it_is_written() -> None:
    plain = source(listening())
    for old, new in (
        ("return [(line.strip(), line) for", "return [(line.strip(), line * 2) for"),  # a slot
        ("if words:\n", "if words and line:\n"),  # the plumbing
        ("return True", "return heard.number > 3"),
    ):
        assert old in plain
        changed = plain.replace(old, new, 1)
        assert quickened(changed) == changed
    for more in ("\nListener.retrieve = None\n", "\nclass Own(Listener):\n    def hear(self): ..."):
        assert quickened(plain + more) == plain + more
    assert quickened(plain + "\n)") == plain + "\n)"
    without = source(draw.plain(blocks("keep")[0]))
    assert quickened(without) == without


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.integers(1, 4))), st.data())
def test_a_ranking_is_the_list_that_sorting_makes(groups: Any, data: Any) -> None:
    order = data.draw(st.permutations(range(sum(count for _, count in groups))))
    weighed, taken = [], iter(order)
    for weight, count in groups:
        weighed.append((weight, sorted(next(taken) for _ in range(count))))
    heard = [Heard(str(n), (), n) for n in range(len(order))]
    flat = [(weight, heard[n]) for weight, numbers in weighed for n in numbers if weight > 0]
    expected = sorted(flat, key=lambda pair: (-pair[0], -pair[1].number))
    first = data.draw(st.slices(len(expected) + 2))
    ranking = Ranking(weighed, heard)
    assert ranking[first] == expected[first]
    assert len(ranking) == len(expected)
    assert list(ranking) == expected
    if expected:
        assert Ranking(weighed, heard)[-1] == expected[-1]
        assert Ranking(weighed, heard)[0] == expected[0]


@pytest.fixture
async def jail() -> AsyncIterator[Jail]:
    async with Jail() as running:
        yield running


async def test_a_snapshot_of_the_plain_build_goes_on_in_the_quick_one(
    jail: Jail, monkeypatch: pytest.MonkeyPatch
) -> None:
    design = Design(source(listening(weigh="WordsAndMeaning"), listening(hear="LastWords")))
    with monkeypatch.context() as patched:
        patched.setattr(jailed, "quickened", lambda code: code)
        plain = await jail.open(design, seed=0, embedder=HashedEmbedder())
        for episode in EPISODES[:3]:
            await plain.update(episode)
        saved = await plain.snapshot()
    quick = await jail.open(design, seed=0, embedder=HashedEmbedder(), snapshot=saved)
    for episode in EPISODES[3:]:
        for memory in (plain, quick):
            await memory.update(episode)
    said = [await quick.retrieve(query) for query in QUERIES]
    assert said == [await plain.retrieve(query) for query in QUERIES]
    assert said[0]
    again = await jail.open(
        design, seed=0, embedder=HashedEmbedder(), snapshot=await quick.snapshot()
    )
    assert [await again.retrieve(query) for query in QUERIES] == said
    for memory in (plain, quick, again):
        await memory.close()
