"""An effect that is there is found, one that is not is not, and what is not known yet is said to be so."""

import random

import pytest

from metamem.core.errors import UsageError
from metamem.evaluation.statistics.binomial import binomial_lower_bound, binomial_tail
from metamem.foundry.failures import store
from metamem.foundry.failures.effect import QUIET, WITHIN, Effect, draw, effect, moment_of, settle
from metamem.foundry.failures.suggest import at_start, before_retry
from metamem.foundry.failures.taking import standing
from metamem.service.database import Database
from metamem.store.engine import Execute

from .made import MISSING, run, trace

FAILED = run("pytest -q", MISSING, 127)
WORKED = run("uv run pytest -q", "3 passed")
ASIDE = [run("git status", "clean")] * WITHIN
SEEDS = 40
SESSIONS = 160


def live(execute: Execute, scope: int, seed: int, alone: float, helped: float) -> Effect:
    """A stream of sessions that meet one failure and resolve it with some chance."""
    chance = random.Random(seed)
    for session in "ab":
        store.keep(execute, scope, trace(session, FAILED, WORKED))
    for number in range(SESSIONS):
        session = f"{seed}/{number}"
        begun = trace(session, FAILED, at=number)
        shown = before_retry(execute, scope, session, begun.uses[0], at=number).text
        resolves = chance.random() < (helped if shown else alone)
        went_on = trace(session, FAILED, *([WORKED] if resolves else ASIDE), at=number)
        settle(execute, scope, went_on, number)
    return effect(execute, scope)


def test_a_planted_effect_is_found(database: Database) -> None:
    with database.writing() as execute:
        found = [live(execute, seed, seed, 0.4, 0.85) for seed in range(1, SEEDS + 1)]
    hits = sum(each.verdict == "better" for each in found)
    assert binomial_lower_bound(hits, SEEDS, 0.01) > 0.75
    covered = sum(e.interval is not None and e.interval[0] <= 0.45 <= e.interval[1] for e in found)
    assert binomial_lower_bound(covered, SEEDS, 0.01) > 0.8
    assert all(each.detectable is not None and each.detectable < 0.45 for each in found)


def test_no_effect_is_not_found(database: Database) -> None:
    with database.writing() as execute:
        found = [live(execute, seed, seed, 0.5, 0.5) for seed in range(1, SEEDS + 1)]
    wrong = sum(each.verdict != "no difference shown" for each in found)
    assert binomial_tail(wrong, SEEDS, 0.05) > 0.01  # no more than chance allows


def test_harm_is_found_and_told_no_more(database: Database) -> None:
    with database.writing() as execute:
        assert live(execute, 1, 7, 0.95, 0.1).verdict == "worse"
        assert before_retry(execute, 1, "new", FAILED, at=1).side == "nothing"


@pytest.mark.parametrize("helps", [True, False])
def test_what_was_measured_at_the_start_counts_there(database: Database, helps: bool) -> None:
    goal = "test the invoice parser"
    with database.writing() as execute:
        for session in "abc":
            store.keep(execute, 1, trace(session, FAILED, WORKED, goal=goal))
        for number in range(80):
            session = f"s{number}"
            side = at_start(execute, 1, session, goal, at=1).side
            spared = (side == "shown") is helps
            uses = [WORKED] if spared else [FAILED, WORKED]
            settle(execute, 1, trace(session, *uses, ended=True), now=5)
            if effect(execute, 1, place="start").verdict == "worse":
                break
        found = effect(execute, 1, place="start")
        assert found.verdict == ("better" if helps else "worse")
        later = [at_start(execute, 1, f"later{n}", goal, at=9) for n in range(20)]
        assert all((each.side != "nothing") is helps for each in later)
        assert all(("measured +" in each.text) is helps for each in later if each.text)
        # Before a retry nothing was measured: it is told there, and nothing is said to be proven.
        retry = before_retry(execute, 1, "new", FAILED, at=9, share=1e-9).text
        assert "uv run pytest -q" in retry and "measured" not in retry


def test_another_resolution_than_the_drawn_one_is_not_told_in_its_place(database: Database) -> None:
    goal = "test the invoice parser"
    with database.writing() as execute:
        for session in "ab":
            store.keep(execute, 1, trace(session, FAILED, WORKED, goal=goal))
        first = at_start(execute, 1, "now", goal, at=1, share=1e-9)
        for session in "cdef":  # by now another one is better known
            store.keep(execute, 1, trace(session, FAILED, run("tox -e pytest", "ok"), goal=goal))
        assert before_retry(execute, 1, "now", FAILED, at=2, share=1e-9).shown == first.shown
        assert "tox" in before_retry(execute, 1, "new", FAILED, at=2, share=1e-9).text


