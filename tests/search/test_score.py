"""Scores come with their interval and what they rest on."""

import pytest

from metamem.evaluation.racing import Estimate, complete_estimate
from metamem.evaluation.statistics import t_interval
from metamem.search.score import Score


def test_a_complete_score_has_the_interval_of_its_rewards():
    rewards = {f"t{n}": float(n % 3 == 0) for n in range(30)}
    score = Score.of_estimate(complete_estimate(rewards), 30)
    assert (score.low, score.high) == pytest.approx(t_interval(list(rewards.values())))
    assert str(score) == f"0.333 ({score.low:.3f} to {score.high:.3f}; 30 of 30 tasks)"


def test_a_raced_score_says_that_it_rests_on_some_tasks():
    score = Score.stored({"mean": -0.02, "se": 0.05, "n": 18, "complete": False}, 100)
    assert (score.tasks, score.of, score.low) == (18, 100, 0.0)
    assert "18 of 100 tasks" in str(score)
    assert Score.of_estimate(Estimate(1.0, 0.0, 1, True), 1).high == 1.0
