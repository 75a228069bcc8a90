"""Against scipy, printed tables, brute force, and simulations with known truth."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from metamem.core.errors import UsageError
from metamem.evaluation.statistics import (
    bootstrap_interval,
    cohens_d,
    hedges_g,
    holm,
    lower_bound,
    paired_comparison,
    paired_t,
    power_hint,
    sign_flip,
    standard_error,
    superiority,
    t_interval,
    tasks_needed,
    upper_bound,
    welch,
    welch_from_summary,
    wilcoxon,
)
from metamem.evaluation.statistics.distributions import (
    normal_cdf,
    normal_quantile,
    normal_sf,
    t_critical,
    t_quantile,
    t_sf,
)

SIDES = ("two-sided", "greater", "less")
thirds = st.integers(-3, 3).map(lambda v: v / 3)
reals = st.floats(-1, 1).map(lambda v: round(v, 6))


def brute_force(differences: list[float], side: str) -> float:
    """Every pattern of signs, one by one."""
    sizes = np.abs(differences)
    observed = math.fsum(differences)
    sums = [float(np.dot(s, sizes)) for s in itertools.product((-1, 1), repeat=len(sizes))]
    hit = {
        "greater": lambda v: v >= observed - 1e-9,
        "less": lambda v: v <= observed + 1e-9,
        "two-sided": lambda v: abs(v) >= abs(observed) - 1e-9,
    }[side]
    return sum(map(hit, sums)) / len(sums)


# --- distributions --------------------------------------------------------------------------


@pytest.mark.parametrize("df", [1, 2, 3.2265, 5, 29, 133, 1e4, 1e7])
def test_student_t_agrees_with_scipy(df: float) -> None:
    for t in (-40.0, -3.1, -1e-4, 0.0, 0.3, 2.0, 8.0, 60.0):
        assert t_sf(t, df) == pytest.approx(stats.t.sf(t, df), rel=1e-7, abs=1e-300)
        assert t_sf(-t, df) == pytest.approx(stats.t.cdf(t, df), rel=1e-7, abs=1e-300)
    for p in (1e-100, 1e-6, 0.002, 0.01, 0.25, 0.5, 0.9, 0.995):
        assert t_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-7, abs=1e-9)


def test_student_t_agrees_with_the_printed_table() -> None:
    assert t_critical(0.025, 10) == pytest.approx(2.228, abs=5e-4)
    assert t_critical(0.01, 29) == pytest.approx(2.462, abs=5e-4)
    assert t_critical(0.005, 2) == pytest.approx(9.925, abs=5e-4)


def test_normal_agrees_with_scipy() -> None:
    for z in (-9.0, -1.96, 0.0, 0.5, 7.0):
        assert normal_sf(z) == pytest.approx(stats.norm.sf(z), rel=1e-12)
        assert normal_cdf(z) == pytest.approx(stats.norm.cdf(z), rel=1e-12)
    for p in (1e-9, 0.025, 0.5, 0.99):
        assert normal_quantile(p) == pytest.approx(stats.norm.ppf(p), rel=1e-9, abs=1e-12)


@given(st.floats(0.001, 0.999), st.floats(1, 500))
def test_quantile_and_distribution_undo_each_other(p: float, df: float) -> None:
    assert t_sf(-t_quantile(p, df), df) == pytest.approx(p, rel=1e-9)


@pytest.mark.parametrize("p", [0.0, 1.0, -0.1, math.nan])
def test_quantiles_refuse_what_is_no_probability(p: float) -> None:
    with pytest.raises(UsageError):
        t_quantile(p, 5)
    with pytest.raises(UsageError):
        normal_quantile(p)


# --- sign-flip test -------------------------------------------------------------------------


@given(st.lists(thirds, min_size=1, max_size=9), st.sampled_from(SIDES))
@settings(max_examples=60, deadline=None)
def test_sign_flip_on_repeats_is_the_full_enumeration(values: list[float], side: str) -> None:
    answer = sign_flip(values, side=side)
    assert answer.method == "exact"
    assert answer.p == pytest.approx(brute_force(values, side))


@given(st.lists(reals, min_size=1, max_size=9), st.sampled_from(SIDES))
@settings(max_examples=60, deadline=None)
def test_sign_flip_on_any_rewards_is_the_full_enumeration(values: list[float], side: str) -> None:
    assert sign_flip(values, side=side).p == pytest.approx(brute_force(values, side))


def test_sign_flip_on_wins_and_losses_is_the_exact_sign_test() -> None:
    differences = [1.0] * 40 + [-1.0] * 20 + [0.0] * 74
    expected = stats.binomtest(40, 60, 0.5, alternative="greater").pvalue
    answer = sign_flip(differences, side="greater")
    assert (answer.p, answer.method) == (pytest.approx(expected), "exact")


def test_sampled_sign_flip_is_near_the_exact_one_and_seeded() -> None:
    generator = np.random.default_rng(3)
    rough = generator.normal(0.25, 1, 60)  # no common fraction: must be sampled
    sampled = sign_flip(rough, seed=1)
    assert sampled.method == "monte carlo"
    assert sampled == sign_flip(rough, seed=1)
    assert sampled == sign_flip(rough[::-1], seed=1)
    assert sampled.p != sign_flip(rough, seed=2).p
    exact = sign_flip(np.round(rough, 2), seed=1)
    assert exact.method == "exact"
    assert sampled.p == pytest.approx(exact.p, abs=0.01)


def test_sampled_sign_flip_never_reports_zero() -> None:
    rough = np.random.default_rng(0).uniform(1, 2, 50) * math.pi
    assert sign_flip(rough, side="greater", draws=999).p == 1 / 1000


@given(st.lists(thirds, min_size=1, max_size=60), st.sampled_from(SIDES))
def test_p_values_are_probabilities_and_do_not_depend_on_task_order(
    values: list[float], side: str
) -> None:
    for test in (sign_flip, wilcoxon):
        p = test(values, side=side).p
        assert 0.0 < p <= 1.0
        assert test(sorted(values), side=side).p == p
        mirrored = {"greater": "less", "less": "greater"}.get(side, side)
        assert test([-v for v in values], side=mirrored).p == pytest.approx(p)


# --- Wilcoxon, t, Welch, Holm ---------------------------------------------------------------


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("n", [5, 12, 40])
def test_wilcoxon_without_ties_agrees_with_scipy(n: int, side: str) -> None:
    values = np.random.default_rng(n).normal(0.3, 1, n)
    answer = wilcoxon(values, side=side)
    expected = stats.wilcoxon(values, alternative=side, method="exact")
    assert answer.p == pytest.approx(expected.pvalue)
    positive = stats.rankdata(np.abs(values))[values > 0].sum()
    assert answer.statistic == positive


@given(st.lists(thirds, min_size=1, max_size=8), st.sampled_from(SIDES))
@settings(max_examples=60, deadline=None)
def test_wilcoxon_with_ties_is_the_full_enumeration(values: list[float], side: str) -> None:
    moved = np.array([v for v in values if v])
    signed = list(np.sign(moved) * stats.rankdata(np.round(np.abs(moved), 9)))
    expected = brute_force(signed, side) if signed else 1.0
    assert wilcoxon(values, side=side).p == pytest.approx(expected)


@pytest.mark.parametrize("side", SIDES)
def test_wilcoxon_of_many_tied_values_agrees_with_scipys_approximation(side: str) -> None:
    values = np.random.default_rng(8).integers(-3, 5, 600).astype(float)
    answer = wilcoxon(values, side=side)
    expected = stats.wilcoxon(values, alternative=side, method="approx", correction=True)
    assert answer.method == "normal"
    assert answer.p == pytest.approx(expected.pvalue, rel=1e-9)


@pytest.mark.parametrize("side", SIDES)
def test_paired_t_agrees_with_scipy(side: str) -> None:
    values = np.random.default_rng(4).normal(-0.2, 1, 23)
    answer, expected = paired_t(values, side=side), stats.ttest_1samp(values, 0, alternative=side)
    assert answer.statistic == pytest.approx(expected.statistic)
    assert answer.p == pytest.approx(expected.pvalue)
    assert answer.df == 22


def test_three_groups_each_are_not_significant_though_z_is_two() -> None:
    answer = welch_from_summary(0.881, 0.024, 3, 0.786, 0.041, 3)
    assert answer.statistic == pytest.approx(2.00, abs=0.005)
    assert answer.df == pytest.approx(3.2, abs=0.05)
    assert answer.p == pytest.approx(0.134, abs=0.0015)
    assert 2 * t_sf(2.00, 3.2) == pytest.approx(0.134, abs=0.0005)  # from the rounded figures
    assert 2 * normal_sf(answer.statistic) < 0.05  # the z test's false claim


@pytest.mark.parametrize("side", SIDES)
def test_welch_agrees_with_scipy(side: str) -> None:
    generator = np.random.default_rng(6)
    a, b = generator.normal(0, 1, 9), generator.normal(0.5, 3, 14)
    answer = welch(a, b, side=side)
    expected = stats.ttest_ind(a, b, equal_var=False, alternative=side)
    assert (answer.statistic, answer.p) == pytest.approx((expected.statistic, expected.pvalue))


def test_welch_refuses_what_it_cannot_answer() -> None:
    with pytest.raises(UsageError):
        welch_from_summary(0.1, 0.0, 3, 0.2, 0.0, 3)
    with pytest.raises(UsageError):
        welch([1.0], [0.0, 1.0])
    with pytest.raises(UsageError):
        welch_from_summary(0.1, -0.1, 3, 0.2, 0.1, 3)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_lies_between_no_correction_and_bonferroni(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    for p, q in zip(p_values, adjusted, strict=True):
        assert p <= q <= min(1.0, len(p_values) * p) + 1e-15
    ranked = [q for _, q in sorted(zip(p_values, adjusted, strict=True))]
    assert ranked == sorted(ranked)


def test_holm_refuses_what_is_no_p_value() -> None:
    with pytest.raises(UsageError):
        holm([0.5, 1.5])


# --- intervals ------------------------------------------------------------------------------


def test_t_interval_and_bounds_agree_with_scipy() -> None:
    values = np.random.default_rng(2).normal(0.1, 0.4, 31)
    se = stats.sem(values)
    assert standard_error(values) == pytest.approx(se)
    low, high = stats.t.interval(0.95, 30, values.mean(), se)
    assert t_interval(values) == pytest.approx((low, high))
    assert lower_bound(values, 0.01) == pytest.approx(values.mean() - stats.t.ppf(0.99, 30) * se)
    assert upper_bound(values, 0.01) == pytest.approx(values.mean() + stats.t.ppf(0.99, 30) * se)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_bootstrap_agrees_with_scipy(method: str) -> None:
    values = np.random.default_rng(5).exponential(1.0, 60)
    expected = stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=20_000,
        method={"bca": "BCa"}.get(method, method),
        random_state=np.random.default_rng(1),
    ).confidence_interval
    found = bootstrap_interval(values, method=method, seed=1, draws=20_000)
    assert found == pytest.approx((expected.low, expected.high), abs=0.02)


def test_bootstrap_is_seeded_and_does_not_depend_on_task_order() -> None:
    values = [0.0, 1.0, 1.0, 0.0, 0.3, 1.0, 0.0, 1.0]
    assert bootstrap_interval(values, seed=3) == bootstrap_interval(values[::-1], seed=3)
    assert bootstrap_interval(values, seed=3) != bootstrap_interval(values, seed=4)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0])
def test_intervals_refuse_what_is_no_confidence(confidence: float) -> None:
    with pytest.raises(UsageError):
        t_interval([0.0, 1.0], confidence)
    with pytest.raises(UsageError):
        bootstrap_interval([0.0, 1.0], confidence=confidence)


# --- effect sizes and power -----------------------------------------------------------------


def test_effect_sizes_by_hand() -> None:
    values = [1.0, 0.0, 0.0, 1.0, -1.0, 1.0]
    d = np.mean(values) / np.std(values, ddof=1)
    assert cohens_d(values) == pytest.approx(d)
    assert hedges_g(values) == pytest.approx(d * (1 - 3 / (4 * 5 - 1)), rel=2e-3)
    assert superiority(values) == pytest.approx((3 + 0.5 * 2) / 6)


@pytest.mark.parametrize(("effect", "sd"), [(0.1, 0.5), (0.05, 0.3), (0.5, 0.6), (-0.2, 0.5)])
@pytest.mark.parametrize(("alpha", "power"), [(0.05, 0.8), (0.002, 0.95)])
def test_tasks_needed_give_the_power_they_promise(
    effect: float, sd: float, alpha: float, power: float
) -> None:
    def true_power(n: int) -> float:
        critical = stats.t.isf(alpha / 2, n - 1)
        return float(stats.nct.sf(critical, n - 1, math.sqrt(n) * abs(effect) / sd))

    n = tasks_needed(effect, sd, alpha, power)
    assert true_power(n) >= power - 0.002
    assert true_power(n - max(2, round(0.15 * n))) < power  # and not far more than needed


def test_tasks_needed_refuse_nonsense_and_the_hint_says_it_in_words() -> None:
    for wrong in ((0.0, 1.0, 0.05, 0.8), (0.1, -1.0, 0.05, 0.8), (0.1, 1.0, 0.0, 0.8)):
        with pytest.raises(UsageError):
            tasks_needed(*wrong)
    assert tasks_needed(0.1, 0.0) == 2
    assert tasks_needed(0.1, 0.5, one_sided=True) < tasks_needed(0.1, 0.5)
    hint = power_hint(40, 0.1, 0.5)
    assert f"you need about {tasks_needed(0.1, 0.5)} tasks to see" in hint
    assert "enough" in power_hint(4000, 0.1, 0.5)
    assert "no difference" in power_hint(40, 0.0, 0.5)


# --- the comparison -------------------------------------------------------------------------


def rewards(values: list[float]) -> dict[str, float]:
    return {f"task-{i:03d}": v for i, v in enumerate(values)}


def test_a_comparison_says_it_all() -> None:
    generator = np.random.default_rng(11)
    b = generator.integers(0, 2, 100).astype(float)
    a = np.where(generator.random(100) < 0.3, 1.0, b)
    found = paired_comparison(rewards(a.tolist()), rewards(b.tolist()), seed=1)
    expected = stats.ttest_rel(a, b)
    interval = expected.confidence_interval(0.95)
    assert found.gain == pytest.approx(a.mean() - b.mean())
    assert (found.mean_a, found.mean_b, found.n) == pytest.approx((a.mean(), b.mean(), 100))
    assert found.p_t == pytest.approx(expected.pvalue)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert found.p_permutation == pytest.approx(2 ** -int((a > b).sum()) * 2)
    assert found.effect_size == hedges_g((a - b).tolist())
    assert found.superiority == superiority((a - b).tolist())
    assert "tasks" in found.power_hint
    assert not found.note
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["gain"] == found.gain


def test_a_comparison_refuses_what_cannot_be_paired() -> None:
    with pytest.raises(UsageError, match="task-002"):
        paired_comparison(rewards([1, 0, 1]), rewards([1, 0]))
    with pytest.raises(UsageError, match="at least 2"):
        paired_comparison(rewards([1]), rewards([0]))
    with pytest.raises(UsageError, match="finite"):
        paired_comparison(rewards([1, math.nan]), rewards([0, 0]))


def test_no_spread_gives_no_nan_and_a_note() -> None:
    same = paired_comparison(rewards([1, 0, 1 / 3]), rewards([1, 0, 1 / 3]))
    assert (same.gain, same.low, same.high, same.p_permutation, same.p_t) == (0, 0, 0, 1, 1)
    assert same.effect_size == 0.0
    assert "equally well" in same.note
    shifted = paired_comparison(rewards([0.4] * 10), rewards([0.1] * 10))
    assert shifted.low == shifted.high == pytest.approx(0.3)
    assert shifted.p_t == shifted.p_permutation == pytest.approx(2 / 2**10)
    assert shifted.effect_size is None
    assert "same amount" in shifted.note


@given(st.lists(st.tuples(reals, reals), min_size=2, max_size=15), st.integers(0, 9))
@settings(max_examples=60, deadline=None)
def test_swapping_the_sides_mirrors_the_comparison(
    pairs: list[tuple[float, float]], seed: int
) -> None:
    a, b = rewards([p[0] for p in pairs]), rewards([p[1] for p in pairs])
    one, other = paired_comparison(a, b, seed), paired_comparison(b, a, seed)
    assert one.gain == pytest.approx(-other.gain)
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))
    assert one.p_permutation == pytest.approx(other.p_permutation)
    assert one.p_t == pytest.approx(other.p_t)
    assert one.low <= one.gain <= one.high
    json.dumps(one.to_json(), allow_nan=False)
    shuffled = dict(reversed(list(a.items())))
    assert paired_comparison(shuffled, b, seed) == one


# --- simulations with known truth -----------------------------------------------------------


def paired_null(generator: np.random.Generator, n: int, repeats: int) -> np.ndarray:
    """Two equal designs on tasks of very different difficulty."""
    difficulty = generator.beta(0.7, 0.7, n)
    a, b = (generator.binomial(repeats, difficulty) / repeats for _ in range(2))
    return a - b


@pytest.mark.parametrize("test", [sign_flip, wilcoxon, paired_t])
@pytest.mark.parametrize(("n", "repeats"), [(30, 1), (60, 3)])
def test_equal_designs_are_called_different_at_most_as_often_as_stated(
    test, n: int, repeats: int
) -> None:
    generator = np.random.default_rng(20)
    rounds, level = 1500, 0.05
    hits = sum(test(paired_null(generator, n, repeats)).p <= level for _ in range(rounds))
    assert hits <= stats.binom.ppf(0.9995, rounds, level)
    assert hits >= stats.binom.ppf(0.0005, rounds, level * 0.3)  # not vacuous: a test that rejects


@pytest.mark.parametrize("kind", ["t", "percentile", "bca"])
def test_intervals_cover_the_truth_about_as_often_as_stated(kind: str) -> None:
    generator = np.random.default_rng(30)
    rounds, covered, truth = 800, 0, 0.1
    for _ in range(rounds):
        values = generator.choice([-1.0, 0.0, 1.0], p=[0.15, 0.6, 0.25], size=50)
        if kind == "t":
            low, high = t_interval(values)
        else:
            low, high = bootstrap_interval(values, method=kind, draws=600, seed=7)
        covered += low <= truth <= high
    share = covered / rounds
    assert 0.92 <= share <= 0.975
