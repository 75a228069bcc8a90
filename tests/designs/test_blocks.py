"""The building blocks: each runs in a layer, and does what it says."""

import random
import re
from collections.abc import AsyncIterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from metamem.core.types import Design, Query, Step
from metamem.designs import Tools, library
from metamem.designs.blocks import (
    BOUNDS,
    COMBINE,
    LISTENING,
    SLOTS,
    THINKING,
    Block,
    blocks,
    composers,
    family_with,
    plumbing,
)
from metamem.designs.blocks.adapt import Analogy, InView
from metamem.designs.blocks.forget import LeastRewarded, LongerWays, Oldest
from metamem.designs.blocks.key import CommonWords, Pattern, RareWords, Stems
from metamem.designs.blocks.part import Part, Row
from metamem.designs.blocks.trim import ChangedActions, LastOfRuns, LedToEnd, News, NoLoops
from metamem.designs.jailed import Jail
from metamem.domains.alfworld import tables
from metamem.search.recombine.draw import fitting
from metamem.search.recombine.draw import layer as drawn
from metamem.search.recombine.genome import Genome, LayerGene, from_block, join
from metamem.search.recombine.render import render
from tests.designs.running import advice
from tests.designs.samples import START, VIEW

# A layer that always has something to say, in which each block is tried in turn.
PLAIN = {
    "admit": "Every",
    "trim": "AllSteps",
    "keep": "Actions",
    "form": "AsItIs",
    "forget": "Nothing",
    "ask": "Goal",
    "key": "Literal",
    "match": "Anything",
    "prefer": "Frequent",
    "adapt": "Unchanged",
    "phrase": "Steps",
}


@pytest.fixture
async def jail() -> AsyncIterator[Jail]:
    async with Jail() as running:
        yield running


def find(slot: str, name: str) -> Block:
    return next(b for b in blocks(slot) if b.name == name)


def layer(**other: str) -> LayerGene:
    slots = {slot: from_block(find(slot, {**PLAIN, **other}[slot])) for slot in SLOTS}
    gene = LayerGene(slots, {})
    gene.set_slot(slots["admit"])  # draws in the constants
    return gene


def design(*parts: LayerGene, combine: str = "AllParts") -> Design:
    return Design(render(Genome([*parts], from_block(find(COMBINE, combine))), "A test."))


class NoHost:
    async def ask(self, tool: str, data: Any) -> Any:
        raise AssertionError("no tool is needed here")

    def log(self, message: str) -> None:
        raise AssertionError(message)


def tools() -> Tools:
    return Tools(NoHost(), 0)


async def test_every_block_runs_in_the_jail(jail):
    for slot in (*SLOTS, COMBINE):
        for block in blocks(slot):
            if slot == COMBINE:
                made = design(layer(), layer(), combine=block.name)
            else:
                made = design(layer(**{slot: block.name}))
            told = await advice(jail, made)
            if slot not in ("ask", "match", "admit", "keep"):
                assert told[0], block.name  # the others cannot silence a layer


async def test_two_blocks_share_a_slot(jail):
    for slot in composers():
        first, second = blocks(slot)[0], blocks(slot)[1]
        gene = layer() if slot in SLOTS else drawn(random.Random(0), {}, family_with(slot))
        gene.set_slot(join(from_block(first), from_block(second)))
        assert gene.slots[slot].names == (first.name, second.name)
        await advice(jail, design(gene))


async def test_joined_matches_both_prepare_their_index(jail):
    gene = layer()
    gene.set_slot(join(from_block(find("match", "Nearest")), from_block(find("match", "Ranked"))))
    gene.constants["FLOOR"] = 1.1  # the first never finds anything: the second must
    told = await advice(jail, design(gene))
    assert "grab lantern 1" in told[0]


def test_every_slot_has_a_choice_and_every_constant_has_bounds():
    for slot in (*SLOTS, *THINKING, *LISTENING, COMBINE):
        assert len(blocks(slot)) >= 4
        for block in blocks(slot):
            assert block.does and block.methods, block.name
            for name, value in block.constants.items():
                low, high = BOUNDS[name]
                assert low <= value <= high and type(value) is type(high), name
    constants = [*plumbing().base_constants.values(), plumbing().memory_constants]
    for name, value in (pair for own in constants for pair in own.items()):
        assert BOUNDS[name][0] <= value <= BOUNDS[name][1]


def test_for_every_keep_there_is_what_can_find_and_say_it():
    for kept in blocks("keep"):
        for slot, fits in fitting(kept).items():
            assert fits, (kept.name, slot)


# --- what single blocks do -------------------------------------------------------------------


def step(action: str, seen: str = "", actions: tuple[str, ...] = ()) -> Step:
    return Step(action, seen, actions)


def actions(steps: list[Step]) -> list[str]:
    return [s.action for s in steps]


