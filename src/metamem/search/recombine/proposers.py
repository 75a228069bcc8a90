"""`Recombine` writes designs without a model; `RandomRecombine` is its blind control."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from random import Random

from metamem.core.errors import DataError, MetamemError
from metamem.core.ids import derive_seed
from metamem.search.novelty import syntax_key
from metamem.search.proposer import ParentView, Proposal, Request
from metamem.search.recombine import credit, draw, guidance
from metamem.search.recombine.genome import Genome
from metamem.search.recombine.operators import (
    FRESH,
    OPERATORS,
    Change,
    Lender,
    Surroundings,
    block_of,
    operator_of,
)
from metamem.search.recombine.parse import parse
from metamem.search.recombine.survey import alone, not_surveyed, other_company
from metamem.search.recombine.together import put_together
from metamem.search.recombine.writing import written

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
TOGETHER = 0.3  # how often such as gain in different tasks are put together, where there are any
TYPICAL_RANK = 3.0  # how far down the list of what could be put together a choice typically stands
WALK = 8  # most operators in a random combination
TRIES = 50


class Recombine:
    """Tries each way of remembering by itself, those that gain in different tasks together, and the best
    in other company; changes the first parent's syntax tree, led by the evidence and by operator credit."""

    async def propose(self, request: Request) -> Proposal:
        rng = Random(_seed("recombine", request))
        if not request.failed_attempt:
            planned = _planned(request, rng)
            if planned is not None:
                return planned()
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
            return Proposal(written(genome, note, "", ()), (), "random", note)

        return _new(_known(request), attempt)


def _planned(request: Request, rng: Random) -> Callable[[], Proposal] | None:
    """What is tried whoever is the parent: ways of remembering by themselves, those that gain in
    different tasks together, the best of them in other company."""
    left = not_surveyed(request)
    if left and rng.random() < SURVEYING:
        return partial(alone, rng.choice(left))
    if rng.random() < TOGETHER and (sets := put_together(request)):
        return sets[min(int(rng.expovariate(1 / TYPICAL_RANK)), len(sets) - 1)]
    if not left and rng.random() < TRYING and (others := other_company(request)):
        return rng.choice(others)
    return None


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
    return Proposal(written(genome, note, "", ()), (), FRESH, note)


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
    return Proposal(written(genome, note, operator, parents), parents, operator, note)


def _reason(operators: set[str], found: Sequence[guidance.Symptom]) -> str:
    for symptom in found:
        if operators & set(symptom.cures):
            return f"Because {symptom.says}."
    return "To see whether it helps."
