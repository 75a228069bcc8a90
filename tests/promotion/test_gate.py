"""The gate opens for what is planted, stays shut on noise, and says why."""

import json
import math
import re
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from metamem.core.errors import UsageError
from metamem.promotion import Decision, Gate, GateReport, PairedGain
from metamem.promotion.evidence import Rival

Table = dict[str, dict[str, float]]


def table(rewards: np.ndarray, prefix: str) -> Table:
    """One row of rewards for each design."""
    return {
        f"{prefix}{i}": {f"task-{j:03d}": float(v) for j, v in enumerate(row)}
        for i, row in enumerate(rewards)
    }


def play(
    generator: np.random.Generator, chances: np.ndarray, designs: int, repeats: int = 1
) -> np.ndarray:
    """Rewards of equal designs on tasks of the given chances."""
    return generator.binomial(repeats, chances, (designs, chances.size)) / repeats


def difficulties(generator: np.random.Generator, tasks: int) -> np.ndarray:
    """Some tasks that nearly all designs solve, some that nearly none does."""
    return generator.beta(0.8, 1.2, tasks)


# --- one decision ---------------------------------------------------------------------------


def test_where_none_passes_a_copy_of_the_best_is_not_the_closest() -> None:
    human = [1.0] * 20 + [0.0] * 40
    somewhat = [0.0] * 2 + [1.0] * 25 + [0.0] * 33
    decision = Gate().decide(
        table(np.array([human, somewhat]), "learned-"), table(np.array([human]), "human-")
    )
    assert decision.promoted is None
    assert [c.design for c in decision.comparisons] == ["learned-1", "learned-0"]
    assert "the closest is learned-1" in decision.reason


def test_what_something_speaks_against_is_passed_over_at_the_same_level() -> None:
    human = [1.0] * 20 + [0.0] * 40
    better, best = [1.0] * 50 + [0.0] * 10, [1.0] * 58 + [0.0] * 2
    decision = Gate().decide(
        table(np.array([better, best, human]), "learned-"), table(np.array([human]), "human-")
    )
    assert decision.promoted == "learned-1"
    second = Gate().heeding(decision, {"learned-1": "it cheats"})
    assert (second.promoted, second.level_each) == ("learned-0", decision.level_each)
    assert "passed over: learned-1: it cheats" in second.reason
    assert Decision.from_json(second.to_json()) == second
    none = Gate().heeding(decision, {"learned-0": "it is late", "learned-1": "it cheats"})
    assert none.promoted is None
    assert none.reason.startswith("not promoted: learned-1 beats")
    assert "but learned-1: it cheats; learned-0: it is late" in none.reason
    assert Gate().heeding(decision, {}) == decision


def test_a_refusal_names_the_condition_that_failed() -> None:
    """A bound above zero, and a test that does not agree: the test is what it fails."""
    better = [1.0] * 5 + [0.0] * 25
    decision = Gate(level=0.02).decide(
        table(np.array([better]), "learned-"), table(np.zeros((1, 30)), "human-")
    )
    (only,) = decision.comparisons
    assert only.lower_bound > 0 and not only.passed
    assert "the test must come to 0.02 at most" in decision.reason
    assert "tasks are enough" not in decision.reason


def test_a_clear_winner_is_promoted_with_figures_and_words() -> None:
    human = [1.0] * 20 + [0.0] * 40
    better = [1.0] * 50 + [0.0] * 10
    decision = Gate().decide(
        table(np.array([human, better]), "learned-"), table(np.array([human]), "human-")
    )
    gains = np.array(better) - np.array(human)
    expected = gains.mean() - stats.t.isf(0.005, 59) * stats.sem(gains)
    assert decision.promoted == "learned-1"
    assert decision.lower_bound == pytest.approx(expected)
    assert (decision.level, decision.level_each, decision.tasks) == (0.01, 0.005, 60)
    assert [c.design for c in decision.comparisons] == ["learned-1", "learned-0"]
    assert decision.comparisons[0].p == pytest.approx(0.5**30)
    assert decision.reason.startswith("promoted: learned-1 beats the best human design human-0")
    assert "gain +0.500" in decision.reason
    assert json.loads(json.dumps(decision.to_json(), allow_nan=False)) == decision.to_json()