def test_no_loops_drops_what_led_back():
    steps = [step("a", "1"), step("b", "2"), step("c", "1"), step("d", "3")]
    assert actions(NoLoops(tools()).trim(steps, "")) == ["c", "d"]


def test_changed_actions_drops_what_left_the_choice_as_it_was():
    steps = [step("a", "1", ("x",)), step("b", "2", ("x",)), step("c", "3", ("y",))]
    assert actions(ChangedActions(tools()).trim(steps, "")) == ["a", "c"]


def test_news_keeps_first_answers():
    steps = [step("a", "1"), step("b", "1"), step("c", "2")]
    assert actions(News(tools()).trim(steps, "")) == ["a", "c"]


def test_last_of_runs():
    steps = [step("go north"), step("go south"), step("grab rope"), step("go north")]
    assert actions(LastOfRuns(tools()).trim(steps, "")) == ["go south", "grab rope", "go north"]


def test_led_to_end_follows_the_things_backwards():
    steps = [
        step("visit mill 1"),
        step("visit barn 2"),
        step("grab rope 1 from barn 2"),
        step("give rope 1 to guard 1"),
    ]
    kept = LedToEnd(tools()).trim(steps, "bring rope to the guard")
    assert actions(kept) == ["visit barn 2", "grab rope 1 from barn 2", "give rope 1 to guard 1"]


def test_pattern_leaves_out_what_actions_are_about():
    part = Pattern(tools())
    part.key_notice(("grab rope 1", "give rope 1 to guard 2"))
    assert part.key("bring a wet rope to the guard") == "bring a wet _ to the _"


def test_common_and_rare_words_divide_the_texts():
    for kind, expected in ((CommonWords, "bring"), (RareWords, "rope")):
        part = kind(tools())
        for thing in ("rope", "drum", "lamp", "coin", "tent", "boat"):
            part.put(f"bring a {thing}", "x", 0.0)
        assert part.key("bring a rope") == expected


def test_stems_make_forms_alike():
    part = Stems(tools())
    assert part.key("lanterns") == part.key("lantern")


def test_analogy_puts_the_goal_in_place():
    row = Row("bring a rope to the guard", "")
    query = Query("bring a drum to the cook")
    told = Analogy(tools()).adapt("grab rope 1\ngive rope 1 to guard 1", row, query)
    assert told == "grab drum 1\ngive drum 1 to cook 1"


def test_in_view_drops_what_is_not_here():
    query = Query("", VIEW, START)
    told = InView(tools()).adapt("go to tower\nswim in moat", Row("", ""), query)
    assert told == "go to tower"


@pytest.mark.parametrize(("kind", "kept"), [(Oldest, {"c", "d"}), (LeastRewarded, {"a", "d"})])
def test_forgetting_keeps_to_the_capacity(kind, kept):
    part: Part = kind(tools())
    part.CAPACITY = 2
    for episode, (value, reward) in enumerate((("a", 1.0), ("b", 0.0), ("c", 0.0), ("d", 1.0))):
        part.episodes = episode
        part.put("goal", value, reward)
    part.forget()
    assert {row.value for row in part.rows()} == kept


def test_longer_ways_are_forgotten():
    part = LongerWays(tools())
    for value in ("a\nb\nc", "a", "a\nb"):
        part.put("goal", value, 0.0)
    part.forget()
    assert {row.value for row in part.rows()} == {"a", "a\nb"}


# --- no block knows a domain -----------------------------------------------------------------

_GAME_VERBS = [
    "heat",
    "heated",
    "hot",
    "cool",
    "cooled",
    "cold",
    "clean",
    "cleaned",
    "slice",
    "sliced",
    "examine",
    "toggle",
]
_PIECE = re.compile(r"[A-Z]?[a-z]+")


def household_words() -> set[str]:
    names = set(_GAME_VERBS) | set(tables.FIXTURES) | set(tables.ACCEPTS)
    for group in (*tables.AFFORDANCES.values(), *tables.ACCEPTS.values()):
        names |= group
    return names


def test_no_domain_word_is_in_blocks_operators_or_human_designs():
    roots = [
        resources.files("metamem.designs.blocks"),
        resources.files("metamem.search.recombine"),
        resources.files("metamem.designs.human"),
    ]
    files = [f for root in roots for f in root.iterdir() if f.name.endswith(".py")]
    files.append(resources.files("metamem.designs").joinpath("text.py"))
    files.append(Path(library.__file__))
    forbidden = household_words()
    assert {"mug", "fridge", "heat", "desklamp"} <= forbidden
    for file in files:
        used = {piece.lower() for piece in _PIECE.findall(file.read_text(encoding="utf-8"))}
        plain = {word.removesuffix("s") for word in used}
        assert not (used | plain) & forbidden, file.name
