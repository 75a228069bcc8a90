"""Recombination: children are sound, new, explained, repeatable, and led by what was learned."""

import ast
import random
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.core.types import Design
from metamem.designs import library, text
from metamem.designs.blocks import BOUNDS, COMBINE, FAMILIES, blocks
from metamem.designs.jailed import Jail
from metamem.search.novelty import syntax_key
from metamem.search.proposer import (
    Evidence,
    FailedAttempt,
    OperatorOutcome,
    ParentView,
    Proposal,
    Request,
    Tried,
)
from metamem.search.recombine import RandomRecombine, Recombine, credit, draw, guidance
from metamem.search.recombine.genome import Genome, LayerGene, WholeGene, from_block
from metamem.search.recombine.operators import (
    FRESH,
    OPERATORS,
    SURVEY,
    Lender,
    Surroundings,
    block_of,
    operator_of,
)
from metamem.search.recombine.parse import parse
from metamem.search.recombine.proposers import BASE, operator_odds
from metamem.search.recombine.recast import RECASTS
from metamem.search.recombine.render import render
from metamem.search.recombine.survey import alone
from metamem.search.recombine.together import OPERATOR as TOGETHER
from tests.designs.running import advice
from tests.runs.changing import LEADS, SURVEYED

HUMAN = [ParentView(library.load(name), 0.2) for name in library.names()]
ASKED_FOR_MORE = Evidence(mean_reward=0.3, empty=1.0, cases=50)


@pytest.fixture
async def jail() -> AsyncIterator[Jail]:
    async with Jail() as running:
        yield running


async def lineage(length: int, seed: int) -> list[tuple[Proposal, list[ParentView]]]:
    """Children of children of the human designs, with the parents each was made from."""
    rng = random.Random(seed)
    pool = list(HUMAN)
    made = []
    for n in range(length):
        parents = rng.sample(pool, 3)
        evidence = replace(ASKED_FOR_MORE, empty=rng.random(), tokens=rng.random() * 2000)
        parents[0] = replace(parents[0], evidence=evidence)
        proposal = await Recombine().propose(
            Request(parents=parents, seed=seed * 1000 + n, history=SURVEYED)
        )
        made.append((proposal, parents))
        pool.append(ParentView(proposal.design, 0.3))
    return made


@pytest.mark.slow
async def test_children_run_in_the_jail_and_differ_from_their_parents(jail, record_property):
    made = await lineage(300, seed=1)
    failures = []
    for proposal, parents in made:
        keys = {syntax_key(parent.design.source) for parent in parents}
        assert syntax_key(proposal.design.source) not in keys
        try:
            await advice(jail, proposal.design)
        except Exception as error:
            failures.append(f"{proposal.operator}: {error}")
    rate = 1 - len(failures) / len(made)
    record_property("sound", rate)
    print(f"sound children: {rate:.1%}")
    assert rate > 0.97, failures


@pytest.mark.parametrize("name", sorted(OPERATORS))
async def test_every_operator_acts(jail, name):
    """On a design with a whole part and two layers, and with a lender, each finds work."""
    rng = random.Random(0)
    lender = Lender("lender", draw.fresh(rng, {}))
    for _ in range(20):
        genome = parse(library.load("object_places").source)
        genome.parts += [draw.layer(rng, {}), draw.layer(rng, {})]
        before = syntax_key(render(genome, ""))
        change = OPERATORS[name](genome, Surroundings(rng, lenders=(lender,)))
        if change is not None:
            break
    assert change is not None and operator_of(change.label) == name and change.note
    child = render(genome, change.note)
    assert syntax_key(child) != before
    await advice(jail, Design(child))


async def test_random_combinations_run_in_the_jail(jail):
    proposals = [await RandomRecombine().propose(Request(seed=n)) for n in range(60)]
    for proposal in proposals:
        await advice(jail, proposal.design)
    assert len({syntax_key(p.design.source) for p in proposals}) == 60
    sizes = Counter(len(parse(p.design.source).parts) for p in proposals)
    assert set(sizes) == set(range(1, draw.MOST_PARTS + 1))