def test_the_best_human_design_is_the_one_to_beat() -> None:
    weak, strong, learned = [0.0] * 60, [1.0] * 45 + [0.0] * 15, [1.0] * 45 + [0.0] * 15
    humans = table(np.array([weak, strong]), "human-")
    decision = Gate().decide(table(np.array([learned]), "learned-"), humans)
    assert (decision.best_human, decision.promoted) == ("human-1", None)
    assert "not promoted" in decision.reason
    alone = Gate().decide(table(np.array([learned]), "learned-"), {"human-0": humans["human-0"]})
    assert alone.promoted == "learned-0"


def test_a_gain_within_luck_is_refused_and_the_reason_says_how_many_tasks_it_takes() -> None:
    human = [1.0] * 20 + [0.0] * 40
    luckier = [1.0] * 23 + [0.0] * 37
    decision = Gate().decide(
        table(np.array([luckier]), "learned-"), table(np.array([human]), "human-")
    )
    assert decision.promoted is None
    assert decision.lower_bound is not None and decision.lower_bound < 0
    assert "it takes about" in decision.reason


def refused(gains: np.ndarray, level: float = 0.01) -> str:
    """What is said of one that gains so much on each task."""
    human = np.full(gains.size, 0.5)
    decision = Gate(level).decide(
        table(np.array([human + gains]), "learned-"), table(np.array([human]), "human-")
    )
    assert decision.promoted is None
    return decision.reason.rpartition("; ")[2]


def test_what_is_worse_is_said_to_be_worse_and_no_tasks_are_promised() -> None:
    generator = np.random.default_rng(4)
    said = refused(generator.normal(-0.35, 0.1, 40).round(3))
    assert said.startswith("it is worse, by 0.3") and "enough" not in said
    assert "no better" in refused(np.zeros(40))


def test_what_is_refused_is_never_told_that_its_tasks_are_enough() -> None:
    """A handicap may cost more than the gain: seventy-five small wins, and nothing lost."""
    small = np.full(75, 0.012) + np.linspace(-0.004, 0.004, 75).round(4)
    said = re.match(r"it takes about ([0-9,]+) tasks to prove a gain of [+]0.012", refused(small))
    assert said and int(said[1].replace(",", "")) > 75


@pytest.mark.parametrize("level", [0.01, 0.002])
@pytest.mark.parametrize("shape", ["small gains", "wins and losses", "thirds"])
def test_so_many_tasks_as_are_said_to_be_needed_pass_by_the_rule_itself(
    shape: str, level: float
) -> None:
    def gains(generator: np.random.Generator, tasks: int) -> np.ndarray:
        luck = generator.random(tasks)
        if shape == "small gains":
            return generator.normal(0.03, 0.08, tasks)
        if shape == "thirds":
            return generator.integers(-1, 3, tasks) / 3
        return np.where(luck < 0.25, 1.0, np.where(luck < 0.3, -1.0, 0.0))

    rule = PairedGain()
    needed = rule.needed(typical(gains), level)
    found = 0
    for seed in range(200):
        drawn = gains(np.random.default_rng(seed), needed)
        ours = {f"t{n}": float(gain) for n, gain in enumerate(drawn)}
        rival = Rival("", 0.0, dict.fromkeys(ours, 0.0))
        found += rule.judge(ours, rival, level=level, seed=seed).passed
    assert 0.70 <= found / 200 <= 0.92, (needed, found)


def typical(gains: Callable[[np.random.Generator, int], np.ndarray]) -> list[float]:
    """Forty gains that are spread as many are."""
    many = np.sort(gains(np.random.default_rng(0), 4_000))
    return [float(gain) for gain in many[50::100]]


def test_the_level_is_shared_among_the_candidates() -> None:
    human = [0.0] * 60
    candidate = [1.0] * 8 + [0.0] * 52  # sign-flip p = 1/256: enough alone, not among five
    alone = np.array([candidate])
    among = np.array([candidate, human, human, human, human])
    humans = table(np.array([human]), "human-")
    assert Gate().decide(table(alone, "learned-"), humans).promoted == "learned-0"
    assert Gate().decide(table(among, "learned-"), humans).promoted is None


def test_too_few_tasks_open_the_gate_for_nobody() -> None:
    decision = Gate().decide(
        table(np.ones((1, 29)), "learned-"), table(np.zeros((1, 29)), "human-")
    )
    assert decision.promoted is None
    assert "29 tasks are too few" in decision.reason


