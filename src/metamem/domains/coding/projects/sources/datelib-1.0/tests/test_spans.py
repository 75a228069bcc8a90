import pytest
from datelib.spans import (
    add_days,
    add_months,
    age,
    date_range,
    days_between,
    month_end,
    next_workday,
    overlaps,
    workdays,
)


def test_days_between():
    assert days_between((2024, 1, 1), (2024, 1, 31)) == 30
    assert days_between((2024, 2, 28), (2024, 3, 1)) == 2


def test_days_between_backwards():
    assert days_between((2024, 1, 2), (2024, 1, 1)) == -1


def test_add_days():
    assert add_days((2023, 12, 31), 1) == (2024, 1, 1)
    assert add_days((2024, 3, 1), -1) == (2024, 2, 29)


def test_add_months():
    assert add_months((2024, 1, 15), 1) == (2024, 2, 15)
    assert add_months((2024, 11, 5), 2) == (2025, 1, 5)
    assert add_months((2024, 11, 5), 1) == (2024, 12, 5)
    assert add_months((2024, 1, 5), -1) == (2023, 12, 5)


def test_add_months_to_a_shorter_month():
    assert add_months((2024, 1, 31), 1) == (2024, 2, 29)
    assert add_months((2023, 3, 31), -1) == (2023, 2, 28)


def test_date_range():
    assert date_range((2024, 2, 28), (2024, 3, 1)) == [(2024, 2, 28), (2024, 2, 29), (2024, 3, 1)]


def test_date_range_of_one_day():
    assert date_range((2024, 1, 1), (2024, 1, 1)) == [(2024, 1, 1)]


def test_workdays():
    assert workdays((2024, 1, 1), (2024, 1, 7)) == 5
    assert workdays((2024, 1, 6), (2024, 1, 7)) == 0


def test_workdays_with_holidays():
    assert workdays((2024, 1, 1), (2024, 1, 5), [(2024, 1, 1)]) == 4


def test_age():
    assert age((2000, 6, 15), (2024, 6, 14)) == 23
    assert age((2000, 6, 15), (2024, 7, 1)) == 24


def test_age_on_the_birthday():
    assert age((2000, 6, 15), (2024, 6, 15)) == 24
    assert age((2000, 6, 15), (2000, 6, 15)) == 0


def test_age_before_birth():
    with pytest.raises(ValueError):
        age((2000, 1, 1), (1999, 12, 31))


def test_overlaps():
    january = ((2024, 1, 1), (2024, 1, 31))
    assert overlaps(january, ((2024, 1, 20), (2024, 2, 5)))
    assert not overlaps(january, ((2024, 2, 1), (2024, 2, 5)))
    assert not overlaps(((2024, 2, 1), (2024, 2, 5)), january)


def test_overlaps_in_one_day():
    first = ((2024, 1, 1), (2024, 1, 5))
    second = ((2024, 1, 5), (2024, 1, 9))
    assert overlaps(first, second)
    assert overlaps(second, first)


def test_next_workday():
    assert next_workday((2024, 1, 4)) == (2024, 1, 5)
    assert next_workday((2024, 1, 5)) == (2024, 1, 8)


def test_month_end():
    assert month_end((2024, 2, 3)) == (2024, 2, 29)
    assert month_end((2023, 4, 30)) == (2023, 4, 30)