async def test_each_way_of_remembering_is_tried_by_itself_once():
    history: list[OperatorOutcome] = []
    surveyed = []
    for seed in range(400):
        made = await Recombine().propose(Request(parents=HUMAN[:2], history=history, seed=seed))
        if made.operator.startswith(SURVEY):
            surveyed.append(made.operator)
            assert len(parse(made.design.source).layers) == 1 and not made.parents
        history.append(OperatorOutcome(made.operator, 0.0))
    assert sorted(surveyed) == sorted(f"{SURVEY}({name})" for name in LEADS)
    assert 400 - len(surveyed) > 20  # and then parents are changed
    assert not any(o.operator.startswith(SURVEY) for o in history[200:])


async def test_the_best_by_itself_is_tried_in_other_company():
    first, worse = (
        alone(next(b for b in blocks("think") if b.name == name)) for name in ("VotedWay", "Mapped")
    )
    tried = [Tried(one.design, mean, one.operator) for one, mean in ((worse, 0.2), (first, 0.6))]
    history, found = list(SURVEYED), list[str]()
    for seed in range(400):
        request = Request(parents=HUMAN[:2], history=history, tried=tried, seed=seed)
        made = await Recombine().propose(request)
        history.append(OperatorOutcome(made.operator, 0.0))
        if made.operator.startswith(SURVEY):
            found.append(made.operator)
            assert made.parents == (first.design.id,)
            before, after = (
                parse(design.source).layers[0] for design in (first.design, made.design)
            )
            changed = [
                slot for slot in before.slots if before.slots[slot].name != after.slots[slot].name
            ]
            assert block_of(made.operator) == f"{changed[0]}:{after.slots[changed[0]].name}"
            assert len(changed) == 1
    assert len(found) == len(set(found)) > 10  # each once, and then no more
    assert not any(
        outcome.operator.startswith(SURVEY) for outcome in history[len(SURVEYED) + 200 :]
    )


def by_itself(name: str, rewards: dict[str, float]) -> Tried:
    made = alone(next(b for b in blocks("think") if b.name == name))
    mean = sum(rewards.values()) / len(rewards)
    return Tried(made.design, mean, made.operator, rewards=rewards)


async def put_together(tried: list[Tried], proposals: int = 200) -> list[Proposal]:
    """What is put together of these, in the order in which it is proposed."""
    history, found = list(SURVEYED), []
    for seed in range(proposals):
        request = Request(parents=HUMAN[:2], history=history, tried=tried, seed=seed)
        made = await Recombine().propose(request)
        history.append(OperatorOutcome(made.operator, 0.0))
        if made.operator.startswith(TOGETHER):
            found.append(made)
    return found


def winning(*tasks: int, of: int = 30) -> dict[str, float]:
    return {str(task): float(task in tasks) for task in range(of)}


NOTHING = Tried(library.load("no_memory"), 0.0, "human", True, winning(0))


async def test_parts_that_gain_in_different_tasks_are_put_together(jail):
    first, second, same = (
        by_itself("VotedWay", winning(0, *range(10, 20))),
        by_itself("NotYetTried", winning(0, *range(20, 28))),
        by_itself("Mapped", winning(0, *range(10, 18))),
    )
    made = await put_together([NOTHING, first, same, second])
    sets = {frozenset(one.parents) for one in made}
    assert frozenset((first.design.id, second.design.id)) in sets
    assert frozenset((first.design.id, same.design.id)) not in sets
    assert len({one.operator for one in made}) == len(made)  # each way once, and then no more
    for one in made:
        genome = parse(one.design.source)
        assert len(genome.layers) == len(one.parents)
        await advice(jail, one.design)
    speakers = {(parse(one.design.source).combine.name, one.parents) for one in made}
    both = first.design.id, second.design.id
    assert {("FirstThatKnows", both), ("FirstThatKnows", both[::-1])} <= speakers


async def test_where_nothing_gains_beside_the_best_nothing_is_put_together():
    idle = by_itself("Mapped", dict(NOTHING.rewards))
    best = by_itself("VotedWay", winning(0, 1, 2))
    worse = by_itself("NotYetTried", winning(5))  # loses as much as it gains
    assert await put_together([NOTHING, idle, best, worse]) == []
    assert await put_together([best, worse]) == []  # what no memory does is not known


