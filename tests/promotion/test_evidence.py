"""The exact rule for what works or fails: opens for what is planted, stays shut on what is not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from metamem.core.errors import UsageError
from metamem.evaluation.statistics import binomial_lower_bound, binomial_tail
from metamem.promotion import ExactShare, Gate

GATE = Gate(rule=ExactShare())


def uses(successes: int, failures: int = 0) -> dict[str, float]:
    outcomes = [1.0] * successes + [0.0] * failures
    return {f"use {n}": outcome for n, outcome in enumerate(outcomes)}


@given(st.integers(0, 300), st.integers(0, 300), st.sampled_from([0.001, 0.01, 0.05, 0.3]))
@settings(max_examples=200, deadline=None)
def test_the_bound_is_clopper_and_pearsons(successes: int, failures: int, level: float) -> None:
    trials = successes + failures
    if trials == 0:
        with pytest.raises(UsageError):
            binomial_lower_bound(0, 0, level)
        return
    exact = stats.beta.ppf(level, successes, failures + 1) if successes else 0.0
    assert binomial_lower_bound(successes, trials, level) == pytest.approx(exact, abs=1e-10)
    tail = stats.binom.sf(successes - 1, trials, 0.8)
    assert binomial_tail(successes, trials, 0.8) == pytest.approx(tail, abs=1e-10)


@pytest.mark.parametrize(
    ("successes", "failures", "passes"),
    [(20, 0, False), (21, 0, True), (29, 1, False), (30, 1, True), (36, 2, False), (37, 2, True)],
)
def test_it_takes_21_of_21_at_least(successes: int, failures: int, passes: bool) -> None:
    decision = GATE.decide({"tool": uses(successes, failures)}, {})
    assert (decision.promoted == "tool") is passes
    assert (decision.tasks, decision.best_human_mean) == (successes + failures, 0.8)
    assert decision.reason.startswith("promoted: tool beats" if passes else "not promoted")


def test_a_refusal_says_what_it_takes() -> None:
    assert "at least 21 uses without a failure" in GATE.decide({"tool": uses(5)}, {}).reason
    for failures, needed in ((1, 31), (2, 39), (10, 96)):
        assert GATE.decide({"tool": uses(needed - failures, failures)}, {}).promoted == "tool"
        reason = GATE.decide({"tool": uses(needed - failures - 1, failures)}, {}).reason
        seen = "1 failure" if failures == 1 else f"{failures} failures"
        assert f"with {seen} it takes at least {needed} uses (here: {needed - 1} uses)" in reason
    assert "never used" in GATE.decide({"tool": {}}, {}).reason
    assert "no candidate" in GATE.decide({}, {}).reason


def test_the_level_is_shared_among_several() -> None:
    five = {f"tool {n}": uses(21) for n in range(5)}
    assert GATE.decide(five, {}).promoted is None
    assert GATE.decide({**five, "tool 0": uses(28)}, {}).promoted == "tool 0"  # .002 ** (1 / 28)


def test_what_is_neither_success_nor_failure_is_refused() -> None:
    with pytest.raises(UsageError, match="1 or 0"):
        GATE.decide({"tool": {"a": 0.5}}, {})
    with pytest.raises(UsageError):
        ExactShare(least=1.0)


@pytest.mark.slow
@pytest.mark.parametrize("trials", [21, 40, 100, 400])
def test_tools_at_the_bar_pass_once_in_a_hundred_at_most(trials: int) -> None:
    generator = np.random.default_rng(trials)
    rounds = 2000
    passed = 0
    for successes in generator.binomial(trials, 0.8, rounds):
        decision = GATE.decide({"tool": uses(int(successes), trials - int(successes))}, {})
        passed += decision.promoted is not None
    assert passed <= stats.binom.ppf(0.999, rounds, 0.01)


@pytest.mark.parametrize(("share", "trials"), [(0.99, 60), (0.95, 120), (1.0, 21)])
def test_a_planted_tool_that_works_is_found(share: float, trials: int) -> None:
    generator = np.random.default_rng(11)
    rounds = 300
    found = 0
    for successes in generator.binomial(trials, share, rounds):
        decision = GATE.decide({"tool": uses(int(successes), trials - int(successes))}, {})
        found += decision.promoted == "tool"
    assert found >= 0.95 * rounds
