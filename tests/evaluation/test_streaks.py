"""Designs that fail many times in a row, late: stopped, and the rows do not depend on how."""

import asyncio
from dataclasses import replace

import pytest

from metamem.core.types import Case, CaseResult
from metamem.designs.library import load
from metamem.evaluation.jobs import Spec
from metamem.evaluation.probation import why_stopped
from metamem.evaluation.racing import Race, RacePlan
from metamem.evaluation.rules import Rules
from metamem.evaluation.streaks import Streaks
from tests.evaluation.test_evaluator import evaluating
from tests.evaluation.test_probation import MANY, QUICK, WAYS, design

LOCAL = Spec("local", {"workers": 2})
HALF = Rules(tasks=20, collect=2)
CHAIN = Rules(rollout="streaming", repeats=2, collect=2, tasks=20)


def late(what: str = "1 / 0"):
    """Has advice for three of eight kinds of things, the first that is asked for among them."""
    kinds = "('lantern', 'whistle', 'feather')"
    return design(f"return '' if query.goal.split()[-1] in {kinds} else {what}")


def tiring(what: str):
    """Answers ten times where its state lives on, and never again."""
    return design(
        "self.n = getattr(self, 'n', 0) + 1\n"
        f"        if self.n > 10:\n            {what}\n        return ''"
    )


def against(evaluator, seed=1):
    """A race that nobody loses, since the reference never succeeds."""
    tasks = [t.id for t in evaluator.plan("valid").deployment]
    return Race(RacePlan.build(tasks, seed=seed), dict.fromkeys(tasks, 0.0))


async def rows_of(home, what, *, race=False, **changes):
    async with evaluating(home, **({"rules": MANY} | changes)) as evaluator:
        with_race = against(evaluator) if race else None
        done = await evaluator.evaluate(what, "valid", purpose="test", race=with_race)
        assert done.evaluation.complete
        return done.evaluation.rows


@pytest.mark.parametrize("race", [False, True])
async def test_rows_of_what_is_stopped_late_do_not_depend_on_how_it_is_played(tmp_path, race):
    plain = await rows_of(tmp_path / "plain", late(), race=race)
    assert any(not row.failure for row in plain)
    assert why_stopped(plain).startswith("stopped after 6 failures in a row, the last: crash")
    for number, way in enumerate(("two workers", "episodes at once")):
        other = await rows_of(tmp_path / f"{number}", late(), race=race, **WAYS[way])
        assert other == plain


async def test_hangs_that_begin_late_are_cut_short(tmp_path):
    hanging = late("time.sleep(100)")
    plain = await rows_of(tmp_path / "a", hanging, limits=QUICK)
    assert any(not row.failure for row in plain)
    assert why_stopped(plain).startswith("stopped after 3 failures in a row, the last: wall")
    assert await rows_of(tmp_path / "b", hanging, limits=QUICK, executor=LOCAL) == plain


@pytest.mark.parametrize("what", ["raise KeyError('tired')", "time.sleep(100)"])
async def test_a_chain_that_breaks_is_stopped_and_the_others_are_played(tmp_path, what):
    plain = await rows_of(tmp_path / "a", tiring(what), rules=CHAIN, limits=QUICK)
    for repeat in (0, 1):
        chain = [row for row in plain if row.repeat == repeat]
        assert sum(not row.failure for row in chain) == 10
        played = [row for row in chain if not row.failure.startswith("stopped")]
        assert len(played) == 10 + (6 if "Key" in what else 3)
    other = await rows_of(tmp_path / "b", tiring(what), rules=CHAIN, limits=QUICK, executor=LOCAL)
    assert other == plain


@pytest.mark.parametrize(
    ("rules", "race"), [(MANY, False), (MANY, True), (CHAIN, False)], ids=["plain", "race", "chain"]
)
async def test_an_interrupted_evaluation_comes_to_the_same_rows(tmp_path, rules, race):
    failing = tiring("1 / 0") if rules is CHAIN else late()
    whole = await rows_of(tmp_path / "whole", failing, rules=rules, race=race)
    for cut in (2, 9, 25):
        async with evaluating(tmp_path / f"cut{cut}", rules=rules) as evaluator:
            with_race = against(evaluator) if race else None

            async def interrupted(evaluator=evaluator, with_race=with_race, cut=cut):
                seen = []

                def stop(row):
                    seen.append(row)
                    if len(seen) == cut + 2:  # two are collected
                        task.cancel()

                evaluator.on_case = stop
                task = asyncio.ensure_future(
                    evaluator.evaluate(failing, "valid", purpose="test", race=with_race)
                )
                await asyncio.wait({task})
                evaluator.on_case = None

            await interrupted()
            done = await evaluator.evaluate(failing, "valid", purpose="test", race=with_race)
        assert done.evaluation.rows == whole


