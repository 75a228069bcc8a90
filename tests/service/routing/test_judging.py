"""Judging a router by its own log: what is planted is claimed, chance is not, and what cannot be is refused."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from metamem.core.errors import DataError, UsageError
from metamem.evaluation.offpolicy import Odds
from metamem.evaluation.statistics import binomial_tail
from metamem.routing import Arm, Context, Outcome, Settings
from metamem.routing.reading import Entry
from metamem.service.routing.judging import judge, judge_file
from tests.routing.streams import ARMS, KINDS, QUICK, equal, suited


def even_log(seed: int, count: int, chances: Callable[[int], dict[str, float]]) -> list[Entry]:
    """Arms that were dealt evenly."""
    luck = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        kind, arm = int(luck.integers(len(KINDS))), ARMS[int(luck.integers(len(ARMS)))]
        outcome = Outcome(float(luck.random() < chances(kind)[arm]))
        made.append(Entry(Context(KINDS[kind]), dict.fromkeys(ARMS, 1 / 3), arm, outcome))
    return made


def test_a_better_policy_is_claimed_where_one_is_planted() -> None:
    found = [judge(even_log(seed, 400, suited), QUICK) for seed in range(100)]
    assert sum(each.better for each in found) >= 95
    shown = found[0]
    assert shown.policies[0].policy == "routed" and shown.lower_bound is not None
    assert shown.policies[0].robust.value > 0.7 and "better than" in shown.reason


def test_among_equal_arms_no_better_policy_is_claimed_beyond_the_level() -> None:
    seeds = 240
    claims = sum(judge(even_log(seed, 200, equal), QUICK).better for seed in range(seeds))
    assert binomial_tail(claims, seeds, 0.05) > 0.01


def test_a_log_of_one_arm_or_of_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="only one arm"):
        judge(even_log(0, 50, lambda kind: dict.fromkeys(ARMS, 0.5))[:0] + _only_ann(), QUICK)
    with pytest.raises(UsageError, match="says nothing"):
        judge([], QUICK)
    with pytest.raises(UsageError, match="share"):
        judge(even_log(0, 50, equal), QUICK, share=1.0)


def _only_ann() -> list[Entry]:
    return [Entry(Context("x"), {"ann": 1.0}, "ann", Outcome(1.0))] * 20


def test_arms_that_were_not_always_allowed_have_no_single_rival() -> None:
    log = even_log(0, 60, suited)
    halves: list[Odds] = [
        {"ann": 0.5, "ben": 0.5},
        {"ben": 0.5, "cid": 0.5},
        {"ann": 0.5, "cid": 0.5},
    ]
    cut = [
        replace(entry, odds=halves[n % 3], arm=list(halves[n % 3])[n // 3 % 2])
        for n, entry in enumerate(log)
    ]
    found = judge(cut, QUICK)
    assert found.rival == "" and found.gain is None and not found.better


def test_costs_take_part_in_what_is_judged() -> None:
    log = [
        replace(entry, outcome=replace(entry.outcome, cost=3.0 if entry.arm == "ann" else 0.0))
        for entry in even_log(0, 400, equal)
    ]
    found = judge(log, replace(QUICK, cost_weight=0.3))
    worth = {each.policy: each.snips.value for each in found.policies}
    assert worth["ann"] < worth["ben"] - 0.5


def test_settings_other_than_the_usual_are_used() -> None:
    log = even_log(0, 300, suited)
    blunt = judge(log, Settings(dimensions=16, task_spread=0.0001))
    assert not blunt.better  # it cannot tell tasks apart, and gives all to one


def test_what_arms_were_named_with_is_part_of_what_is_judged() -> None:
    """Two arms that the earlier half knows nothing of: what was said of them beforehand decides."""
    early = [
        Entry(Context("x"), dict.fromkeys(ARMS, 1 / 3), "ann", Outcome(0.2)) for _ in range(40)
    ]
    late = [
        Entry(
            Context("x"), dict.fromkeys(ARMS, 1 / 3), ARMS[n % 3], Outcome(0.2 + 0.6 * (n % 3 == 2))
        )
        for n in range(40)
    ]

    def routed(ben: float, cid: float) -> float:
        priors = {"ben": Arm("ben", success=ben), "cid": Arm("cid", success=cid)}
        log = [replace(entry, priors=priors) for entry in early + late]
        return judge(log, QUICK).policies[0].snips.value

    assert routed(0.1, 0.9) == pytest.approx(0.8)
    assert routed(0.9, 0.1) == pytest.approx(0.2)


ROW = {"task": "x", "odds": {"a": 0.5, "b": 0.5}, "arm": "a", "success": 1}


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([ROW], "1 decision with an outcome says nothing"),
        ([ROW] * 4, "only one arm"),
        ([ROW, {**ROW, "arm": "b", "odds": {"a": 0.9, "b": 0.9}}, ROW], "line 3: the propensities"),
        ([ROW, {**ROW, "arm": "c"}, ROW], "line 3 has no propensity for the arm"),
        ([ROW, {**ROW, "odds": {"a": 0, "b": 1}}, ROW], "line 3 drew 'a'"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_with_its_line(
    tmp_path: Path, rows: list[dict[str, object]], words: str
) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text("\n\n".join(map(json.dumps, rows)))
    with pytest.raises(DataError, match=words) as caught:
        judge_file(path, QUICK)
    assert "metamem route reward" not in caught.value.hint