def test_no_candidate_is_a_decision_too() -> None:
    decision = Gate().decide({}, table(np.zeros((1, 40)), "human-"))
    assert (decision.promoted, decision.lower_bound) == (None, None)
    assert "no candidate" in decision.reason


def test_the_gate_refuses_what_it_cannot_compare() -> None:
    humans = table(np.zeros((1, 40)), "human-")
    with pytest.raises(UsageError, match="no human design"):
        Gate().decide(table(np.ones((1, 40)), "learned-"), {})
    with pytest.raises(UsageError, match="do not share all tasks"):
        Gate().decide(table(np.ones((1, 41)), "learned-"), humans)
    with pytest.raises(UsageError, match="same tasks"):
        Gate().decide({}, humans | table(np.zeros((2, 41)), "human-extra"))
    with pytest.raises(UsageError, match="finite"):
        Gate().decide(table(np.full((1, 40), math.nan), "learned-"), humans)
    with pytest.raises(UsageError):
        Gate(level=0.0)
    with pytest.raises(UsageError):
        PairedGain(fewest_tasks=1)


@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(30, 70), st.sampled_from([1, 3]))
@settings(max_examples=40, deadline=None)
def test_the_order_of_designs_and_tasks_changes_nothing(
    seed: int, k: int, tasks: int, repeats: int
) -> None:
    generator = np.random.default_rng(seed)
    chances = difficulties(generator, tasks)
    learned = table(play(generator, np.minimum(1, chances + 0.3), k, repeats), "learned-")
    humans = table(play(generator, chances, 3, repeats), "human-")

    def turned(designs: Table) -> Table:
        return {d: dict(reversed(r.items())) for d, r in reversed(designs.items())}

    decision = Gate().decide(learned, humans)
    assert Gate().decide(turned(learned), turned(humans)) == decision
    passed = [c for c in decision.comparisons if c.passed]
    assert (decision.promoted is not None) == bool(passed)
    for comparison in passed:
        assert 0 < comparison.lower_bound < comparison.gain
        assert comparison.lower_bound <= (decision.lower_bound or 0)


# --- nothing is found on noise --------------------------------------------------------------


def search(
    generator: np.random.Generator, *, humans: int, shortlist: int, tasks: int, repeats: int
) -> Decision:
    """A whole search among equal designs: 20 are tried on train, the best few go to the gate."""
    train = play(generator, difficulties(generator, 40), 20, repeats).mean(axis=1)
    best = np.argsort(-train)[:shortlist]
    valid = play(generator, difficulties(generator, tasks), 20 + humans, repeats)
    return Gate().decide(table(valid[best], "learned-"), table(valid[20:], "human-"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("humans", "shortlist", "tasks", "repeats"),
    [(1, 5, 60, 1), (4, 3, 60, 1), (3, 3, 40, 3)],
)
def test_equal_designs_are_promoted_in_at_most_one_search_in_a_hundred(
    humans: int, shortlist: int, tasks: int, repeats: int
) -> None:
    generator = np.random.default_rng(100 + tasks)
    rounds = 1000
    report = GateReport.of(
        [
            search(generator, humans=humans, shortlist=shortlist, tasks=tasks, repeats=repeats)
            for _ in range(rounds)
        ]
    )
    assert report.taken == rounds
    assert report.promoted <= stats.binom.ppf(0.999, rounds, 0.01)


@pytest.mark.slow
def test_shuffled_rewards_are_promoted_in_at_most_one_search_in_a_hundred() -> None:
    """Rewards of unequal designs whose labels were shuffled within each task."""
    generator = np.random.default_rng(7)
    chances = difficulties(generator, 80)
    unequal = np.concatenate(
        [
            play(generator, np.clip(chances + g, 0, 1), 1)
            for g in (-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3)
        ]
    )
    rounds, promoted = 1000, 0
    for _ in range(rounds):
        shuffled = generator.permuted(unequal, axis=0)
        decision = Gate().decide(table(shuffled[:4], "learned-"), table(shuffled[4:], "human-"))
        promoted += decision.promoted is not None
    assert promoted <= stats.binom.ppf(0.999, rounds, 0.01)


def test_one_candidate_against_one_human_uses_most_of_the_level() -> None:
    """The gate is not shut altogether: at a level of 20 % noise passes about that often."""
    generator = np.random.default_rng(8)
    promoted = 0
    for _ in range(500):
        valid = play(generator, difficulties(generator, 100), 2)
        decision = Gate(level=0.2).decide(table(valid[:1], "learned-"), table(valid[1:], "human-"))
        promoted += decision.promoted is not None
    assert 0.10 <= promoted / 500 <= 0.25


@pytest.mark.parametrize(("small", "tasks"), [(1 / 3, 30), (1 / 3, 120), (0.1, 60), (1 / 30, 60)])
def test_many_small_gains_that_hide_rare_great_losses_seldom_pass(small: float, tasks: int) -> None:
    """Mean gain zero, but lopsided. A bare t bound passes up to 37 % of these."""
    generator = np.random.default_rng(9)
    humans = table(np.ones((1, tasks)), "human-")
    rounds, promoted = 1000, 0
    for _ in range(rounds):
        lost = generator.random((1, tasks)) < small / (1 + small)
        learned = np.where(lost, 0.0, 1.0 + small)
        promoted += Gate().decide(table(learned, "learned-"), humans).promoted is not None
    assert promoted <= stats.binom.ppf(0.999, rounds, 0.025)


# --- what is planted is found ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("gain", "tasks", "repeats"), [(0.30, 134, 1), (0.40, 80, 1), (0.25, 100, 3)]
)
def test_a_planted_better_design_is_found_and_promoted(
    gain: float, tasks: int, repeats: int
) -> None:
    """One of five candidates solves `gain` more of the tasks than four equal human designs."""
    generator = np.random.default_rng(10)
    rounds, found = 200, 0
    for _ in range(rounds):
        chances = difficulties(generator, tasks)
        # Where the humans fail, the planted design has a chance that adds up to the gain.
        lift = gain / float((1 - chances).mean())
        valid = play(generator, chances, 8, repeats)
        planted = play(generator, chances + lift * (1 - chances), 1, repeats)
        learned = table(np.concatenate((valid[:4], planted)), "learned-")
        decision = Gate().decide(learned, table(valid[4:], "human-"))
        assert decision.promoted in (None, "learned-4")
        found += decision.promoted == "learned-4"
    assert found >= 0.95 * rounds