@pytest.mark.slow
async def test_the_same_request_gives_the_same_proposal():
    again = [p.design.id for p, _ in await lineage(20, seed=3)]
    assert [p.design.id for p, _ in await lineage(20, seed=3)] == again
    others = [p.design.id for p, _ in await lineage(20, seed=4)]
    assert len(set(again) & set(others)) <= 2  # a small change of a human design can come twice


@pytest.mark.slow
async def test_a_child_says_what_changed_and_whose_it_is():
    for proposal, parents in await lineage(40, seed=5):
        told = " ".join((ast.get_docstring(ast.parse(proposal.design.source)) or "").split())
        assert f"What changed: {proposal.note}" in told
        assert proposal.note.count(". ") >= 1  # what, and why
        for identifier in proposal.parents:
            assert identifier in told
        if proposal.operator == FRESH:
            assert proposal.parents == ()
        else:
            assert proposal.parents[0] == parents[0].design.id
            assert set(proposal.parents) <= {p.design.id for p in parents}


@pytest.mark.slow
async def test_children_read_back_as_what_they_were_made_of():
    for proposal, _ in await lineage(60, seed=6):
        genome = parse(proposal.design.source)
        assert genome.layers or all(isinstance(p, WholeGene) for p in genome.parts)
        assert 1 <= len(genome.parts) <= draw.MOST_PARTS
        assert syntax_key(render(genome, "")) == syntax_key(proposal.design.source)
        for layer in genome.layers:
            assert tuple(layer.slots) == layer.family.slots
            for name, value in layer.constants.items():
                assert BOUNDS[name][0] <= value <= BOUNDS[name][1]


async def test_a_human_design_becomes_a_part_and_speaks(jail):
    places = ParentView(library.load("object_places"), 0.4)
    (own, *_) = await advice(jail, places.design)
    speaking = 0
    for seed in range(30):
        proposal = await Recombine().propose(Request(parents=[places], seed=seed, history=SURVEYED))
        (told, *_) = await advice(jail, proposal.design)
        genome = parse(proposal.design.source)
        if len(genome.parts) > 1 and any(p.name == "ObjectPlaces" for p in genome.parts):
            speaking += own.split("\n")[-1] in told
    assert speaking >= 5


async def test_human_designs_written_in_blocks_say_much_the_same(jail):
    assert {*RECASTS} <= set(library.names())  # others are taken as they are
    for name, recast in RECASTS.items():
        together = from_block(blocks(COMBINE)[0])
        made = Design(render(Genome([recast.layer()], together), name))
        assert parse(made.source).layers[0].alike(recast.layer())
        told, own = await advice(jail, made), await advice(jail, library.load(name))
        shared = set(text.words(told[0])) & set(text.words(own[0]))
        assert len(shared) >= 3, name
    places = [line for line in own[0].split("\n") if line.startswith("lantern")]
    assert places and places[0] in told[0]


FOREIGN = '''
import math
from metamem.designs import Experience, Memory, Query

LIMIT = 2

def shorten(lines):
    return lines[: math.floor(LIMIT)]

class Part:
    SIZE = 4

class Recombined(Memory):
    """Someone else's memory, with names that recombination uses too."""

    async def retrieve(self, query: Query) -> dict:
        return {"goals": shorten(getattr(self, "goals", [])), "size": Part.SIZE}

    async def update(self, experience: Experience) -> None:
        self.goals = [*getattr(self, "goals", []), experience.goal]
'''


async def test_any_design_can_be_a_parent(jail):
    foreign = ParentView(Design(FOREIGN), 0.5)
    parents = [foreign, ParentView(library.load("object_places"), 0.4)]
    spoke = 0
    for seed in range(15):
        proposal = await Recombine().propose(Request(parents=parents, seed=seed, history=SURVEYED))
        told = await advice(jail, proposal.design)
        spoke += '"goals"' in told[0]
        again = ParentView(proposal.design, 0.5)
        child = await Recombine().propose(
            Request(parents=[again, foreign], seed=seed, history=SURVEYED)
        )
        await advice(jail, child.design)
    assert spoke >= 5


async def test_a_child_of_no_memory_does_not_carry_it_along():
    nothing = ParentView(library.load("no_memory"), 0.1)
    for seed in range(20):
        proposal = await Recombine().propose(
            Request(parents=[nothing, nothing], seed=seed, history=SURVEYED)
        )
        parts = parse(proposal.design.source).parts
        assert parts and all(part.name != "NoMemory" for part in parts)
        assert proposal.operator == FRESH or proposal.parents == (nothing.design.id,)


