"""Live comparisons: chance by session, what is logged of it, and what it takes to say "better"."""

import random
from collections import Counter

import pytest

from metamem.core.errors import UnknownName, UsageError
from metamem.core.types import Query
from metamem.service.database import new_id
from metamem.service.designs import comparing, trials
from metamem.service.designs.approving import live_evidence
from metamem.service.designs.trials import Choice, chosen
from metamem.service.designs.words import Comparison, Trial
from metamem.store.engine import Value
from metamem.store.records import PromotionRecord, Subject
from metamem.store.sql.base import insert
from tests.service.designs.parts import MEMBER, NAME, PLACE, A, B, Home, lived, serving

TRIAL = Trial("c1", A.id, 0.3)


def test_a_session_is_always_on_the_same_side_and_shares_come_out() -> None:
    drawn = [chosen(TRIAL, "", f"s{n}") for n in range(4000)]
    assert drawn == [chosen(TRIAL, "", f"s{n}") for n in range(4000)]
    held = sum(choice.held_back for choice in drawn)
    assert 0.27 < held / 4000 < 0.33
    assert {c.propensity for c in drawn if c.held_back} == {0.3}
    assert {c.propensity for c in drawn if not c.held_back} == {0.7}
    other = [chosen(Trial("c2", A.id, 0.3), "", f"s{n}").held_back for n in range(4000)]
    both = sum(a.held_back and b for a, b in zip(drawn, other, strict=True))
    assert 0.07 < both / 4000 < 0.11  # another comparison draws anew


def test_without_a_comparison_nobody_is_held_back() -> None:
    assert chosen(Trial(), A.id, "s") == Choice(A.id)


def filled(home: Home, trial: Trial, gain: float, sessions: int, seed: int = 0) -> None:
    rng = random.Random(seed)
    with home.service.database.writing() as execute:
        for n in range(sessions):
            choice = chosen(trial, "", f"s{n}")
            p = 0.4 if choice.held_back else 0.4 + gain
            for _ in range(2):
                row: dict[str, Value] = {
                    "id": new_id("m"),
                    "scope": home.number,
                    "event": 1,
                    "at": 1,
                    "who": "ada",
                }
                row |= {"session": f"s{n}", "comparison": trial.id, "design": choice.design}
                row |= {"held_back": choice.held_back, "propensity": choice.propensity}
                insert(execute, "moments", {**row, "outcome": float(rng.random() < p)})


def compared(home: Home, trial: Trial) -> Comparison:
    with home.service.database.reading() as execute:
        return comparing.comparison(execute, home.number, NAME, trial)


def test_a_planted_gain_is_found_and_few_sessions_are_not_enough(home: Home) -> None:
    filled(home, TRIAL, 0.4, 30)
    few = compared(home, TRIAL)
    assert few.verdict == "not enough data yet"
    assert few.difference is None
    filled(home, Trial("c3", A.id, 0.5), 0.4, 200)
    many = compared(home, Trial("c3", A.id, 0.5))
    assert many.verdict == "better"
    assert many.interval is not None and 0 < many.interval[0] < 0.4 < many.interval[1]
    assert many.given.sessions + many.held_back.sessions == 200
    assert many.detectable is not None and 0 < many.detectable < 0.4


@pytest.mark.parametrize("often", [0.02, 0.5, 0.9])
def test_looking_every_day_finds_nothing_where_nothing_is(often: float) -> None:
    """Five looks in each of 200 comparisons of nothing with nothing, at a level of 5 %."""
    fooled = 0
    for seed in range(200):
        rng = random.Random(seed)
        given: list[float] = []
        held: list[float] = []
        for _ in range(5):
            for _ in range(30):
                given.append(float(rng.random() < often))
                held.append(float(rng.random() < often))
            if comparing.judged(given, held).verdict != "no difference shown":
                fooled += 1
                break
    assert fooled <= 10


@pytest.mark.parametrize("wins", [0, 1, 2])
def test_an_interval_stays_within_what_is_possible(wins: int) -> None:
    given, held = [1.0] * wins + [0.0] * (103 - wins), [1.0] * 101
    found = comparing.judged(given, held)
    assert found.verdict == "worse" and -1.0 <= found.interval[0] <= found.difference
    assert found.difference < found.interval[1] < 0.0 and found.detectable <= 1.0
    assert comparing.judged(held, given).interval == pytest.approx(
        (-found.interval[1], -found.interval[0])
    )
    for side in (given, held):
        side_of = comparing.arm(side, len(side)).interval
        assert side_of is not None and 0.0 <= side_of[0] < side_of[1] <= 1.0
    # Rewards beyond 1 are no shares: the control.
    assert comparing.judged([9.0] * 30, [1.0, 0.0] * 15).difference == 8.5


