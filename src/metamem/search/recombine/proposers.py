"""`Recombine` writes designs without a model; `RandomRecombine` is its blind control."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from random import Random

from metamem.core.errors import DataError, MetamemError
from metamem.core.ids import derive_seed
from metamem.core.types import Design
from metamem.designs.blocks import COMBINE, FAMILIES, Block, blocks
from metamem.search.novelty import syntax_key
from metamem.search.proposer import ParentView, Proposal, Request
from metamem.search.recombine import credit, draw, guidance
from metamem.search.recombine.genome import Genome, from_block
from metamem.search.recombine.operators import (
    FRESH,
    OPERATORS,
    SURVEY,
    Change,
    Lender,
    Surroundings,
    block_of,
    operator_of,
)
from metamem.search.recombine.parse import parse
from metamem.search.recombine.render import render

CHANGES = {1: 0.55, 2: 0.3, 3: 0.15}  # how many in one proposal, and how often
# How likely operators are before anything is known, where not 1: more so what brings in something
# new, less so what often changes nothing, and a new start, which seldom reaches a good parent.
BASE: Mapping[str, float] = {
    "add layer": 2.0,
    "replace admit": 0.5,
    "replace trim": 0.5,
    "replace forget": 0.25,
    "replace key": 0.5,
    "replace combine": 0.5,
    "reorder": 0.5,
    FRESH: 0.5,
}
SURVEYING = 0.75  # how often a way of remembering is tried by itself while some were not
TRYING = 0.3  # how often the best of these is tried with another block, while some were not
WALK = 8  # most operators in a random combination
TRIES = 50


class Recombine:
    """Tries each way of remembering by itself, and the best of them in other company; changes the
    first parent's syntax tree, led by the evidence and by operator credit."""

    async def propose(self, request: Request) -> Proposal:
        rng = Random(_seed("recombine", request))
        left = _not_surveyed(request)
        if left and not request.failed_attempt and rng.random() < SURVEYING:
            return alone(rng.choice(left))
        if not left and not request.failed_attempt and rng.random() < TRYING:
            others = _other_company(request)
            if others:
                return rng.choice(others)()
        weights = credit.weights(request.history, block_of)
        read = [(view, _read(view)) for view in request.parents]
        parents = [(view, genome) for view, genome in read if genome is not None]
        if not parents:
            return _new(_known(request), lambda: _from_nothing(rng, weights))
        view, genome = parents[0]
        lenders = tuple(Lender(v.design.id, g) for v, g in parents[1:])
        around = Surroundings(rng, weights, lenders)
        found = guidance.symptoms(view.evidence)
        odds = operator_odds(request, found)
        # A repair is a smaller change: whatever broke was not in the parent.
        counts = {1: 1.0} if request.failed_attempt else CHANGES

        def attempt() -> Proposal | None:
            child = genome.copy()
            count = draw.choose(rng, list(counts), list(counts.values()))
            changes = _apply(child, around, odds, count)
            return _child(child, changes, view, found) if changes and child.parts else None

        return _new(_known(request), attempt)


class RandomRecombine:
    """The same blocks and operators, chosen evenly; blind to parents, evidence and credit."""

    async def propose(self, request: Request) -> Proposal:
        rng = Random(_seed("random", request))
        even = {name: 1.0 for name in OPERATORS if name != FRESH}

        def attempt() -> Proposal:
            genome = draw.fresh(rng, {})
            _apply(genome, Surroundings(rng), even, rng.randint(0, WALK))
            note = f"A random combination: {genome.summary}."
            return Proposal(_design(genome, note, "", ()), (), "random", note)

        return _new(_known(request), attempt)


def _not_surveyed(request: Request) -> list[Block]:
    """The blocks that lead layers, less those that were tried by themselves."""
    seen = {outcome.operator for outcome in request.history}
    leads = [block for family in FAMILIES for block in blocks(family.named_by[0])]
    return [block for block in leads if f"{SURVEY}({block.name})" not in seen]


def alone(lead: Block) -> Proposal:
    genome = Genome([draw.plain(lead)], from_block(blocks(COMBINE)[0]))
    label = f"{SURVEY}({lead.name})"
    note = f"By itself: {genome.layers[0].does} To see what it is worth."
    return Proposal(_design(genome, note, label, ()), (), label, note)


