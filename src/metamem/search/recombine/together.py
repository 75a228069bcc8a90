"""Ways of remembering that gain in different tasks, put together.

What one part alone brings is known task by task, beside the same task played without memory. Parts whose gains
lie in different tasks may bring both together; which of them speaks first, or whether all do, is
tried, since one that speaks always leaves no word to those behind it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from metamem.core.errors import DataError
from metamem.core.types import Design
from metamem.designs.blocks import COMBINE, Block, blocks
from metamem.search.proposer import Proposal, Request
from metamem.search.recombine import draw
from metamem.search.recombine.genome import Genome, from_block
from metamem.search.recombine.operators import adapted
from metamem.search.recombine.parse import parse
from metamem.search.recombine.writing import written

OPERATOR = "together"
MOST = 24  # single parts that are looked at, the best of them
FIRSTS = 3  # of the best single parts, each the beginning of a set
SECONDS = 3  # of the parts that add most to it
FEW_TASKS = 5  # a gain in so many tasks counts half of what it seems: a lucky task proves little
ONE_SPEAKS, ALL_SPEAK = "FirstThatKnows", "AllParts"


@dataclass(frozen=True, slots=True)
class Single:
    """A design of one part, and what it gains task by task."""

    design: Design
    gains: Mapping[str, float]


Set = tuple[Single, ...]


def put_together(request: Request) -> list[Callable[[], Proposal]]:
    """What was not tried yet, the most promising first."""
    seen = {outcome.operator for outcome in request.history}
    found: list[Callable[[], Proposal]] = []
    for chosen in _sets(_singles(request)):
        for combine, order in _ways(chosen):
            label = f"{OPERATOR} {combine.name}({'+'.join(one.design.id[:8] for one in order)})"
            if label not in seen:
                seen.add(label)
                found.append(partial(_propose, order, combine, label))
    return found


def _singles(request: Request) -> list[Single]:
    """Evaluated designs of one part that gain something on the whole, the best first."""
    without: Mapping[str, float] = {}
    alone: list[tuple[Design, Mapping[str, float]]] = []
    for one in request.tried:
        try:
            parts = len(parse(one.design.source).parts)
        except DataError:
            continue
        if parts == 0:
            without = one.rewards
        elif parts == 1:
            alone.append((one.design, one.rewards))
    found = []
    for design, rewards in alone:
        gains = {task: rewards[task] - without[task] for task in rewards if task in without}
        if sum(gains.values()) > 0:
            found.append(Single(design, gains))
    return sorted(found, key=lambda single: -_worth([single]))[:MOST]


def _worth(chosen: Sequence[Single]) -> float:
    """The gain of each task by whoever gains most there; drawn towards nothing where few were played."""
    tasks = set.intersection(*(set(one.gains) for one in chosen))
    return sum(max(one.gains[task] for one in chosen) for task in tasks) / (len(tasks) + FEW_TASKS)


def _sets(singles: Sequence[Single]) -> list[Set]:
    """Two to four of which each adds something, those that could bring most first."""
    found = {frozenset(s.design.id for s in one): one for one in _grown(singles)}
    needed = [
        one for one in found.values() if all(_worth(rest) < _worth(one) for rest in _less(one))
    ]
    return sorted(needed, key=lambda one: -_worth(one))


def _less(chosen: Set) -> list[Set]:
    """The set without each of its members."""
    return [tuple(one for one in chosen if one is not gone) for gone in chosen]


def _grown(singles: Sequence[Single]) -> Iterator[Set]:
    for first in singles[:FIRSTS]:
        for second in _adding((first,), singles)[:SECONDS]:
            chosen: Set = (first, second)
            yield chosen
            while len(chosen) < draw.MOST_PARTS and (more := _adding(chosen, singles)):
                chosen = (*chosen, more[0])
                yield chosen


def _adding(chosen: Set, singles: Sequence[Single]) -> list[Single]:
    """Who would add something, the one that adds most first."""
    before = _worth(chosen)
    worths = [(_worth((*chosen, one)), one) for one in singles if one not in chosen]
    worths.sort(key=lambda pair: -pair[0])
    return [one for worth, one in worths if worth > before]


def _ways(chosen: Set) -> Iterator[tuple[Block, Set]]:
    """Who speaks: the first that knows, the best or the least first, or all."""
    how = {block.name: block for block in blocks(COMBINE)}
    yield how[ONE_SPEAKS], chosen
    yield how[ONE_SPEAKS], chosen[::-1]
    yield how[ALL_SPEAK], chosen


def _propose(order: Set, combine: Block, label: str) -> Proposal:
    genome = Genome([], from_block(combine))
    for one in order:
        (part,) = parse(one.design.source).parts
        fits = adapted(genome, part)
        if fits is not None:
            genome.parts.append(fits)
    ids = tuple(one.design.id for one in order)
    note = (
        f"Together, since they gain in different tasks: {genome.summary}; {combine.does}."
        " To see whether both gains stay."
    )
    return Proposal(written(genome, note, label, ids), ids, label, note)
