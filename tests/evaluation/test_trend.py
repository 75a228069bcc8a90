"""Slopes along streams: planted ones are found, and nothing is found where there is none."""

import itertools
import math
import random

import numpy as np
import pytest
from scipy import stats

from metamem.core.errors import UsageError
from metamem.evaluation.statistics import binomial_tail, detectable, places_spread, tasks_needed
from metamem.evaluation.statistics.trend import trend

LEVEL = 0.05
STREAMS, LENGTH = 4, 25


def gains(luck, rise, *, level=0.2, spread=0.5):
    """Gains that grow from the first place to the last by `rise`, each stream from a level of its own."""
    return {
        f"s{n}": [
            level + luck.gauss(0, 0.1) + rise * place / (LENGTH - 1) + luck.gauss(0, spread)
            for place in range(LENGTH)
        ]
        for n in range(STREAMS)
    }


def outcomes(luck, rise):
    """Wins and losses: a gain of 1, 0 or -1, likelier the later. They spread more, so there are more."""
    return {
        f"s{n}": [
            float(luck.random() < 0.3 + rise * place / (LENGTH - 1)) - float(luck.random() < 0.3)
            for place in range(LENGTH)
        ]
        for n in range(2 * STREAMS)
    }


def rises(streams, seed):
    found = trend(streams, LEVEL, seed=seed, draws=400)
    return found.lower_bound > 0 and found.p <= LEVEL


def test_one_stream_is_ordinary_least_squares():
    luck = random.Random(1)
    values = [0.1 * n + luck.gauss(0, 1) for n in range(30)]
    found = trend({"only": values})
    theirs = stats.linregress(range(30), values)
    assert found.slope == pytest.approx(theirs.slope)
    assert found.by_stream["only"] == pytest.approx(theirs.slope)
    assert found.low < found.slope < found.high
    assert found.n == 30


def test_levels_of_streams_are_left_out():
    luck = random.Random(2)
    streams = gains(luck, 0.5)
    moved = {name: [v + 7 * n for v in values] for n, (name, values) in enumerate(streams.items())}
    assert trend(moved).slope == pytest.approx(trend(streams).slope)
    assert trend(moved).se == pytest.approx(trend(streams).se)


def test_order_of_streams_changes_nothing():
    streams = gains(random.Random(3), 0.3)
    assert trend(dict(reversed(list(streams.items())))) == trend(streams)


def test_the_p_value_is_that_of_all_orders():
    """Four places have 24 orders: counted by hand."""
    values = [0.0, 1.0, 0.0, 2.0]
    places = np.arange(4) - 1.5
    seen = float(places @ np.array(values))
    all_orders = [float(places @ np.array(order)) for order in itertools.permutations(values)]
    exact = sum(s >= seen - 1e-9 for s in all_orders) / len(all_orders)
    assert trend({"s": values}, draws=40_000).p == pytest.approx(exact, abs=0.01)


@pytest.mark.parametrize("made", [gains, outcomes])
def test_no_slope_is_found_no_more_often_than_its_level(made):
    runs = 400
    found = sum(rises(made(random.Random(seed), 0.0), seed) for seed in range(runs))
    assert binomial_tail(found, runs, LEVEL) > 1e-4, found


def test_what_helps_from_the_first_task_on_has_no_slope():
    """A constant gain, however large, is nothing that was gathered."""
    runs = 200
    found = sum(rises(gains(random.Random(seed), 0.0, level=0.9), seed) for seed in range(runs))
    assert binomial_tail(found, runs, LEVEL) > 1e-4, found


@pytest.mark.parametrize("made", [gains, outcomes])
def test_a_planted_slope_is_found(made):
    """Four standard errors of a slope, or a little more."""
    found = sum(rises(made(random.Random(seed), 0.65), seed) for seed in range(100))
    assert found >= 95


def test_intervals_cover_the_truth_as_often_as_they_say():
    runs, true = 400, 0.6 / (LENGTH - 1)
    held = 0
    for seed in range(runs):
        found = trend(gains(random.Random(seed), 0.6), seed=seed, draws=2)
        held += found.low <= true <= found.high
    assert 0.92 <= held / runs <= 0.98


def test_no_spread_at_all_is_said():
    found = trend({"a": [1.0, 1.0, 1.0], "b": [0.0, 0.0, 0.0]})
    assert (found.slope, found.p) == (0.0, 1.0)
    assert "nothing changed" in found.note


@pytest.mark.parametrize(
    "streams", [{}, {"a": [1.0, 2.0]}, {"a": [1.0, math.nan, 2.0]}, {"a": [0.0, math.inf, 1.0]}]
)
def test_bad_streams_are_refused(streams):
    with pytest.raises(UsageError):
        trend(streams)


def test_what_can_be_seen_and_what_is_needed_agree():
    for tasks in (20, 60, 200):
        least = detectable(tasks, 0.5, 0.05, 0.8, one_sided=True)
        assert tasks_needed(least, 0.5, 0.05, 0.8, one_sided=True) == tasks
    with pytest.raises(UsageError):
        detectable(1, 0.5)


def test_the_spread_of_places():
    assert places_spread([5]) == pytest.approx(sum((n - 2) ** 2 for n in range(5)))
