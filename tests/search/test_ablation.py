"""A design with one thing left out."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from metamem.core.types import Design, Query
from metamem.designs.jailed import Jail
from metamem.designs.library import load
from metamem.search.ablation import variants
from metamem.search.proposer import ParentView, Request
from metamem.search.recombine import Recombine
from metamem.search.recombine.parse import parse
from tests.designs.embedder import LetterEmbedder

PLAIN = '''"""Says two things."""

from metamem.designs import Memory


class Two(Memory):
    """Says two things."""

    async def retrieve(self, query):
        return "First.\\nMore of it.\\n\\nSecond."

    async def update(self, experience):
        pass
'''


def drawn(parts: int, fits: Callable[[Design], object] = lambda design: True) -> Design:
    """A design of recombination with so many parts: children of children, until one fits."""
    parents: tuple[ParentView, ...] = ()
    for seed in range(200):
        made = asyncio.run(Recombine().propose(Request(parents, seed=seed))).design
        if len(parse(made.source).parts) == parts and fits(made):
            return made
        parents = (ParentView(made, 0.5),)
    raise AssertionError("no such design")


async def said(design: Design) -> Any:
    async with Jail() as jail:
        memory = await jail.open(design, seed=0, embedder=LetterEmbedder())
        return await memory.retrieve(Query("anything"))


@pytest.mark.slow
def test_each_part_is_left_out_once():
    design = drawn(3)
    names = [part.name for part in parse(design.source).parts]
    made = variants(design, ())
    assert len(made) == 3 and len({v.design.id for v in made} | {design.id}) == 4
    for place, variant in enumerate(made):
        kept = [part.name for part in parse(variant.design.source).parts]
        assert kept == names[:place] + names[place + 1 :]
        assert variant.left_out.startswith(names[place])


def test_a_single_part_is_taken_apart_by_what_it_does_beyond_the_plainest():
    design = drawn(1, lambda design: variants(design, ()))
    (whole,) = parse(design.source).layers
    for variant in variants(design, ()):
        (less,) = parse(variant.design.source).layers
        changed = [s for s in whole.slots if whole.slots[s].names != less.slots[s].names]
        assert len(changed) == 1 and variant.left_out.startswith(changed[0])


async def test_any_other_design_is_taken_apart_by_the_sections_of_its_advice():
    design = Design(PLAIN)
    made = variants(design, ["First.\nMore of it.\n\nSecond."])
    assert [v.left_out for v in made] == [
        "section 1 of the advice, such as “First.”",
        "section 2 of the advice, such as “Second.”",
    ]
    assert [await said(variant.design) for variant in made] == ["Second.", "First.\nMore of it."]


@pytest.mark.parametrize("advice", [[], ["one thing"], ["one\nthing"]])
def test_nothing_can_be_left_out_of_one_thing(advice):
    assert variants(Design(PLAIN), advice) == []


def test_what_cannot_be_read_is_not_taken_apart():
    assert variants(Design("class MemoStructure: pass"), ["a\n\nb"]) == []
    assert variants(load("no_memory"), ["a\n\nb"]) != []


async def test_entries_of_a_structure_are_sections():
    source = PLAIN.replace('"First.\\nMore of it.\\n\\nSecond."', '{"a": 1, "b": 2}')
    made = variants(Design(source), ['{\n "a": 1,\n "b": 2\n}'])
    assert [await said(v.design) for v in made] == [{"b": 2}, {"a": 1}]
