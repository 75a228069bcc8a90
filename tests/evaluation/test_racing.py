"""Hopeless designs stop, good ones do not, and what a stopped one shows is unbiased."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from metamem.core.errors import UsageError
from metamem.evaluation.racing import Estimate, Race, RacePlan, RaceSettings, estimate
from metamem.evaluation.statistics import standard_error

TASKS = tuple(f"task-{i:03d}" for i in range(60))
Play = Callable[[str], float]


def run(race: Race, play: Play) -> tuple[dict[str, float], Estimate]:
    """Play as a runner would: what the race asks for, until it asks for nothing."""
    rows: dict[str, float] = {}
    while tasks := race.state(rows).next_tasks:
        rows |= {task: play(task) for task in tasks}
    return rows, race.estimate(rows)


def rewards(
    generator: np.random.Generator, chance: float, spread: float = 0.25
) -> dict[str, float]:
    """Wins and losses on tasks of different difficulty."""
    chances = np.clip(chance + generator.normal(0, spread, len(TASKS)), 0, 1)
    return dict(zip(TASKS, (generator.random(len(TASKS)) < chances).astype(float), strict=True))


# --- the plan -------------------------------------------------------------------------------


@given(
    st.integers(1, 300),
    st.integers(0, 50),
    st.lists(st.floats(0.05, 0.95), min_size=1, max_size=4),
    st.floats(0.05, 0.6),
    st.integers(2, 20),
)
def test_a_plan_keeps_its_blocks_apart(
    n: int, seed: int, looks: list[float], share: float, fewest: int
) -> None:
    tasks = [f"t{i}" for i in range(n)]
    plan = RacePlan.build(tasks, seed, RaceSettings(tuple(looks), share, 0.01, fewest))
    assert sorted(plan.order) == sorted(tasks)
    assert list(plan.looks) == sorted(set(plan.looks))
    assert plan == RacePlan.build(
        tasks[::-1], seed, RaceSettings(tuple(looks), share, 0.01, fewest)
    )
    if plan.looks:
        assert min(plan.looks) >= fewest
        assert len(plan.estimate_block) >= fewest
        assert not set(plan.estimate_block) & set(plan.order[: plan.looks[-1]])
        assert plan.looks[-1] + len(plan.estimate_block) < n  # being raced out saves something
        assert plan.level * len(plan.looks) == pytest.approx(0.01)


def test_another_seed_is_another_order() -> None:
    assert RacePlan.build(TASKS, 1).order != RacePlan.build(TASKS, 2).order


def test_too_few_tasks_mean_no_race() -> None:
    plan = RacePlan.build(TASKS[:10], 0)
    reference = dict.fromkeys(TASKS[:10], 1.0)
    rows, found = run(Race(plan, reference), lambda _: 0.0)
    assert plan.looks == ()
    assert (len(rows), found.complete) == (10, True)


@pytest.mark.parametrize(
    "wrong",
    [{"looks": (1.2,)}, {"estimate_share": 0.0}, {"level": 0.7}, {"fewest": 1}],
)
def test_settings_are_checked(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        RaceSettings(**wrong)  # type: ignore[arg-type]


# --- the decision ---------------------------------------------------------------------------


def test_a_hopeless_design_stops_and_says_why() -> None:
    reference = dict.fromkeys(TASKS, 1.0)
    race = Race(RacePlan.build(TASKS, 5), reference)
    rows, found = run(race, lambda _: 0.0)
    state = race.state(rows)
    assert state.raced_out == race.plan.looks[0]
    assert len(rows) == race.plan.looks[0] + len(race.plan.estimate_block) < len(TASKS) / 2
    assert (found.mean, found.complete, found.n) == (0.0, False, len(rows))
    assert "at most -1.000" in state.reason


def test_hopeless_designs_save_about_half_of_their_tasks() -> None:
    generator = np.random.default_rng(1)
    played = []
    for seed in range(200):
        reference, design = rewards(generator, 0.8), rewards(generator, 0.1)
        rows, _ = run(Race(RacePlan.build(TASKS, seed), reference), design.__getitem__)
        played.append(len(rows))
    assert np.mean(played) < 0.6 * len(TASKS)


def raced_out(gain: float, rounds: int) -> int:
    generator = np.random.default_rng(2)
    stopped = 0
    for seed in range(rounds):
        reference, design = rewards(generator, 0.4), rewards(generator, 0.4 + gain)
        _, found = run(Race(RacePlan.build(TASKS, seed), reference), design.__getitem__)
        stopped += not found.complete
    return stopped


@pytest.mark.slow
def test_equal_designs_are_rarely_stopped() -> None:
    assert raced_out(0.0, 1500) <= stats.binom.ppf(0.999, 1500, RaceSettings().level)


def test_better_designs_are_almost_never_stopped() -> None:
    assert raced_out(0.15, 1000) <= 1


def test_the_decision_is_a_function_of_the_rows_alone() -> None:
    generator = np.random.default_rng(3)
    reference, design = rewards(generator, 0.7), rewards(generator, 0.3)
    plan = RacePlan.build(TASKS, 9)
    rows, found = run(Race(plan, reference), design.__getitem__)
    # One task at a time, through a new object each time, as after a crash.
    slow: dict[str, float] = {}
    while tasks := Race(plan, reference).state(slow).next_tasks:
        slow[tasks[-1]] = design[tasks[-1]]
    assert slow == rows
    assert Race(plan, reference).estimate(slow) == found


@given(st.integers(0, 2**32), st.integers(0, 60))
@settings(max_examples=40, deadline=None)
def test_rows_beyond_a_look_do_not_change_it(seed: int, extra: int) -> None:
    generator = np.random.default_rng(seed)
    reference, design = rewards(generator, 0.7), rewards(generator, 0.3)
    race = Race(RacePlan.build(TASKS, seed), reference)
    rows, found = run(race, design.__getitem__)
    early = rows | {task: design[task] for task in race.plan.order[:extra]}
    assert race.state(early).raced_out == race.state(rows).raced_out
    assert race.estimate(early) == found


def test_a_race_refuses_rows_and_references_that_do_not_fit() -> None:
    plan = RacePlan.build(TASKS, 0)
    with pytest.raises(UsageError, match="reference lacks"):
        Race(plan, dict.fromkeys(TASKS[:-1], 1.0))
    race = Race(plan, dict.fromkeys(TASKS, 1.0))
    with pytest.raises(UsageError, match="no task of the race"):
        race.state({"elsewhere": 1.0})
    with pytest.raises(UsageError, match="not over"):
        race.estimate({})
    with pytest.raises(UsageError, match="no look"):
        estimate(dict.fromkeys(TASKS, 0.0), race.reference, plan, 7)
    with pytest.raises(UsageError, match="lacks"):
        estimate({}, race.reference, plan, plan.looks[0])
    with pytest.raises(UsageError, match="each once"):
        RacePlan.build(["a", "a"], 0)


# --- the estimate ---------------------------------------------------------------------------


def test_a_complete_evaluation_shows_its_mean() -> None:
    design = rewards(np.random.default_rng(4), 0.6)
    rows, found = run(Race(RacePlan.build(TASKS, 1), dict.fromkeys(TASKS, 0.0)), design.get)  # type: ignore[arg-type]
    assert rows == design
    assert found.mean == pytest.approx(np.mean(list(design.values())))
    assert found.se == pytest.approx(standard_error(design.values()))
    assert found.complete


def partial_mean(race: Race, rows: dict[str, float]) -> float:
    """The naive score of a stopped design: the mean of what led to the decision."""
    return float(np.mean([rows[t] for t in race.plan.order[: race.state(rows).raced_out]]))


def block_only(race: Race, rows: dict[str, float]) -> float:
    """The estimate block taken for all tasks, those of the decision block included."""
    gains = [rows[t] - race.reference[t] for t in race.plan.estimate_block]
    return float(np.mean(list(race.reference.values())) + np.mean(gains))


def in_standard_errors(errors: list[float]) -> float:
    return float(np.mean(errors) / standard_error(errors))


@pytest.mark.slow
def test_what_a_stopped_design_shows_is_unbiased_on_fixed_rewards() -> None:
    """Rewards as a table, chance only in the order: the truth is the complete mean."""
    generator = np.random.default_rng(5)
    reference, design = rewards(generator, 0.75), rewards(generator, 0.35)
    truth = float(np.mean(list(design.values())))
    shown, naive, block = [], [], []
    for seed in range(2000):
        race = Race(RacePlan.build(TASKS, seed), reference)
        rows, found = run(race, design.__getitem__)
        if not found.complete:
            shown.append(found.mean - truth)
            naive.append(partial_mean(race, rows) - truth)
            block.append(block_only(race, rows) - truth)
    assert len(shown) > 300
    assert abs(in_standard_errors(shown)) < 4
    assert in_standard_errors(naive) < -10  # the control: stopping early makes the score worse
    assert in_standard_errors(block) > 6  # and forgetting the bad start makes it better
    assert np.std(shown) < np.std(block)


@pytest.mark.slow
def test_racing_does_not_shift_the_score_of_a_design_that_plays_by_chance() -> None:
    """Noisy rewards, stopped or not: on average the score is the true chance of success."""
    generator = np.random.default_rng(6)
    chance, shown, naive, stopped = 0.3, [], [], 0
    inside = 0
    for seed in range(2000):
        draws = generator.random((2, len(TASKS)))
        reference = dict(zip(TASKS, (draws[0] < 0.7).astype(float), strict=True))
        design = dict(zip(TASKS, (draws[1] < chance).astype(float), strict=True))
        race = Race(RacePlan.build(TASKS, seed), reference)
        rows, found = run(race, design.__getitem__)
        shown.append(found.mean - chance)
        naive.append((found.mean if found.complete else partial_mean(race, rows)) - chance)
        stopped += not found.complete
        inside += abs(found.mean - chance) <= 1.96 * found.se
    assert 600 < stopped < 1800
    assert abs(in_standard_errors(shown)) < 4
    assert in_standard_errors(naive) < -10
    assert 0.92 <= inside / 2000 <= 0.975  # the stated uncertainty is the real one