# --- the counter ----------------------------------------------------------------------------


def test_the_report_counts_and_warns_at_zero() -> None:
    humans = table(np.zeros((1, 40)), "human-")
    yes = Gate().decide(table(np.ones((1, 40)), "learned-"), humans)
    no = Gate().decide(table(np.zeros((1, 40)), "learned-"), humans)
    assert str(GateReport.of([no, no])) == "promoted 0 of 2 designs"
    assert "promoted 0 of 2" in GateReport.of([no, no]).warning
    assert "no decision" in GateReport.of([]).warning
    assert str(GateReport.of([no, yes])) == "promoted 1 of 2 designs"
    assert GateReport.of([no, yes]).warning == ""


def test_a_blind_search_that_found_better_is_told_and_one_that_did_not_is_not() -> None:
    human = {f"t{n}": float(n < 10) for n in range(60)}
    ours = {f"t{n}": float(n < 30) for n in range(60)}
    better = {f"t{n}": float(n < 50) for n in range(60)}
    decision = Gate().decide({"mine": ours}, {"human": human})
    assert decision.promoted == "mine"
    told = Gate().beside_control(decision, ours, {"blind": better, "other": human})
    assert told.promoted == "mine"
    assert told.reason.startswith(decision.reason)
    assert "blind search with the same budget found better: blind (gain +0.333" in told.reason
    for control in ({}, {"blind": ours}, {"blind": human}):
        assert Gate().beside_control(decision, ours, control) == decision


def test_a_blind_search_that_is_as_good_is_rarely_told_to_be_better() -> None:
    generator = np.random.default_rng(3)
    rounds, told = 300, 0
    for _ in range(rounds):
        chances = generator.beta(0.8, 1.2, 60)
        drawn = [
            {f"t{n}": float(v) for n, v in enumerate(generator.binomial(1, chances))}
            for _ in range(4)
        ]
        decision = Gate().decide({"mine": drawn[0]}, {"human": drawn[0]})
        control = {f"c{n}": rewards for n, rewards in enumerate(drawn[1:])}
        told += Gate().beside_control(decision, drawn[0], control) != decision
    assert told <= stats.binom.ppf(0.999, rounds, 0.05)