def test_too_little_is_said_to_be_so(database: Database) -> None:
    with database.writing() as execute:
        store.keep(execute, 1, trace("a", FAILED, WORKED))
        for number in range(12):
            begun = trace(f"s{number}", FAILED)
            before_retry(execute, 1, begun.session, begun.uses[0], at=1)
        found = effect(execute, 1)
        assert (found.verdict, found.waiting, found.difference) == ("not enough data yet", 12, None)
        assert "20 on each side" in found.text and "session" in found.unit
        assert found.shown.asked + found.withheld.asked == 12


def test_what_came_of_a_retry(database: Database) -> None:
    late = [*ASIDE, WORKED]
    cases = {
        "resolved": ([FAILED, WORKED], False, (1.0, False)),
        "again": ([FAILED, FAILED, WORKED], False, (1.0, True)),
        "late": ([FAILED, *late], False, (0.0, False)),
        "ended": ([FAILED, ASIDE[0]], True, (0.0, False)),
        "open": ([FAILED, ASIDE[0]], False, (None, None)),
    }
    with database.writing() as execute:
        for session, (uses, ended, became) in cases.items():
            told = trace(session, *uses, ended=ended)
            named = store.link(told)[0].signature.id
            draw(execute, 1, session, named, "r", place="retry", at=1, use="0")
            settle(execute, 1, told, now=10)
            found = moment_of(execute, 1, session, named)
            assert found is not None and (found.outcome, found.repeated) == became
        told = trace("open", FAILED, ASIDE[0])
        assert settle(execute, 1, told, now=10 + 2 * QUIET) == 1  # it is over by now
        assert settle(execute, 1, told, now=10 + 2 * QUIET) == 0


def test_what_came_of_a_start(database: Database) -> None:
    goal = "test the invoice parser"
    with database.writing() as execute:
        for session in "abc":
            store.keep(execute, 1, trace(session, FAILED, WORKED, goal=goal))
        for session, uses in (("met", [FAILED]), ("spared", [WORKED])):
            assert at_start(execute, 1, session, goal, at=1).side != "nothing"
            settle(execute, 1, trace(session, *uses, ended=True), now=5)
        rows = execute("SELECT session, place, outcome FROM suggestion_moments ORDER BY session")
        assert rows == [("met", "start", 0.0), ("spared", "start", 1.0)]
        assert effect(execute, 1).shown.asked == 0  # retries are measured apart
        started = effect(execute, 1, place="start")
        assert started.shown.asked + started.withheld.asked == 2


def test_other_shares_are_not_mixed_and_must_leave_both_sides(database: Database) -> None:
    with database.writing() as execute:
        draw(execute, 1, "s", "x", "r", place="retry", at=1, share=0.2)
        assert effect(execute, 1).waiting == 0 and effect(execute, 1, share=0.2).waiting == 1
        for share in (0.0, 1.0):
            with pytest.raises(UsageError, match="between 0 and 1"):
                draw(execute, 1, "t", "x", "r", place="retry", at=1, share=share)


def test_it_is_said_when_nothing_is_ever_suggested(database: Database) -> None:
    with database.writing() as execute:
        store.keep(execute, 1, trace("a", FAILED, WORKED))
        assert standing(execute, 1).warning == ""
        for number in range(12):
            store.keep(execute, 1, trace(f"s{number}", FAILED, at=100 + number))
        found = standing(execute, 1)
        assert (found.chances, found.missed, found.moments) == (12, 12, 0)
        assert "hooks" in found.warning
        for number in range(12):
            before_retry(execute, 1, f"s{number}", FAILED, at=200)
        found = standing(execute, 1)
        assert (found.missed, found.moments, found.warning) == (0, 12, "")
        assert found.shown + found.withheld + found.late == 12
        execute("UPDATE suggestion_moments SET times = 0")  # none was handed on in time
        late = standing(execute, 1)
        assert (late.shown, late.withheld, late.late) == (0, found.withheld, found.shown)
        execute("UPDATE suggestion_moments SET times = 1 WHERE withheld = 0")
        for number in range(12, 40):
            before_retry(execute, 1, f"s{number}", FAILED, at=200)
        assert "no outcome" in standing(execute, 1).warning
