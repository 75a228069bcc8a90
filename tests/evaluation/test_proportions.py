"""Against scipy, the examples that Newcombe printed, and what is possible at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from metamem.core.errors import UsageError
from metamem.evaluation.statistics.proportions import difference_interval, wilson_interval

COUNTS = st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(COUNTS)
def test_one_share_is_as_scipy_has_it(counted: tuple[int, int]) -> None:
    hits, n = counted
    found = stats.binomtest(hits, n).proportion_ci(method="wilson")
    errors = float(stats.norm.ppf(0.975))
    assert wilson_interval(hits / n, n, errors) == pytest.approx((found.low, found.high), abs=1e-9)


@pytest.mark.parametrize(
    ("one", "other", "printed"),
    [((56, 70), (48, 80), (0.0524, 0.3339)), ((9, 10), (3, 10), (0.1705, 0.8090)),
     ((10, 10), (0, 10), (0.6075, 1.0)), ((0, 10), (0, 10), (-0.2775, 0.2775))],
)  # fmt: skip
def test_a_difference_is_as_newcombe_printed_it(
    one: tuple[int, int], other: tuple[int, int], printed: tuple[float, float]
) -> None:
    (a, m), (b, n) = one, other
    assert difference_interval((a / m, m), (b / n, n), 1.96) == pytest.approx(printed, abs=2e-4)


@given(COUNTS, COUNTS, st.floats(0.1, 10))
def test_it_holds_the_difference_and_never_leaves_what_is_possible(
    one: tuple[int, int], other: tuple[int, int], errors: float
) -> None:
    (a, m), (b, n) = one, other
    low, high = difference_interval((a / m, m), (b / n, n), errors)
    assert -1.0 <= low <= a / m - b / n <= high <= 1.0 and low < high


def test_what_is_no_share_is_refused() -> None:
    for share, n in ((1.1, 5), (-0.1, 5), (0.5, 0)):
        with pytest.raises(UsageError):
            wilson_interval(share, n, 1.96)
