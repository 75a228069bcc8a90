"""Is it remembered or built in? What does not live by experience is not promoted as a memory."""

import random

import pytest

import metamem
from metamem.api import LearnResult, open_home
from metamem.core.errors import UsageError
from metamem.core.types import Design
from metamem.domains.toy import DOORS, THINGS, ToyDomain
from metamem.evaluation.jobs import Spec
from metamem.report.headline import headline
from metamem.runs.attribution import attributions
from metamem.runs.summary import Summary
from metamem.search.proposer import Proposal, Request
from tests.evaluation.test_scrambling import SEEN

INLINE = Spec("inline")
KNOWN = '''
from metamem.designs import Memory

DOORS = {doors!r}


class Known(Memory):
    """Where everything is; it was never told."""

    async def retrieve(self, query):
        thing = query.goal.split()[-1]
        return f"1. open the {{DOORS[thing]}} door\\n2. take the {{thing}}"

    async def update(self, experience):
        pass
'''
SMALL = {
    "designs": 1,
    "confirm": 1,
    "confirm_seeds": 0,
    "shortlist": 1,
    "final_repeats": 1,
    "control": False,
    "explain": False,
}


def built_in() -> Design:
    """The toy domain's own arrangement, written into the code."""
    houses = [dict(task.data) for task in ToyDomain(noise=0).tasks("train")]
    return Design(KNOWN.format(doors={t: d for h in houses for d, t in h.items() if t in THINGS}))


class Anywhere(ToyDomain):
    """Every task has an arrangement of its own: nothing can be remembered."""

    name = "anywhere"

    def _house(self, thing, rng: random.Random, split):
        doors = rng.sample(DOORS, len(THINGS))
        place = dict(zip(doors, THINGS, strict=True))
        return {door: place.get(door, "dust") for door in DOORS}


class Writer:
    """Always writes the same design."""

    def __init__(self, remembers: bool = True) -> None:
        self.design = SEEN if remembers else built_in()

    async def propose(self, request: Request) -> Proposal:
        return Proposal(self.design, (request.parents[0].design.id,), "written", "as always")


def learned(home, remembers, domain="toy", **settings) -> LearnResult:
    writer = Spec("tests.runs.test_attribution:Writer", {"remembers": remembers})
    return metamem.learn(
        domain, home=home, executor=INLINE, proposer=writer, **{**SMALL, **settings}
    )


def test_a_solution_that_is_built_in_is_refused_with_that_reason(tmp_path):
    result = learned(tmp_path, remembers=False)
    decision = result.summary.decision
    assert decision.comparisons[0].passed  # by what it gains alone
    assert not result.promoted
    assert "not promoted" in decision.reason
    assert "not proven to depend on experience" in decision.reason
    with open_home(tmp_path) as archive:
        (entry,) = archive.promotions(result.run_id)
    assert (entry.decision, entry.reason) == ("refused", decision.reason)
    assert "not by what it remembers" in headline("finished", result.summary).title
    assert Summary.from_json(result.summary.to_json()) == result.summary
    test = attributions(result.summary)[0]
    assert test.gain > 0.4
    assert test.remembered == 0.0
    assert test.built_in == test.gain


def test_it_can_be_allowed_and_the_decision_still_says_so(tmp_path):
    result = learned(tmp_path, remembers=False, allow_built_in=True)
    assert result.promoted
    assert "not proven to depend on experience" in result.summary.decision.reason


def test_what_truly_remembers_passes_and_its_gain_is_said_to_be_remembered(tmp_path):
    result = learned(tmp_path, remembers=True)
    assert result.promoted
    test, shift = attributions(result.summary)
    assert (test.split, shift.split) == ("test", "shift")
    assert test.built_in == pytest.approx(0.0)
    assert test.remembered > 0.4
    assert test.low > 0.0
    assert test.scrambled < test.gain
    assert "are remembered" in test.told(result.summary.scale)
    row = result.summary.row("test", "learned, no experience")
    assert (row.lacks, row.design) == ("experience", result.learned.id)
    assert row.mean == result.summary.row("test", "no_memory").mean


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_where_nothing_can_be_remembered_nothing_is_promoted(tmp_path, seed):
    result = learned(
        tmp_path, True, "tests.runs.test_attribution:Anywhere", seed=seed, agent=Spec("reader")
    )
    assert not result.promoted
    for found in attributions(result.summary):
        assert found.low <= 0.0


def test_parameters_know_nothing_of_it(tmp_path):
    result = metamem.learn("dials", home=tmp_path, executor=INLINE, designs=4, control=False)
    assert attributions(result.summary) == []
    assert not any(row.lacks for row in result.summary.tables["test"])
    with pytest.raises(UsageError, match="live by no experience"):
        metamem.learn("dials", home=tmp_path, executor=INLINE, designs=4, allow_built_in=True)