async def test_from_nothing_and_from_a_broken_parent(jail):
    fresh = await Recombine().propose(Request(seed=1, history=SURVEYED))
    assert fresh.operator == FRESH and fresh.parents == ()
    await advice(jail, fresh.design)
    broken = [ParentView(Design("class :"), 0.0), ParentView(Design("x = 1"), 0.0)]
    assert (
        await Recombine().propose(Request(parents=broken, seed=1, history=SURVEYED))
    ).parents == ()


async def test_a_repair_is_another_smaller_attempt():
    parents = HUMAN[:2]
    for seed in range(20):
        first = await Recombine().propose(Request(parents=parents, seed=seed, history=SURVEYED))
        failed = FailedAttempt(first.design.source, "NameError: name 'x' is not defined")
        request = Request(parents=parents, seed=seed, history=SURVEYED, failed_attempt=failed)
        second = await Recombine().propose(request)
        assert syntax_key(second.design.source) != syntax_key(first.design.source)
        assert credit.SEPARATOR not in second.operator
        assert second == await Recombine().propose(request)
    unreadable = FailedAttempt("class :", "SyntaxError")
    await Recombine().propose(Request(parents=parents, failed_attempt=unreadable))


async def test_random_search_is_blind():
    history = [OperatorOutcome("replace key(Pattern)", 0.5)] * 50
    seeing = Request(parents=HUMAN, history=history, seed=7, domain_description="a farm")
    blind = await RandomRecombine().propose(Request(seed=7))
    assert (await RandomRecombine().propose(seeing)).design == blind.design
    assert blind.parents == ()


# --- credit and guidance ---------------------------------------------------------------------


NOTHING_KNOWN = Evidence()


def odds(history=(), evidence=NOTHING_KNOWN) -> dict[str, float]:
    weights = operator_odds(Request(history=history), guidance.symptoms(evidence))
    total = sum(weights.values())
    return {name: weight / total for name, weight in weights.items()}


def outcomes(seed: int, planted: str = "") -> list[OperatorOutcome]:
    rng = random.Random(seed)
    history = []
    for _ in range(20):
        for name in OPERATORS:
            gain = rng.gauss(0.15 if name == planted else -0.02, 0.05)
            history.append(OperatorOutcome(name, gain if rng.random() > 0.2 else None))
    return history


@pytest.mark.parametrize("seed", range(5))
def test_credit_goes_to_a_planted_better_operator(seed):
    before, after = odds(), odds(outcomes(seed, planted="borrow"))
    assert after["borrow"] > 3 * before["borrow"]
    assert after["borrow"] == max(after.values())


@pytest.mark.parametrize("seed", range(5))
def test_credit_stays_about_even_on_noise(seed):
    earned = credit.weights(outcomes(seed), operator_of).values()
    assert max(earned) < 5 * min(earned)
    assert max(earned) < 2.5


def test_recent_outcomes_count_more_than_old_ones():
    good_then_bad = {"cross": (0.2, 0.0), "borrow": (0.0, 0.2)}
    history = []
    for half in (0, 1):
        for _ in range(30):
            history += [OperatorOutcome(name, g[half]) for name, g in good_then_bad.items()]
    assert odds(history)["borrow"] > odds(history)["cross"]


def test_rejections_lower_the_credit_and_no_operator_dies():
    history = [OperatorOutcome("join match(Same)", None), OperatorOutcome("cross", 0.1)] * 200
    weights = credit.weights(history, operator_of)
    assert weights["join"] == credit.LEAST > 0
    assert weights["cross"] > 1


def test_blocks_earn_credit_too():
    history = []
    for _ in range(20):
        history.append(OperatorOutcome("replace key(Pattern) + reorder", 0.2))
        history.append(OperatorOutcome("replace key(Stems)", -0.1))
    weights = credit.weights(history, block_of)
    assert weights["key:Pattern"] > 1 > weights["key:Stems"]
    rng = random.Random(0)
    drawn = Counter(draw.block(rng, "key", weights).name for _ in range(400))
    assert drawn["Pattern"] > drawn["Stems"]


def test_credit_without_any_gain_is_even():
    assert credit.weights([OperatorOutcome("cross", -0.1)] * 9, operator_of) == {}
    assert credit.weights([], operator_of) == {}


