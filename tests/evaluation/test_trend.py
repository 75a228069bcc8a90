"""Rises along streams: planted ones are found, and nothing is found where there is none."""

import itertools
import math
import random

import numpy as np
import pytest
from scipy import stats

from metamem.core.errors import UsageError
from metamem.evaluation.statistics import binomial_tail, detectable, rise_error, tasks_needed
from metamem.evaluation.statistics.trend import trend
from metamem.runs.experiments.power import power_of_growth

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


def hanging(luck, rise, *, lengths=(LENGTH,) * STREAMS, alike=0.5, own=0.35):
    """Gains that resemble those before them, in streams of which each rises or falls by itself."""
    made = {}
    for n, length in enumerate(lengths):
        slope, noise, values = rise + luck.gauss(0, own), luck.gauss(0, 1), []
        for place in range(length):
            values.append(0.2 + slope * place / (length - 1) + 0.5 * noise)
            noise = alike * noise + math.sqrt(1 - alike**2) * luck.gauss(0, 1)
        made[f"s{n}"] = values
    return made


def resembling(luck, rise):
    return hanging(luck, rise, own=0.0)


def each_its_own(luck, rise):
    return hanging(luck, rise, alike=0.0)


def unequal(luck, rise):
    return hanging(luck, rise, lengths=(5, 10, 40, 80))


def one_long(luck, rise):
    return hanging(luck, rise, lengths=(5, 5, 5, 100))


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


def test_streams_as_long_as_each_other_are_a_t_test_of_their_lines():
    streams = gains(random.Random(1), 0.5)
    found = trend(streams)
    theirs = {
        n: stats.linregress(range(LENGTH), v).slope * (LENGTH - 1) for n, v in streams.items()
    }
    assert found.by_stream == pytest.approx(theirs)
    test = stats.ttest_1samp(list(theirs.values()), 0.0, alternative="greater")
    assert found.rise == pytest.approx(np.mean(list(theirs.values())))
    assert found.p_streams == pytest.approx(test.pvalue)
    assert found.lower_bound <= test.confidence_interval(0.95).low + 1e-9
    assert found.p == max(found.p_streams, found.p_dealt)
    assert found.n == STREAMS * LENGTH


def test_levels_of_streams_are_left_out():
    luck = random.Random(2)
    streams = gains(luck, 0.5)
    moved = {name: [v + 7 * n for v in values] for n, (name, values) in enumerate(streams.items())}
    assert trend(moved).rise == pytest.approx(trend(streams).rise)
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
    flat = [1.0, 1.0, 1.0, 1.0]  # says nothing, wherever its values lie
    found = trend({"s": values, "flat": flat}, draws=40_000)
    assert found.p_dealt == pytest.approx(exact, abs=0.01)


@pytest.mark.parametrize(
    "made", [gains, outcomes, resembling, each_its_own, hanging, unequal, one_long]
)
def test_no_rise_is_found_no_more_often_than_its_level(made):
    runs = 400
    found = sum(rises(made(random.Random(seed), 0.0), seed) for seed in range(runs))
    assert binomial_tail(found, runs, LEVEL) > 1e-4, found


def test_what_helps_from_the_first_task_on_has_no_slope():
    """A constant gain, however large, is nothing that was gathered."""
    runs = 200
    found = sum(rises(gains(random.Random(seed), 0.0, level=0.9), seed) for seed in range(runs))
    assert binomial_tail(found, runs, LEVEL) > 1e-4, found


def test_places_dealt_out_anew_would_not_hold_the_level_by_themselves():
    """Why the stream is the unit: nearly one of five pass where nothing rises."""
    found = (trend(hanging(random.Random(s), 0.0), seed=s, draws=200) for s in range(200))
    assert sum(each.p_dealt <= LEVEL for each in found) > 20


@pytest.mark.parametrize(("made", "rise"), [(gains, 0.9), (outcomes, 0.7)])
def test_a_planted_rise_is_found(made, rise):
    """Five standard errors of four streams, or four of eight."""
    found = sum(rises(made(random.Random(seed), rise), seed) for seed in range(100))
    assert found >= 95


def test_the_power_of_a_rise_is_what_it_says():
    least = power_of_growth([LENGTH] * STREAMS, LEVEL, 0.5, "assumed", 0.1).detectable
    found = sum(rises(gains(random.Random(seed), least), seed) for seed in range(300))
    assert 0.72 <= found / 300 <= 0.88


def test_intervals_cover_the_truth_as_often_as_they_say():
    runs, true = 400, 0.6
    for made in (gains, hanging, unequal):
        held = 0
        for seed in range(runs):
            found = trend(made(random.Random(seed), true), seed=seed, draws=2)
            held += found.low <= true <= found.high
        assert held / runs >= 0.93, made


def test_few_streams_that_happen_to_agree_are_not_enough():
    """Four projects that rise by nearly the same, and bugs that jump about: what was seen of one memory."""
    noise = [0.5 * (-1) ** (n // 2) for n in range(LENGTH)]
    streams = {f"s{k}": [0.008 * n + jump for n, jump in enumerate(noise)] for k in range(4)}
    streams["s1"][-1] += 0.05
    found = trend(streams)
    assert found.p_streams < 0.001 < 0.05 < found.p == found.p_dealt
    assert found.low < 0.0 < found.high and found.lower_bound < 0.0


def test_no_spread_at_all_is_said():
    found = trend({"a": [1.0, 1.0, 1.0], "b": [0.0, 0.0, 0.0]})
    assert (found.rise, found.p) == (0.0, 1.0)
    assert "nothing changed" in found.note


@pytest.mark.parametrize(
    "streams",
    [
        {},
        {"a": [1.0, 2.0, 4.0]},
        {"a": [1.0, 2.0], "b": [1.0, 2.0]},
        {"a": [1.0, math.nan, 2.0], "b": [1.0, 2.0, 3.0]},
        {"a": [0.0, math.inf, 1.0], "b": [1.0, 2.0, 3.0]},
    ],
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


def test_the_error_of_a_rise():
    places = sum((n - 2) ** 2 for n in range(5))
    assert rise_error([5, 5, 5], 0.4) == pytest.approx(0.4 * 4 / math.sqrt(3 * places))
