"""A design with one thing left out, again and again: what each part of it is worth shows in what is
lost without it.

A design that recombination made is taken apart by its parts, one of a single part by what that part
does beyond the plainest. Any other is taken apart by the sections of its advice.
"""

import ast
import json
from collections.abc import Sequence
from dataclasses import dataclass

from metamem.core.errors import DataError
from metamem.core.types import Design
from metamem.designs.blocks import blocks
from metamem.search.recombine.genome import Genome, LayerGene, from_block
from metamem.search.recombine.parse import memory_class, parse
from metamem.search.recombine.render import part_names, render

# The slots whose plainest block does nothing: what fills them otherwise can be left out.
OPTIONAL = ("admit", "trim", "form", "forget", "adapt")
MOST_SECTIONS = 4
_WITHOUT_A_SECTION = '''


class WithoutASection({memory}):
    """The same memory; section {number} of its advice is left out."""

    async def retrieve(self, query):
        said = await super().retrieve(query)
        if isinstance(said, tuple):
            return self.without(said[0]), said[1]
        return self.without(said)

    def without(self, advice):
        left_out = range({first}, {last})
        if isinstance(advice, dict):
            return {{k: v for n, (k, v) in enumerate(advice.items()) if n not in left_out}}
        sections = [s for s in str(advice or "").split("\\n\\n") if s.strip()]
        return "\\n\\n".join(s for n, s in enumerate(sections) if n not in left_out)
'''


@dataclass(frozen=True, slots=True)
class Variant:
    """The design without something."""

    left_out: str  # in words
    design: Design


def variants(design: Design, advices: Sequence[str]) -> list[Variant]:
    """`advices` are some that it gave. Nothing comes of a design with nothing to leave out."""
    try:
        genome = parse(design.source)
        made = _without_a_part(genome) or _without_a_slot(genome)
        return made or _without_a_section(design, advices)
    except DataError:  # not a design of ours: it runs as it is, but cannot be read
        return []


def _without_a_part(genome: Genome) -> list[Variant]:
    if len(genome.parts) < 2:
        return []
    made = []
    for place, name in enumerate(part_names(genome)):
        less = genome.copy()
        part = less.parts.pop(place)
        made.append(_variant(less, f"{name}: {part.does}", f"{name} is left out"))
    return made


def _without_a_slot(genome: Genome) -> list[Variant]:
    made = []
    for place, part in enumerate(genome.parts):
        if not isinstance(part, LayerGene):
            continue
        for slot in (each for each in OPTIONAL if each in part.slots):
            plainest = from_block(blocks(slot)[0])
            if part.slots[slot].names == plainest.names:
                continue
            less = genome.copy()
            layer = less.parts[place]
            assert isinstance(layer, LayerGene)
            layer.set_slot(plainest)
            gone = part.slots[slot]
            made.append(
                _variant(less, f"{slot} {gone.name}: {gone.does}", f"{slot} is {plainest.name}")
            )
    return made


def _variant(genome: Genome, left_out: str, note: str) -> Variant:
    story = f"What remains when something is left out: {note}."
    return Variant(left_out, Design(render(genome, story), name=genome.summary))


def _without_a_section(design: Design, advices: Sequence[str]) -> list[Variant]:
    shown = max((_sections(advice) for advice in advices), key=len, default=[])
    if len(shown) < 2:
        return []
    memory = memory_class(ast.parse(design.source))
    count = min(len(shown), MOST_SECTIONS)
    made = []
    for n in range(count):
        rest = n == count - 1 and len(shown) > count
        number = f"{n + 1} and every later one" if rest else str(n + 1)
        source = design.source + _WITHOUT_A_SECTION.format(
            memory=memory, number=number, first=n, last=10_000 if rest else n + 1
        )
        words = f"section {number} of the advice, such as “{shown[n]}”"
        made.append(Variant(words, Design(source, name=f"{design.name} less a section")))
    return made


def _sections(advice: str) -> list[str]:
    """How each begins: paragraphs of a text, entries of a structure."""
    if advice.startswith("{"):
        try:
            return list(json.loads(advice))
        except ValueError:
            pass  # cut by the host, or only looks like it
    return [s.strip().splitlines()[0] for s in advice.split("\n\n") if s.strip()]
