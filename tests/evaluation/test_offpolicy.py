"""Off-policy estimates: beside a library, beside brute force, and where they refuse."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.core.errors import UsageError
from metamem.evaluation.offpolicy import (
    Decided,
    Estimate,
    Odds,
    difference,
    doubly_robust,
    ips,
    snips,
)
from metamem.evaluation.statistics import binomial_tail
from tests.extras import needs

ARMS = ("ann", "ben", "cid")
Estimator = Callable[[Sequence[Decided], Sequence[Odds]], Estimate]
ZERO = dict.fromkeys(ARMS, 0.0)
# What each arm brings at each of two kinds of tasks, and how likely each was drawn there.
BRINGS = ((0.2, 0.9, 0.4), (0.7, 0.1, 0.5))
DRAWN = ((0.6, 0.1, 0.3), (0.2, 0.5, 0.3))
WOULD = ((0.1, 0.8, 0.1), (0.9, 0.05, 0.05))
TRUE = float(np.mean([np.dot(b, w) for b, w in zip(BRINGS, WOULD, strict=True)]))


def odds_of(chances: Sequence[float]) -> dict[str, float]:
    return dict(zip(ARMS, chances, strict=True))


def drawn(seed: int, count: int) -> tuple[list[Decided], list[Odds], list[dict[str, float]]]:
    """A log of noisy rewards, another policy, and predictions that are wrong on purpose."""
    luck = np.random.default_rng(seed)
    log, policy, predicted = [], [], []
    for _ in range(count):
        kind = int(luck.integers(2))
        place = int(luck.choice(3, p=DRAWN[kind]))
        reward = float(luck.random() < BRINGS[kind][place])
        log.append(Decided(odds_of(DRAWN[kind]), ARMS[place], reward))
        policy.append(odds_of(WOULD[kind]))
        predicted.append(odds_of([0.8 * b + 0.05 for b in BRINGS[kind]]))
    return log, policy, predicted


def estimates(seed: int, count: int) -> dict[str, Estimate]:
    log, policy, predicted = drawn(seed, count)
    robust = doubly_robust(log, policy, predicted)
    return {"ips": ips(log, policy), "snips": snips(log, policy), "robust": robust}


def test_every_possible_log_averages_to_the_truth() -> None:
    """Over all logs of two decisions, weighed by how likely each is, `ips` and the doubly robust estimate
    are exact: brute force, with rewards that are not left to chance."""
    expected = {"ips": 0.0, "robust": 0.0}
    predicted = [odds_of((0.3, 0.3, 0.3))] * 2
    policy = [odds_of(WOULD[0]), odds_of(WOULD[1])]
    for first, second in product(range(3), repeat=2):
        if first == second:
            continue  # one arm only is refused; left out below, too
        log = [
            Decided(odds_of(DRAWN[0]), ARMS[first], BRINGS[0][first]),
            Decided(odds_of(DRAWN[1]), ARMS[second], BRINGS[1][second]),
        ]
        chance = DRAWN[0][first] * DRAWN[1][second]
        expected["ips"] += chance * ips(log, policy).value
        expected["robust"] += chance * doubly_robust(log, policy, predicted).value
    same = [(n, DRAWN[0][n] * DRAWN[1][n]) for n in range(3)]
    for n, chance in same:  # what the refused logs would have said
        weights = [WOULD[k][n] / DRAWN[k][n] for k in range(2)]
        rewards = [BRINGS[k][n] for k in range(2)]
        expected["ips"] += chance * np.mean([w * r for w, r in zip(weights, rewards, strict=True)])
        errors = [w * (r - 0.3) for w, r in zip(weights, rewards, strict=True)]
        expected["robust"] += chance * (0.3 + np.mean(errors))
    assert expected["ips"] == pytest.approx(TRUE)
    assert expected["robust"] == pytest.approx(TRUE)


def test_ips_and_dr_agree_with_vowpal_wabbit() -> None:
    """`--eval` weighs logged costs for a policy that is given. Its doubly robust estimate learns its own
    predictions as it goes, so that only its expectation is the same."""
    needs("vowpalwabbit")
    import vowpalwabbit

    log, _, predicted = drawn(3, 3000)
    luck = np.random.default_rng(4)
    chosen = [int(luck.integers(3)) for _ in log]
    policy: list[Odds] = [{ARMS[place]: 1.0} for place in chosen]

    def theirs(kind: str) -> float:
        judge = vowpalwabbit.Workspace(f"--cb 3 --eval --cb_type {kind} --quiet")
        for decided, place in zip(log, chosen, strict=True):
            arm = ARMS.index(decided.arm) + 1
            kind_of_task = "first" if decided.odds == odds_of(DRAWN[0]) else "second"
            said = f"{place + 1} {arm}:{-decided.reward}:{decided.propensity} | {kind_of_task}"
            judge.learn(said)
        total = judge.get_sum_loss()
        judge.finish()
        return -total / len(log)

    assert ips(log, policy).value == pytest.approx(theirs("ips"), abs=1e-4)
    robust = doubly_robust(log, policy, predicted)
    assert robust.value == pytest.approx(theirs("dr"), abs=2 * (robust.high - robust.low))


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    found = [estimates(seed, 300) for seed in range(200)]
    for name in found[0]:
        missed = sum(not each[name].low <= TRUE <= each[name].high for each in found)
        assert binomial_tail(missed, len(found), 0.05) > 0.001, name


def test_predictions_make_the_interval_narrower_and_never_the_value_wrong() -> None:
    found = estimates(0, 4000)
    assert found["robust"].high - found["robust"].low < found["ips"].high - found["ips"].low
    for each in found.values():
        assert each.value == pytest.approx(TRUE, abs=0.05)


def test_judging_the_policy_that_drew_is_the_mean_of_what_came() -> None:
    log, _, predicted = drawn(1, 50)
    policy = [decided.odds for decided in log]
    mean = float(np.mean([decided.reward for decided in log]))
    assert ips(log, policy).value == pytest.approx(mean)
    assert snips(log, policy).value == pytest.approx(mean)
    nothing, bound = difference(log, policy, policy, predicted)
    assert nothing.value == 0.0 and bound == 0.0


@given(seed=st.integers(0, 1000), shift=st.floats(-5, 5), scale=st.floats(0.1, 5))
def test_snips_moves_with_its_rewards(seed: int, shift: float, scale: float) -> None:
    log, policy, _ = drawn(seed, 20)
    if len({decided.arm for decided in log}) < 2:
        return
    moved = [replace(decided, reward=shift + scale * decided.reward) for decided in log]
    before, after = snips(log, policy), snips(moved, policy)
    assert after.value == pytest.approx(shift + scale * before.value)


GOOD = Decided({"a": 0.5, "b": 0.5}, "a", 1.0)
OTHER = Decided({"a": 0.5, "b": 0.5}, "b", 0.0)


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ([], "says nothing"),
        ([GOOD], "says nothing"),
        ([GOOD, GOOD, GOOD], "only one arm"),
        ([GOOD, replace(OTHER, reward=float("nan"))], "finite"),
        ([GOOD, replace(OTHER, reward=float("inf"))], "finite"),
        ([GOOD, replace(OTHER, reward=1e300)], "too large"),
        ([GOOD, replace(OTHER, odds={"a": 1.0, "b": 1e-300})], "count for all others"),
        ([GOOD, replace(OTHER, odds={})], "no propensity"),
        ([GOOD, replace(OTHER, odds={"a": 1.0})], "no propensity"),
        ([GOOD, replace(OTHER, odds={"a": 1.0, "b": 0.0})], "propensity of 0"),
        ([GOOD, replace(OTHER, odds={"a": float("nan"), "b": 0.5})], "none"),
        ([GOOD, replace(OTHER, odds={"a": 0.9, "b": 0.9})], "add up"),
    ],
)
@pytest.mark.parametrize("estimator", [ips, snips])
def test_logs_that_say_nothing_are_refused(
    log: list[Decided], words: str, estimator: Estimator
) -> None:
    with pytest.raises(UsageError, match=words):
        estimator(log, [decided.odds or {"a": 1.0} for decided in log])


def test_a_decision_at_fault_is_named_as_its_reader_knows_it() -> None:
    wrong = replace(OTHER, odds={"a": 0.9, "b": 0.9})
    with pytest.raises(UsageError, match="decision 2 of the log: the propensities"):
        ips([GOOD, wrong], [GOOD.odds, GOOD.odds])
    with pytest.raises(UsageError, match=r"log\.jsonl, line 7: the propensities"):
        ips([GOOD, replace(wrong, where="log.jsonl, line 7")], [GOOD.odds, GOOD.odds])


def test_policies_that_cannot_be_judged_are_refused() -> None:
    log = [GOOD, OTHER]
    with pytest.raises(UsageError, match="could not be drawn"):
        ips(log, [{"c": 1.0}, {"a": 1.0}])
    with pytest.raises(UsageError, match="add up"):
        ips(log, [{"a": 0.7}, {"a": 1.0}])
    with pytest.raises(UsageError, match="1 decisions of the policy"):
        ips(log, [{"a": 1.0}])
    with pytest.raises(UsageError, match="draws none"):
        snips([GOOD, OTHER], [{"b": 1.0}, {"a": 1.0}])


def test_weight_on_few_decisions_is_told() -> None:
    rare = {"a": 0.99, "b": 0.01}
    log = [Decided(rare, "a", 0.0)] * 200 + [Decided(rare, "b", 1.0)]
    found = ips(log, [{"b": 1.0}] * len(log))
    assert found.effective == pytest.approx(1.0) and "few decisions" in found.note
