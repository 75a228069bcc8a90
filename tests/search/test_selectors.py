"""Formulas by hand, planted clades, stepping stones, equal chances on equal designs, seeds."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from metamem.core.errors import UsageError
from metamem.core.registry import create, names
from metamem.search.selectors import (
    AlmaSelector,
    Candidate,
    CladeSelector,
    GreedySelector,
    NichesSelector,
    ParetoSelector,
    Selector,
    UniformSelector,
)
from metamem.search.selectors.pareto import crowding, fronts

ALL = [
    AlmaSelector(),
    CladeSelector(),
    GreedySelector(),
    NichesSelector(),
    ParetoSelector(),
    UniformSelector(),
]
RANDOM = [selector for selector in ALL if selector != GreedySelector()]
NAMES = ("alma", "clade", "greedy", "niches", "pareto", "uniform")


def design(name: str, mean: float = 0.5, **other: object) -> Candidate:
    fields: dict[str, object] = {
        "id": name,
        "parents": (),
        "mean": mean,
        "se": 0.05,
        "visits": 0,
        "order": int(name.rpartition("-")[2]) if "-" in name else 0,
        "advice_tokens": 100.0,
        "model_calls": 0.0,
        "complete": True,
    }
    return Candidate(**(fields | other))  # type: ignore[arg-type]


def first_picks(
    selector: Selector, archive: Sequence[Candidate], rounds: int = 2000, k: int = 1
) -> Counter[str]:
    counted: Counter[str] = Counter()
    for seed in range(rounds):
        counted.update(selector.select(archive, k, reference=0.06, seed=seed))
    return counted


archives = st.lists(
    st.tuples(
        st.integers(0, 10), st.integers(0, 4), st.integers(0, 5), st.integers(0, 3), st.booleans()
    ),
    min_size=1,
    max_size=12,
).map(
    lambda rows: [
        design(
            f"d-{i}",
            mean / 10,
            parents=(f"d-{i // 2}",) if i else (),
            visits=visits,
            advice_tokens=tokens * 100.0,
            model_calls=float(calls),
            complete=complete,
        )
        for i, (mean, visits, tokens, calls, complete) in enumerate(rows)
    ]
)


# --- what all of them keep to ---------------------------------------------------------------


def test_every_selector_can_be_made_by_name() -> None:
    assert [create("selectors", name) for name in NAMES] == ALL
    assert set(NAMES) <= set(names("selectors"))
    assert create("selectors", "alma", tau=0.1).tau == 0.1


@pytest.mark.parametrize("selector", ALL, ids=lambda s: type(s).__name__)
@given(archive=archives, k=st.integers(1, 15), seed=st.integers(0, 99), turn=st.randoms())
def test_selection_is_a_function_of_the_archive_and_the_seed(
    selector: Selector, archive: list[Candidate], k: int, seed: int, turn
) -> None:
    chosen = selector.select(archive, k, reference=0.06, seed=seed)
    assert len(chosen) == len(set(chosen)) == min(k, len(archive))
    assert set(chosen) <= {c.id for c in archive}
    turn.shuffle(archive)
    assert selector.select(archive, k, reference=0.06, seed=seed) == chosen


@pytest.mark.parametrize("selector", RANDOM, ids=lambda s: type(s).__name__)
def test_the_seed_is_really_used(selector: Selector) -> None:
    archive = [design(f"d-{i}") for i in range(10)]
    assert len(first_picks(selector, archive, 60)) > 5


@pytest.mark.parametrize("selector", RANDOM, ids=lambda s: type(s).__name__)
def test_equal_designs_have_equal_chances(selector: Selector) -> None:
    archive = [design(f"d-{i}") for i in range(8)]
    counted = first_picks(selector, archive)
    assert stats.chisquare([counted[c.id] for c in archive]).pvalue > 1e-4


@pytest.mark.parametrize(
    "selector", [AlmaSelector(), CladeSelector(), UniformSelector()], ids=lambda s: type(s).__name__
)
def test_low_scorers_are_stepping_stones_too(selector: Selector) -> None:
    archive = [design(f"d-{i}", mean) for i, mean in enumerate((0.05, 0.3, 0.4, 0.5, 0.35))]
    assert first_picks(selector, archive, 500, k=2)["d-0"] >= 3


@pytest.mark.parametrize("selector", ALL, ids=lambda s: type(s).__name__)
def test_what_cannot_be_selected_from_is_refused(selector: Selector) -> None:
    good = design("d-0")
    for archive, k in (
        ([], 1),
        ([good], 0),
        ([good, good], 1),
        ([design("d-1", math.nan)], 1),
        ([replace(good, se=-0.1)], 1),
        ([replace(good, doubt=-0.1)], 1),
    ):
        with pytest.raises(UsageError):
            selector.select(archive, k, reference=0.0, seed=0)


# --- alma -----------------------------------------------------------------------------------


def test_alma_score_by_hand() -> None:
    fresh, visited = design("d-0", 0.30), design("d-1", 0.30, visits=3)
    normalised = 1 / (1 + math.exp(-0.24))
    assert AlmaSelector().score(fresh, 0.06) == pytest.approx(normalised)
    assert AlmaSelector().score(visited, 0.06) == pytest.approx(normalised - 0.5 * math.log(4))
    steep = AlmaSelector(slope=5.0).score(fresh, 0.06)
    assert steep == pytest.approx(1 / (1 + math.exp(-5 * 0.24)))


def test_alma_weights_are_those_of_the_published_formula() -> None:
    archive = [
        design(f"d-{i}", mean, visits=visits)
        for i, (mean, visits) in enumerate([(0.0, 0), (0.3, 0), (1.0, 2), (0.3, 1)])
    ]
    weights = [math.exp(2 / (1 + math.exp(-(c.mean - 0.06)))) / (1 + c.visits) for c in archive]
    chances = AlmaSelector().chances(archive, 0.06)
    assert [chances[c.id] for c in archive] == pytest.approx([w / sum(weights) for w in weights])


def test_alma_is_nearly_blind_to_reward() -> None:
    chances = AlmaSelector().chances(
        [design("d-0", 0.0), design("d-1", 0.3), design("d-2", 0.3, visits=1)], 0.06
    )
    assert chances["d-1"] / chances["d-0"] == pytest.approx(1.16, abs=0.005)
    assert chances["d-1"] / chances["d-2"] == pytest.approx(2.0)
    whole = AlmaSelector().chances([design("d-0", 0.0), design("d-1", 1.0)], 0.06)
    assert whole["d-1"] / whole["d-0"] == pytest.approx(1.60, abs=0.01)


def test_alma_draws_with_those_chances_without_replacement() -> None:
    archive = [design("d-0", 0.9), design("d-1", 0.2, visits=1), design("d-2", 0.5, visits=4)]
    selector = AlmaSelector()
    chances = selector.chances(archive, 0.06)
    rounds = 4000
    pairs = Counter(
        tuple(selector.select(archive, 2, reference=0.06, seed=seed)) for seed in range(rounds)
    )
    expected = {
        (a, b): chances[a] * chances[b] / (1 - chances[a]) * rounds
        for a in chances
        for b in chances
        if a != b
    }
    assert stats.chisquare([pairs[p] for p in expected], list(expected.values())).pvalue > 1e-4


def test_alma_refuses_a_temperature_of_zero() -> None:
    with pytest.raises(UsageError):
        AlmaSelector(tau=0.0)


# --- greedy ---------------------------------------------------------------------------------


def test_greedy_of_equals_takes_the_quicker_then_the_less_visited() -> None:
    same = {"parents": (), "mean": 0.5, "se": 0.1, "advice_tokens": 0.0, "model_calls": 0.0}
    archive = [
        Candidate(id="slow", visits=0, order=0, complete=True, steps=9.0, **same),
        Candidate(id="worn", visits=3, order=1, complete=True, steps=5.0, **same),
        Candidate(id="fresh", visits=0, order=2, complete=True, steps=5.0, **same),
    ]
    chosen = GreedySelector().select(archive, 3, reference=0.0, seed=1)
    assert chosen == ["fresh", "worn", "slow"]


def test_greedy_takes_the_best_and_of_equals_the_first() -> None:
    archive = [design("d-3", 0.7), design("d-1", 0.7), design("d-0", 0.2), design("d-2", 0.9)]
    assert GreedySelector().select(archive, 3, reference=0.0, seed=1) == ["d-2", "d-1", "d-3"]


# --- clade ----------------------------------------------------------------------------------


def test_a_planted_better_clade_is_sampled_more() -> None:
    """Two equal founders: the children of one do well, those of the other badly."""
    archive = [design("d-0"), design("d-1")]
    archive += [design(f"d-{i}", 0.7, parents=("d-0",)) for i in range(2, 6)]
    archive += [design(f"d-{i}", 0.3, parents=("d-1",)) for i in range(6, 10)]
    counted = first_picks(CladeSelector(), archive, 1000)
    assert counted["d-0"] > 5 * counted["d-1"]
    good = sum(counted[f"d-{i}"] for i in (0, 2, 3, 4, 5))
    assert good > 0.8 * 1000


def test_grandchildren_count_and_a_shared_descendant_counts_once() -> None:
    archive = [
        design("d-0", 0.5),
        design("d-1", 0.5, parents=("d-0",)),
        design("d-2", 0.5, parents=("d-0",)),
        design("d-3", 0.9, parents=("d-1", "d-2")),
    ]
    beliefs = CladeSelector().posterior(archive)
    spread = max(0.05, math.sqrt(3 / 16 * 0.4**2))
    precision, prior = 1 / (0.05**2 + spread**2), 1 / spread**2
    assert beliefs["d-0"] == pytest.approx(
        (
            0.6 + precision * (3 * -0.1 + 0.3) / (prior + 4 * precision),
            (prior + 4 * precision) ** -0.5,
        )
    )
    assert beliefs["d-1"] == beliefs["d-2"]
    assert beliefs["d-1"][0] > beliefs["d-0"][0]


def test_a_noisy_score_is_drawn_further_towards_the_average() -> None:
    archive = [design("d-0", 0.9, se=0.2), design("d-1", 0.9, se=0.01), design("d-2", 0.3)]
    beliefs = CladeSelector().posterior(archive)
    assert 0.7 < beliefs["d-0"][0] < beliefs["d-1"][0] < 0.9
    assert beliefs["d-0"][1] > beliefs["d-1"][1]


def test_scores_without_spread_still_leave_doubt() -> None:
    archive = [design(f"d-{i}", 0.0, se=0.0) for i in range(4)]
    assert all(0.0 < doubt < math.inf for _, doubt in CladeSelector().posterior(archive).values())
    assert len(first_picks(CladeSelector(), archive, 100)) == 4
    for seed in range(20):
        assert len(set(CladeSelector().select(archive, 4, reference=0.0, seed=seed))) == 4
    with pytest.raises(UsageError):
        CladeSelector(least_spread=0.0)


# --- niches ---------------------------------------------------------------------------------


def believed(archive: list[Candidate]) -> dict[str, float]:
    means, _ = NichesSelector().beliefs(archive)
    return dict(zip((c.id for c in archive), means.tolist(), strict=True))


def test_a_lucky_child_of_a_mediocre_family_is_drawn_towards_it() -> None:
    def family(parent: str, mean: float, first: int) -> list[Candidate]:
        own = [design(f"d-{first}", mean, doubt=0.05)]
        return own + [
            design(f"d-{first + i}", mean, doubt=0.05, parents=(parent,)) for i in (1, 2, 3)
        ]

    poor, good = family("d-0", 0.4, 0), family("d-10", 0.6, 10)
    lucky = design("d-4", 0.62, doubt=0.05, parents=("d-0",))
    found = believed([*poor, lucky, *good])
    assert 0.45 < found["d-4"] < 0.58 < found["d-11"]


def test_what_was_played_more_is_believed_more() -> None:
    archive = [design("d-0", 0.9, doubt=0.3), design("d-1", 0.9, doubt=0.02), design("d-2", 0.1)]
    found = believed(archive)
    assert found["d-0"] < found["d-1"] < 0.9
    _, doubt = NichesSelector().beliefs(archive)
    assert doubt[0, 0] > doubt[1, 1] > 0.0


def test_the_best_at_a_kind_that_the_best_of_all_cannot_do_becomes_a_parent() -> None:
    best = design("d-0", 0.7, doubt=0.03, by_kind={"easy": (0.9, 30), "hard": (0.1, 10)})
    expert = design("d-1", 0.3, doubt=0.03, by_kind={"easy": (0.2, 30), "hard": (0.8, 10)})
    rest = [
        design(f"d-{i}", 0.5, doubt=0.03, by_kind={"easy": (0.65, 30), "hard": (0.05, 10)})
        for i in range(2, 12)
    ]
    counted = first_picks(NichesSelector(), [best, expert, *rest], 200, k=2)
    assert counted["d-1"] == 200  # every second parent is the best at some kind
    alike = [replace(c, by_kind={"all": (c.mean, 40)}) for c in [best, expert, *rest]]
    assert first_picks(NichesSelector(), alike, 200, k=2)["d-1"] < 20


def test_niches_need_doubt() -> None:
    for wrong in ({"root": 0.0}, {"step": 0.0}, {"few": 0.0}):
        with pytest.raises(UsageError):
            NichesSelector(**wrong)


# --- pareto ---------------------------------------------------------------------------------


def dominates(a: Candidate, b: Candidate) -> bool:
    no_worse = (
        a.mean >= b.mean and a.advice_tokens <= b.advice_tokens and a.model_calls <= b.model_calls
    )
    same = (a.mean, a.advice_tokens, a.model_calls) == (b.mean, b.advice_tokens, b.model_calls)
    return no_worse and not same


@given(archives)
def test_fronts_are_what_they_claim(archive: list[Candidate]) -> None:
    peeled = list(fronts(archive))
    assert sorted(c.id for front in peeled for c in front) == sorted(c.id for c in archive)
    for rank, front in enumerate(peeled):
        assert front
        assert not any(dominates(a, b) for a in front for b in front)
        if rank:
            assert all(any(dominates(a, b) for a in peeled[rank - 1]) for b in front)


@given(archives, st.integers(0, 99))
def test_pareto_parents_come_from_the_front_of_the_complete_ones(
    archive: list[Candidate], seed: int
) -> None:
    (parent,) = ParetoSelector().select(archive, 1, reference=0.0, seed=seed)
    chosen = next(c for c in archive if c.id == parent)
    rivals = [c for c in archive if c.complete] or archive
    assert chosen in rivals
    assert not any(dominates(c, chosen) for c in rivals)


def test_pareto_keeps_cheap_designs_and_samples_its_front_evenly() -> None:
    archive = [
        design("d-0", 0.9, advice_tokens=4000.0, model_calls=9.0),
        design("d-1", 0.5, advice_tokens=200.0),
        design("d-2", 0.1, advice_tokens=0.0),
        design("d-3", 0.4, advice_tokens=900.0),  # dominated
    ]
    counted = first_picks(ParetoSelector(), archive)
    assert counted["d-3"] == 0
    assert stats.chisquare([counted[f"d-{i}"] for i in range(3)]).pvalue > 1e-4


def test_pareto_fills_up_from_the_next_front_least_crowded_first() -> None:
    best = design("d-0", 1.0, advice_tokens=0.0)
    line = [
        design(f"d-{i}", m, advice_tokens=t)
        for i, m, t in (
            (1, 0.90, 900.0),
            (2, 0.52, 520.0),
            (3, 0.50, 500.0),
            (4, 0.48, 480.0),
            (5, 0.10, 100.0),
        )
    ]
    assert crowding(line)[0] == crowding(line)[4] == math.inf
    assert min(crowding(line)) == crowding(line)[2]
    for seed in range(20):
        chosen = ParetoSelector().select([best, *line], 5, reference=0.0, seed=seed)
        assert chosen[0] == "d-0"
        assert set(chosen[1:3]) == {"d-1", "d-5"}
        assert "d-3" not in chosen
