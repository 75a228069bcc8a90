import pytest
from mathlib.statistics import (
    mean,
    median,
    mode,
    moving_average,
    percentile,
    value_range,
    variance,
)


def test_mean():
    assert mean([1, 2, 3, 6]) == 3


def test_mean_of_nothing():
    with pytest.raises(ValueError):
        mean([])


def test_median_of_an_odd_count():
    assert median([9, 1, 5]) == 5
    assert median([4]) == 4


def test_median_of_an_even_count():
    assert median([8, 1, 3, 5]) == 4


def test_median_of_nothing():
    with pytest.raises(ValueError):
        median([])


def test_variance_of_a_sample():
    assert variance([2, 4, 6]) == 4


def test_variance_of_a_population():
    assert variance([2, 4, 6, 8], sample=False) == 5


def test_variance_needs_two_values():
    assert variance([1, 3]) == 2
    with pytest.raises(ValueError):
        variance([1])


def test_mode():
    assert mode([3, 1, 3, 2]) == 3


def test_mode_takes_the_smallest_of_several():
    assert mode([5, 2, 5, 2, 9]) == 2


def test_mode_of_nothing():
    with pytest.raises(ValueError, match="mode"):
        mode([])


def test_percentile():
    assert percentile([10, 40, 20, 30], 50) == 25
    assert percentile([1, 2, 3, 4, 5], 25) == 2


def test_percentile_ends():
    assert percentile([1, 2, 3], 0) == 1
    assert percentile([1, 2, 3], 100) == 3


def test_percentile_out_of_range():
    with pytest.raises(ValueError):
        percentile([1, 2], 101)
    with pytest.raises(ValueError):
        percentile([1, 2], -1)


def test_percentile_of_nothing():
    with pytest.raises(ValueError, match="no values"):
        percentile([], 50)


def test_value_range():
    assert value_range([4, 1, 9]) == 8


def test_value_range_of_nothing():
    assert value_range([]) == 0


def test_moving_average():
    assert moving_average([1, 2, 3, 4], 2) == [1.5, 2.5, 3.5]
    assert moving_average([1, 2, 3], 1) == [1, 2, 3]


def test_moving_average_over_everything():
    assert moving_average([1, 2, 3], 3) == [2]


def test_moving_average_width():
    with pytest.raises(ValueError):
        moving_average([1, 2], 0)