async def test_what_the_archive_holds_of_an_earlier_time_stays(tmp_path):
    whole = await rows_of(tmp_path / "whole", late(), rules=HALF)
    stopped = [row for row in whole if row.failure.startswith("stopped")]
    old = replace(stopped[-1], failure="", reward=1.0, steps=2)
    async with evaluating(tmp_path / "old", rules=HALF) as evaluator:
        fingerprint = evaluator.fingerprint(late(), "valid")
        evaluator.archive.add_design(late())
        evaluator.archive.open_evaluation(fingerprint, len(whole))
        evaluator.archive.add_rows(fingerprint.id, [old])
        done = await evaluator.evaluate(late(), "valid", purpose="test")
    assert set(done.evaluation.rows) == {old if row.case == old.case else row for row in whole}


async def test_a_design_that_fails_now_and_then_is_played_to_the_end(tmp_path):
    seldom = design("return 1 / 0 if 'flute' in query.goal else ''")
    rows = await rows_of(tmp_path / "a", seldom)
    assert not why_stopped(rows)
    assert {row.failure.split(":")[0] for row in rows} == {"", "crash"}
    assert await rows_of(tmp_path / "b", seldom, race=True) == rows


async def test_one_bad_task_is_not_many_failures_in_a_row(tmp_path):
    rules = Rules(repeats=9, tasks=8, collect=2)
    async with evaluating(tmp_path, rules=rules) as evaluator:
        bad = evaluator.plan("valid").deployment[-1].goal
        once = design(f"return 1 / 0 if query.goal == {bad!r} else ''")
        done = await evaluator.evaluate(once, "valid", purpose="test")
    assert any(row.failure for row in done.evaluation.rows)
    assert not why_stopped(done.evaluation.rows)


async def test_a_design_that_never_fails_has_the_same_rows_in_any_race_or_none(tmp_path):
    fine = load("success_retrieval")
    plain = await rows_of(tmp_path / "plain", fine)
    for number, way in enumerate(WAYS.values()):
        assert await rows_of(tmp_path / f"{number}", fine, **way) == plain


async def test_whoever_watches_hears_that_cases_are_played_again(tmp_path):
    said = []
    async with evaluating(tmp_path, limits=QUICK, rules=HALF, note=said.append) as evaluator:
        slow = replace(design("time.sleep(100)"), name="slow.py")
        await evaluator.evaluate(slow, "valid", purpose="test")
    assert said == ["slow.py: a case took too long and is played again alone"]


def rows(words: str) -> dict[Case, CaseResult]:
    """One letter a case: fine, crash, hang, or not yet played."""
    failures = {"f": "", "c": "crash: x", "h": "wall: x"}
    return {
        Case(f"{n:02d}"): CaseResult(f"{n:02d}", 0, 0.0, 0, failure=failures[letter])
        for n, letter in enumerate(words)
        if letter != "."
    }


@pytest.mark.parametrize(
    ("words", "final", "stopped"),
    [
        ("ffffffffff", 10, 0),
        ("fccccccf..", 7, 3),  # six crashes: what was played beyond comes to nothing
        ("fhhh......", 4, 6),
        ("fchccc....", 6, 4),
        ("fcccccfccc", 10, 0),
        ("fcc.ccc...", 5, 0),  # the open case may be a hang: then this is the place
        ("f.f.f.f.ff", 6, 0),  # no case that is open could make a streak
        ("f...ffffff", 1, 0),
    ],
)
def test_the_order_alone_decides(words, final, stopped):
    order = Streaks.of_plan([f"{n:02d}" for n in range(10)], 1)
    judged = order.judge(rows(words))
    assert (len(judged.final), len(judged.stopped)) == (final, stopped)


def test_a_race_plays_each_block_from_its_beginning():
    tasks = [f"{n:03d}" for n in range(60)]
    plan = RacePlan.build(tasks, seed=3)
    looked, after = Streaks.of_race(plan, 2).blocks
    assert set(looked + after) == {Case(t, r) for t in tasks for r in (0, 1)}
    for look in plan.looks:
        assert {case.task_id for case in looked[: 2 * look]} == set(plan.order[:look])
    block = plan.estimate_block
    assert {case.task_id for case in after[: 2 * len(block)]} == set(block)


async def test_there_is_nothing_to_see_of_cases_that_were_stopped(tmp_path):
    async with evaluating(tmp_path, rules=HALF) as evaluator:
        done = await evaluator.evaluate(late(), "valid", purpose="test")
        everything = [row.task_id for row in done.evaluation.rows]
        seen = await evaluator.traces(late(), "valid", everything)
    played = {r.task_id for r in done.evaluation.rows if not r.failure.startswith("stopped")}
    assert {trace.case.task_id for trace in seen} == played != set(everything)
