"""Designs that fail from the first case on are stopped, and the rows do not depend on how."""

from dataclasses import replace

import pytest

from metamem.core.types import Case, CaseResult, Design
from metamem.designs.library import load
from metamem.evaluation.jobs import Spec
from metamem.evaluation.probation import Probation
from metamem.evaluation.racing import Race, RacePlan
from metamem.evaluation.rules import Rules
from tests.evaluation.test_evaluator import evaluating

MANY = Rules(repeats=3, collect=2)  # 120 cases: enough for two shards
SOME = Rules(tasks=14, collect=2)
QUICK = {"wall": 0.4}


def design(retrieve: str = "return ''", update: str = "pass") -> Design:
    return Design(
        "import time\nimport zlib\n\nfrom metamem.designs import Memory\n\n\n"
        "class M(Memory):\n    '''Made to fail.'''\n\n"
        f"    async def update(self, experience):\n        {update}\n\n"
        f"    async def retrieve(self, query):\n        {retrieve}\n"
    )


def sometimes(what: str, luck: int) -> Design:
    """Fails in about half of the tasks, which ones is its luck."""
    return design(f"return {what} if zlib.crc32(query.goal.encode()) >> {luck} & 1 else ''")


async def rows_of(home, what, *, race=False, **changes):
    async with evaluating(home, **({"rules": MANY} | changes)) as evaluator:
        tasks = [t.id for t in evaluator.plan("valid").deployment]
        against = Race(RacePlan.build(tasks, seed=1), dict.fromkeys(tasks, 0.0)) if race else None
        done = await evaluator.evaluate(what, "valid", purpose="test", race=against)
        assert done.evaluation.complete
        return done.evaluation.rows


WAYS = {
    "one worker": {},
    "two workers": {"executor": Spec("local", {"workers": 2})},
    "episodes at once": {"parallel": 4},
    "raced": {"race": True},
}


@pytest.mark.parametrize("way", list(WAYS)[1:])
async def test_rows_are_the_same_however_a_design_that_fails_is_played(tmp_path, way):
    designs = [design("raise KeyError('lost')"), design(update="raise KeyError('lost')")]
    designs += [sometimes("1 / 0", luck) for luck in range(5)]
    stopped = 0
    for number, each in enumerate(designs):
        plain = await rows_of(tmp_path / f"plain{number}", each)
        other = await rows_of(tmp_path / f"other{number}", each, **WAYS[way])
        assert other == plain
        stopped += any(row.failure.startswith("stopped") for row in plain)
    assert 2 <= stopped < len(designs)


async def test_a_design_that_always_fails_is_played_three_times(tmp_path):
    rows = await rows_of(tmp_path, design("raise KeyError('lost')"))
    assert {row.reward for row in rows} == {0.0}
    assert sum(row.failure.startswith("crash") for row in rows) == 3
    (reason,) = {row.failure for row in rows if not row.failure.startswith("crash")}
    assert reason.startswith("stopped after 3 failures in a row") and "'lost'" in reason


@pytest.mark.parametrize("where", ["retrieve", "update"])
async def test_a_design_that_hangs_is_cut_short(tmp_path, where):
    hanging = design(**{where: "time.sleep(100)"})
    plain = await rows_of(tmp_path / "a", hanging, limits=QUICK)
    assert sum(row.failure.startswith("wall") for row in plain) == 2
    assert sum(row.failure.startswith("stopped after 2") for row in plain) == 118
    local = Spec("local", {"workers": 2})
    assert await rows_of(tmp_path / "b", hanging, limits=QUICK, executor=local) == plain


async def test_a_chain_of_cases_is_stopped_where_it_begins(tmp_path):
    rules = Rules(rollout="streaming", repeats=2, collect=2)
    rows = await rows_of(tmp_path, design("time.sleep(100)"), limits=QUICK, rules=rules)
    first = [row for row in rows if row.failure.startswith("wall")]
    assert [row.repeat for row in first] == [0, 0]
    assert all(row.failure.startswith("stopped") for row in rows if row not in first)


async def test_what_hangs_now_and_then_is_scored_for_that_alone(tmp_path):
    hanging = design("return time.sleep(100) if query.goal.endswith('feather') else ''")
    plain = await rows_of(tmp_path / "a", hanging, limits=QUICK, rules=SOME)
    hung = [row for row in plain if row.failure]
    assert len(hung) > 3 and all(row.failure.startswith("wall") for row in hung)
    assert len(hung) < len(plain)
    for number, way in enumerate(("two workers", "episodes at once", "raced")):
        changes = WAYS[way] | {"limits": QUICK, "rules": SOME}
        assert await rows_of(tmp_path / f"{number}", hanging, **changes) == plain


async def test_an_interrupted_evaluation_is_stopped_all_the_same(tmp_path):
    failing = design("raise KeyError('lost')")
    whole = await rows_of(tmp_path / "whole", failing)
    crashed = [row for row in whole if row.failure.startswith("crash")]
    for known in (1, 3):
        async with evaluating(tmp_path / f"part{known}", rules=MANY) as evaluator:
            fingerprint = evaluator.fingerprint(failing, "valid")
            evaluator.archive.add_design(failing)
            evaluator.archive.open_evaluation(fingerprint, len(whole))
            evaluator.archive.add_rows(fingerprint.id, crashed[:known])
            done = await evaluator.evaluate(failing, "valid", purpose="test")
        assert set(done.evaluation.rows) == set(whole)


async def test_trying_a_design_ends_with_its_first_failure(tmp_path):
    tried = design("time.sleep(100)")
    async with evaluating(tmp_path, limits=QUICK) as evaluator:
        played = []
        await evaluator.collected("train")
        evaluator.on_case = played.append
        done = await evaluator.verify(tried, 2, 3)
        assert "took more than 0.4 s" in done.error
        assert len(played) == 1
        assert (await evaluator.verify(load("no_memory"), 2, 3)).error == ""
        assert len(played) == 4


def test_one_success_is_enough_and_hangs_weigh_double():
    cases = tuple(Case(name) for name in "abc")
    crash, fine = CaseResult("", 0, 0.0, 0, failure="crash: x"), CaseResult("", 0, 0.0, 1)
    hang = replace(crash, failure="wall: x")
    trial = Probation(cases)
    assert trial.standing({}).next_case == cases[0]
    assert trial.standing({cases[0]: crash}).next_case == cases[1]
    assert trial.standing(dict(zip(cases, (crash, crash, fine), strict=True))).stopped == ""
    assert trial.standing(dict(zip(cases, (crash,) * 3, strict=True))).stopped
    assert trial.standing(dict(zip(cases, (hang, crash), strict=False))).stopped
    assert trial.standing(dict(zip(cases, (fine, crash, crash), strict=True))).next_case is None
