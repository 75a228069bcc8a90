"""Who gets a task: propensities that are true, a floor, an allowed set, and arms that are found."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.core.errors import UsageError
from metamem.core.ids import derive_seed
from metamem.evaluation.statistics import binomial_tail
from metamem.routing import Arm, Context, Outcome, Router, Seen, Settings
from metamem.routing.settings import SPACE
from tests.routing.streams import ARMS, QUICK, equal, one_best, play, suited

TASK = Context("repair the parser", "two tests fail", {"language": "python"})
PLANTED, FOUND = 100, 95


def taught(settings: Settings = QUICK, rounds: int = 60) -> Router:
    return play(1, rounds, suited, settings).router


@pytest.mark.slow
def test_regret_is_below_that_of_the_best_fixed_arm() -> None:
    won = sum(
        found.routed > found.best_fixed for found in (play(n, 180, suited) for n in range(PLANTED))
    )
    assert won >= FOUND


@pytest.mark.slow
def test_an_arm_that_is_best_everywhere_is_found() -> None:
    found = [play(n, 150, one_best) for n in range(PLANTED)]
    assert sum(max(each.late, key=lambda arm: each.late[arm]) == "ben" for each in found) >= FOUND


def test_among_equal_arms_none_is_favoured() -> None:
    """The arm that a router ends with is any of them: none is found more often than chance has it."""
    ends = Counter(
        max(p.late, key=lambda arm: p.late[arm]) for p in (play(n, 60, equal) for n in range(120))
    )
    assert binomial_tail(max(ends.values()), 120, 1 / 3) > 0.001


@given(
    floor=st.floats(0.0, 1.0),
    arms=st.lists(
        st.text(min_size=1, max_size=5).filter(str.strip), min_size=1, max_size=6, unique=True
    ),
    seed=st.integers(0, 2**40),
    task=st.text(max_size=40),
)
def test_propensities_add_up_and_keep_the_floor(
    floor: float, arms: list[str], seed: int, task: str
) -> None:
    router = Router(replace(QUICK, floor=floor))
    choice = router.choose(Context(task), arms, seed)
    assert choice.arm in arms
    assert choice.propensity == choice.odds[choice.arm] > 0
    assert sum(choice.odds.values()) == pytest.approx(1)
    assert min(choice.odds.values()) >= floor / len(arms) - 1e-12


def test_arms_are_drawn_as_often_as_their_propensities_say() -> None:
    router = taught()
    wanted: Counter[str] = Counter()
    drawn: Counter[str] = Counter()
    for seed in range(2000):
        choice = router.choose(TASK, ARMS, seed)
        drawn[choice.arm] += 1
        for arm, chance in choice.odds.items():
            wanted[arm] += chance
    for arm in ARMS:
        assert abs(drawn[arm] - wanted[arm]) < 4 * np.sqrt(max(wanted[arm], 1))


def test_the_same_history_and_seed_give_the_same_choice() -> None:
    seen = [Seen(TASK, arm, Outcome(n % 2)) for n, arm in enumerate(ARMS * 3)]
    assert Router(QUICK, seen).choose(TASK, ARMS, 5) == Router(QUICK, seen).choose(TASK, ARMS, 5)


def test_only_allowed_arms_are_drawn_whatever_is_known_of_others() -> None:
    router = taught()
    drawn = {router.choose(TASK, ("ann", "cid"), seed).arm for seed in range(200)}
    assert drawn == {"ann", "cid"}
    assert router.choose(TASK, ["ben"], 0).propensity == 1.0


def test_bad_arms_and_outcomes_are_refused_in_words() -> None:
    router = Router(QUICK)
    with pytest.raises(UsageError, match="nobody can get the task"):
        router.choose(TASK, [], 0)
    with pytest.raises(UsageError, match="named twice"):
        router.choose(TASK, ["a", "a"], 0)
    with pytest.raises(UsageError, match="too many"):
        router.choose(TASK, [str(n) for n in range(65)], 0)
    for wrong in (
        lambda: Outcome(float("nan")),
        lambda: Outcome(2.0),
        lambda: Outcome(1.0, cost=-1.0),
        lambda: Outcome(1.0, latency=float("inf")),
        lambda: Arm(" "),
        lambda: Arm("a", success=float("nan")),
        lambda: Settings(floor=1.5),
        lambda: Settings(noise=0.0),
        lambda: Settings.of({"boldnes": 1}),
    ):
        with pytest.raises(UsageError):
            wrong()


def test_before_anything_is_known_the_priors_decide() -> None:
    greedy = Router(replace(QUICK, boldness=0.0))
    arms = [Arm("small", success=0.6, cost=0.1), Arm("large", success=0.9, cost=5.0)]
    assert greedy.best(TASK, arms) == "small"  # 0.59 against 0.40
    assert greedy.best(TASK, [Arm("small", 0.6), Arm("large", 0.9)]) == "large"
    odds = Router(QUICK).choose(TASK, ["a", "b"], 0).odds
    assert odds["a"] == pytest.approx(0.5, abs=0.1)


def test_a_new_arm_is_tried_and_starts_from_what_all_arms_do() -> None:
    router = Router(QUICK)
    for n in range(60):
        router.learn(TASK, ARMS[n % 2], Outcome(0.9))
    beliefs = {b.arm: b for b in router.choose(TASK, ("ann", "ben", "new"), 0).beliefs}
    assert beliefs["new"].seen == 0
    assert beliefs["new"].spread > 2 * beliefs["ann"].spread
    assert beliefs["new"].success > 0.6  # the task is an easy one, whoever gets it


def test_cost_and_latency_count_by_their_weights() -> None:
    def after(**weights: float) -> str:
        router = Router(replace(QUICK, **weights))
        for _ in range(40):
            router.learn(TASK, "dear", Outcome(0.9, cost=2.0, latency=10.0))
            router.learn(TASK, "cheap", Outcome(0.7, cost=0.1, latency=100.0))
        return router.best(TASK, ("dear", "cheap"))

    assert after(cost_weight=0.0, latency_weight=0.0) == "dear"
    assert after(cost_weight=0.5, latency_weight=0.0) == "cheap"
    assert after(cost_weight=0.5, latency_weight=0.02) == "dear"


def test_what_was_true_long_ago_is_forgotten_by_its_half_life() -> None:
    def after(half_life: float) -> str:
        router = Router(replace(QUICK, half_life=half_life))
        for number in range(200):
            turned = number >= 150
            router.learn(TASK, "old", Outcome(0.0 if turned else 1.0))
            router.learn(TASK, "new", Outcome(1.0 if turned else 0.0))
        return router.best(TASK, ("old", "new"))

    assert after(5000.0) == "old"
    assert after(20.0) == "new"


@pytest.mark.parametrize("name", list(SPACE))
def test_every_setting_changes_what_is_decided(name: str) -> None:
    def task(kind: int) -> Context:
        # Many words: in few dimensions some of them fall together.
        return Context(" ".join(f"word{(kind * 37 + n * n) % 211}" for n in range(40)))

    def odds(settings: Settings) -> list[float]:
        router = Router(settings)
        for n in range(100):
            router.learn(task(n % 4), ARMS[n % 3], Outcome((n * 7 % 10) / 10, n % 3, n % 5))
        return [p for k in range(4) for p in router.choose(task(k), ARMS, k).odds.values()]

    ends = [SPACE.parameters[name].at(place) for place in (0.05, 0.95)]
    low, high = (odds(Settings.of({name: value})) for value in ends)
    assert not np.allclose(low, high, atol=1e-4)


def test_words_that_matter_are_named() -> None:
    router = Router(replace(QUICK, dimensions=64))
    for n in range(120):
        night = n % 2 == 0
        context = Context("watch at night" if night else "watch by day")
        for arm in ("owl", "lark"):
            router.learn(context, arm, Outcome(float(night == (arm == "owl"))))
    told = dict(router.speaking(Context("watch at night"), ("owl", "lark"))["owl"])
    assert told["night"] > 0 and max(told, key=lambda word: told[word]) in ("night", "at")
    assert router.best(Context("watch at night"), ("owl", "lark")) == "owl"
    assert router.best(Context("watch by day"), ("owl", "lark")) == "lark"


def test_outcomes_may_come_late_and_in_any_order() -> None:
    outcomes = [(n, ARMS[n % 3], Outcome((n * 3 % 7) / 7)) for n in range(1, 41)]
    one, other = Router(QUICK), Router(QUICK)
    for number, arm, outcome in outcomes:
        one.learn(TASK, arm, outcome, number)
    for number, arm, outcome in sorted(outcomes, key=lambda each: derive_seed(each[0])):
        other.learn(TASK, arm, outcome, number)
    assert one.predicted(TASK, ARMS) == pytest.approx(other.predicted(TASK, ARMS))
