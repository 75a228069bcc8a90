import pytest
from mathlib.sequences import (
    arithmetic,
    collatz,
    cumulative,
    differences,
    fibonacci,
    is_increasing,
    triangle_row,
)


def test_fibonacci():
    assert fibonacci(7) == [0, 1, 1, 2, 3, 5, 8]


def test_fibonacci_short():
    assert fibonacci(1) == [0]
    assert fibonacci(0) == []


def test_arithmetic():
    assert arithmetic(5, 3, 4) == [5, 8, 11, 14]


def test_cumulative():
    assert cumulative([1, 2, 3, 4]) == [1, 3, 6, 10]
    assert cumulative([]) == []


def test_differences():
    assert differences([1, 4, 9, 16]) == [3, 5, 7]


def test_differences_of_one_value():
    assert differences([5]) == []


def test_increasing():
    assert is_increasing([1, 2, 5])
    assert not is_increasing([1, 3, 2])


def test_increasing_with_equals():
    assert not is_increasing([1, 2, 2])
    assert is_increasing([1, 2, 2], strict=False)


def test_collatz():
    assert collatz(6) == [6, 3, 10, 5, 16, 8, 4, 2, 1]
    assert collatz(1) == [1]


def test_collatz_needs_a_positive_number():
    with pytest.raises(ValueError):
        collatz(0)


def test_triangle_row():
    assert triangle_row(0) == [1]
    assert triangle_row(4) == [1, 4, 6, 4, 1]