def test_all_alike_is_no_certainty(home: Home) -> None:
    filled(home, Trial("c4", A.id, 0.5), 0.6, 42)
    found = compared(home, Trial("c4", A.id, 0.5))
    assert found.interval is None or found.interval[0] < found.interval[1]


async def test_a_comparison_serves_both_sides_and_logs_how_likely_each_was(home: Home) -> None:
    home.propose(A)
    async with serving(home) as served:
        with pytest.raises(UnknownName):
            await served.compare(MEMBER, NAME, B.id)
        with pytest.raises(UsageError):
            await served.compare(MEMBER, NAME, A.id, share=1.0)
        with pytest.raises(UsageError, match="former"):
            await served.compare(MEMBER, NAME, A.id, against="former")
        assert (await served.advise(MEMBER, NAME, Query("x"))).text == ""  # it waits
        trial = await served.compare(MEMBER, NAME, A.id, share=0.5)
        sides: Counter[bool] = Counter()
        for n in range(12):
            asked = await served.advise(MEMBER, NAME, Query("x"), session=f"s{n}")
            again = await served.advise(MEMBER, NAME, Query("x"), session=f"s{n}")
            assert asked.held_back == again.held_back
            assert bool(asked.text) == (not asked.held_back)
            sides[asked.held_back] += 1
            await served.experience(
                MEMBER, NAME, lived("x", float(not asked.held_back)), moment=asked.moment
            )
        assert len(sides) == 2
        found = (await served.standing(MEMBER, NAME)).comparison
        assert found.trial == trial
        assert (found.given.sessions, found.held_back.sessions) == (sides[False], sides[True])
        assert (found.given.mean, found.held_back.mean) == (1.0, 0.0)
        assert found.verdict == "not enough data yet"
        logged = home.rows("SELECT DISTINCT propensity FROM moments WHERE comparison <> ''")
        assert logged == [(0.5,)]
        assert await served.end_comparison(MEMBER, NAME)
        assert not (await served.advise(MEMBER, NAME, Query("x"), session="s0")).held_back


async def test_the_former_design_can_be_what_is_compared_with(home: Home) -> None:
    home.put_to_use(A)
    home.propose(B)
    async with serving(home) as served:
        await served.compare(MEMBER, NAME, B.id, share=0.5, against="former")
        told = set()
        for n in range(12):
            asked = await served.advise(MEMBER, NAME, Query("x"), session=f"s{n}")
            told.add((asked.held_back, asked.text))
        assert told == {(True, "A:"), (False, "B:")}
        home.ledger.reject(Subject("design", B.id), PLACE, by="ada", reason="no")
        asked = await served.advise(MEMBER, NAME, Query("x"), session="s0")
        assert (asked.text, asked.held_back) == ("A:", False)


def test_a_design_is_approved_for_a_scope_by_its_comparison_or_with_a_reason(home: Home) -> None:
    home.propose(A)
    subject = Subject("design", A.id)

    def approved(of: Subject) -> PromotionRecord:
        evidence = live_evidence(home.service.folder, PLACE)
        return home.ledger.approve(of, PLACE, by="ada", evidence=evidence)

    with pytest.raises(UsageError, match="there is none of it"):
        home.ledger.approve(subject, PLACE, by="ada")
    with pytest.raises(UsageError, match="there is none of it"):
        approved(subject)
    filled(home, begun(home), 0.0, 100)
    with pytest.raises(UsageError, match="no difference shown"):
        approved(subject)
    filled(home, begun(home), 0.4, 200)
    assert approved(subject).evidence["comparison"]["verdict"] == "better"
    home.propose(B)
    other = Subject("design", B.id)
    with pytest.raises(UsageError, match="there is none of it"):  # it is another design's
        approved(other)
    why = {"without_comparison": "nobody else asks"}
    home.ledger.approve(other, PLACE, by="ada", evidence=why)
    assert home.ledger.standing(other, PLACE).in_use is not None


def begun(home: Home) -> Trial:
    with home.service.database.writing() as execute:
        return trials.begin(execute, home.number, A.id, share=0.5, against="nothing", former="")