CURES = {
    "empty": ("replace ask", "replace key", "replace match", "join"),
    "ignored": ("replace keep", "replace adapt", "replace phrase"),
    "hurt": ("replace match", "replace prefer", "drop layer"),
    "vain": ("replace keep", "add layer"),
    "truncated": ("replace trim", "replace form", "drop layer"),
    "errors": ("drop layer", "fresh"),
    "repeated": ("add layer", "cross"),
}


@pytest.mark.parametrize("symptom", sorted(CURES))
def test_evidence_leads_to_operators_that_can_help(symptom):
    seen = odds(evidence=Evidence(cases=50, **{symptom: 1.0}))
    for operator in CURES[symptom]:
        assert seen[operator] > 1.3 * odds()[operator]
    strongest = guidance.symptoms(Evidence(cases=50, **{symptom: 1.0}))[0]
    assert set(CURES[symptom]) <= set(strongest.cures)


@pytest.mark.slow
async def test_empty_retrievals_change_what_is_proposed():
    async def share(evidence: Evidence) -> float:
        parent = ParentView(
            (await Recombine().propose(Request(seed=9, history=SURVEYED))).design, 0.3, evidence
        )
        hits = 0
        for seed in range(80):
            proposal = await Recombine().propose(
                Request(parents=[parent], seed=seed, history=SURVEYED)
            )
            labels = proposal.operator.split(credit.SEPARATOR)
            hits += any(operator_of(label) in CURES["empty"] for label in labels)
        return hits / 80

    assert await share(ASKED_FOR_MORE) > 1.4 * await share(Evidence(cases=50, mean_reward=1.0))


async def test_the_reason_names_the_evidence():
    parent = replace(HUMAN[0], evidence=ASKED_FOR_MORE)
    notes = [
        (await Recombine().propose(Request([parent], SURVEYED, seed=n))).note for n in range(20)
    ]
    assert any("nothing to say in 100% of the cases" in note for note in notes)


def test_no_evidence_favours_nothing():
    assert guidance.symptoms(Evidence()) == []
    base = [weight / BASE.get(name, 1.0) for name, weight in odds().items()]
    assert max(base) == pytest.approx(min(base))


@given(st.sampled_from(sorted(BOUNDS)), st.integers(0, 10_000), st.data())
def test_constants_stay_typed_and_within_bounds(name, seed, data):
    low, high = BOUNDS[name]
    numbers = st.integers if isinstance(high, int) else st.floats
    value = data.draw(numbers(low, high))
    moved = draw.moved(random.Random(seed), name, value)
    assert type(moved) is type(value)
    assert low <= moved <= high


@given(st.integers(1, 500) | st.floats(0, 50), st.integers(0, 1000))
def test_constants_of_other_designs_stay_sensible(value, seed):
    moved = draw.moved(random.Random(seed), "UNHEARD_OF", value)
    assert type(moved) is type(value)
    assert moved >= (1 if isinstance(value, int) else 0)
    if isinstance(value, float) and value <= 1:
        assert moved <= 1


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.base)
def test_layers_of_every_family_have_every_slot_and_read_back(family):
    layer = draw.layer(random.Random(0), {}, family)
    assert tuple(layer.slots) == family.slots
    source = render(Genome([layer], from_block(blocks(COMBINE)[0])), "A test.")
    (again,) = parse(source).layers
    assert isinstance(again, LayerGene)
    assert {s: g.names for s, g in again.slots.items()} == {
        s: g.names for s, g in layer.slots.items()
    }
    assert again.constants == layer.constants


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.base)
def test_every_block_of_every_family_is_drawn(family):
    rng = random.Random(0)
    drawn = {
        (slot, name)
        for _ in range(400)
        for slot, gene in draw.layer(rng, {}, family).slots.items()
        for name in gene.names
    }
    assert drawn == {(slot, block.name) for slot in family.slots for block in blocks(slot)}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.base)
async def test_layers_of_every_family_run_in_the_jail(jail, family):
    rng = random.Random(1)
    for _ in range(3):
        genome = Genome([draw.layer(rng, {}, family)], from_block(blocks(COMBINE)[0]))
        await advice(jail, Design(render(genome, "A test.")))
