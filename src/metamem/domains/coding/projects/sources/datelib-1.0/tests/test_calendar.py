import pytest
from datelib.calendar import (
    day_of_year,
    days_in_month,
    from_number,
    is_leap,
    is_valid,
    is_weekend,
    quarter,
    to_number,
    weekday,
    weekday_name,
)


def test_leap_years():
    assert is_leap(2024)
    assert not is_leap(2023)


def test_leap_centuries():
    assert not is_leap(1900)
    assert is_leap(2000)


def test_days_in_month():
    assert days_in_month(2023, 1) == 31
    assert days_in_month(2023, 4) == 30
    assert days_in_month(2023, 12) == 31


def test_days_in_february():
    assert days_in_month(2023, 2) == 28
    assert days_in_month(2024, 2) == 29


def test_days_in_no_month():
    with pytest.raises(ValueError):
        days_in_month(2023, 13)
    with pytest.raises(ValueError):
        days_in_month(2023, 0)


def test_valid():
    assert is_valid((2024, 2, 29))
    assert is_valid((2023, 12, 31))
    assert is_valid((1, 1, 1))


def test_not_valid():
    assert not is_valid((2023, 2, 29))
    assert not is_valid((2023, 13, 1))
    assert not is_valid((2023, 0, 1))
    assert not is_valid((2023, 1, 0))
    assert not is_valid((0, 1, 1))


def test_day_of_year():
    assert day_of_year((2023, 1, 1)) == 1
    assert day_of_year((2023, 12, 31)) == 365


def test_day_of_leap_year():
    assert day_of_year((2024, 3, 1)) == 61


def test_to_number():
    assert to_number((1, 1, 1)) == 1
    assert to_number((2, 1, 1)) == 366
    assert to_number((2000, 1, 1)) == 730120


def test_from_number():
    assert from_number(1) == (1, 1, 1)
    assert from_number(730120) == (2000, 1, 1)
    assert from_number(730119) == (1999, 12, 31)
    assert from_number(365) == (1, 12, 31)


def test_from_number_needs_a_day():
    with pytest.raises(ValueError):
        from_number(0)


def test_there_and_back():
    for date in ((2024, 2, 29), (2023, 3, 1), (1999, 12, 31)):
        assert from_number(to_number(date)) == date


def test_weekday():
    assert weekday((2024, 1, 1)) == 0
    assert weekday((2024, 2, 29)) == 3
    assert weekday((2023, 12, 31)) == 6


def test_weekday_name():
    assert weekday_name((2024, 1, 1)) == "Monday"
    assert weekday_name((2024, 1, 3), short=True) == "Wed"


def test_weekend():
    assert is_weekend((2024, 1, 6))
    assert is_weekend((2024, 1, 7))
    assert not is_weekend((2024, 1, 5))


def test_quarter():
    assert [quarter((2024, month, 1)) for month in (1, 3, 4, 9, 12)] == [1, 1, 2, 3, 4]