def _other_company(request: Request) -> list[Callable[[], Proposal]]:
    """The best of what was tried by itself, with one slot filled otherwise: what was not tried yet."""
    alone = [one for one in request.tried if one.operator.startswith(SURVEY)]
    if not alone:
        return []
    best = max(alone, key=lambda one: one.mean)
    seen = {outcome.operator for outcome in request.history}
    (layer,) = parse(best.design.source).layers
    lead = layer.family.named_by[0]
    (leads,) = (b for b in blocks(lead) if b.name == layer.slots[lead].name)
    fits = draw.fitting(leads)
    found: list[Callable[[], Proposal]] = []
    for slot, filled in layer.slots.items():
        for block in fits.get(slot, blocks(slot)):
            label = f"{SURVEY} {slot}({block.name}) of {best.design.id[:8]}"
            if slot != lead and block.name != filled.name and label not in seen:
                found.append(partial(_in_company, best.design, block, label))
    return found


def _in_company(design: Design, block: Block, label: str) -> Proposal:
    genome = parse(design.source)
    layer = genome.layers[0]
    layer.set_slot(from_block(block))
    note = f"By itself: {layer.does} Now {block.slot} is {block.name} ({block.does})."
    return Proposal(_design(genome, note, label, (design.id,)), (design.id,), label, note)


def operator_odds(request: Request, found: Sequence[guidance.Symptom]) -> Mapping[str, float]:
    """How likely each operator is: credit from the history times emphasis from the evidence."""
    earned = credit.weights(request.history, operator_of)
    wanted = guidance.emphasis(found)
    return {
        name: BASE.get(name, 1.0) * earned.get(name, 1.0) * wanted.get(name, 1.0)
        for name in OPERATORS
    }


def _seed(kind: str, request: Request) -> int:
    failed = request.failed_attempt
    parents = [view.design.id for view in request.parents] if kind == "recombine" else []
    return derive_seed(kind, request.seed, parents, failed.source if failed else "")


def _read(view: ParentView) -> Genome | None:
    """A parent that cannot be read (a broken file) lends nothing."""
    try:
        return parse(view.design.source)
    except DataError:
        return None


def _known(request: Request) -> set[str]:
    """The keys of what a proposal must not repeat."""
    sources = [view.design.source for view in request.parents]
    if request.failed_attempt is not None:
        sources.append(request.failed_attempt.source)
    keys: set[str] = set()
    for source in sources:
        try:
            keys.add(syntax_key(source))
        except DataError:
            continue  # what is not Python cannot be repeated
    return keys


def _new(known: set[str], attempt: Callable[[], Proposal | None]) -> Proposal:
    for _ in range(TRIES):
        proposal = attempt()
        if proposal is not None and syntax_key(proposal.design.source) not in known:
            return proposal
    raise MetamemError(f"no new design came of {TRIES} tries")


def _apply(
    genome: Genome, around: Surroundings, odds: Mapping[str, float], count: int
) -> list[Change]:
    """Makes up to `count` changes; operators that find nothing to change are passed over."""
    changes: list[Change] = []
    names = list(odds)
    for _ in range(TRIES):
        if len(changes) == count:
            break
        name = draw.choose(around.rng, names, [odds[n] for n in names])
        if name == FRESH and changes:
            continue
        change = OPERATORS[name](genome, around)
        if change is not None:
            changes.append(change)
            if name == FRESH:
                break
    return changes


def _from_nothing(rng: Random, weights: draw.Weights) -> Proposal:
    genome = draw.fresh(rng, weights)
    note = f"A new design: {genome.summary}."
    return Proposal(_design(genome, note, "", ()), (), FRESH, note)


def _child(
    genome: Genome,
    changes: list[Change],
    view: ParentView,
    found: Sequence[guidance.Symptom],
) -> Proposal:
    what = "; ".join(change.note for change in changes)
    why = _reason({operator_of(change.label) for change in changes}, found)
    note = f"{what[0].upper()}{what[1:]}. {why}"
    lenders = dict.fromkeys(change.lender for change in changes if change.lender)
    fresh = changes[0].operator == FRESH
    parents = () if fresh else (view.design.id, *lenders)
    operator = credit.SEPARATOR.join(change.label for change in changes)
    return Proposal(_design(genome, note, operator, parents), parents, operator, note)


def _reason(operators: set[str], found: Sequence[guidance.Symptom]) -> str:
    for symptom in found:
        if operators & set(symptom.cures):
            return f"Because {symptom.says}."
    return "To see whether it helps."


def _design(genome: Genome, note: str, operator: str, parents: tuple[str, ...]) -> Design:
    story = [
        f"A memory of {len(genome.parts)} parts: {genome.summary}.",
        "",
        f"What changed: {note}",
    ]
    if operator:
        story.append(f"Operator: {operator}")
    if parents:
        story.append(f"Parents: {', '.join(parents)}")
    return Design(render(genome, "\n".join(story)), name=genome.summary)
