"""Years, months and days. A date is a tuple (year, month, day)."""

Date = tuple[int, int, int]
LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def is_leap(year: int) -> bool:
    return (year % 4 == 0 and year % 100 != 0) or year % 400 == 0


def days_in_month(year: int, month: int) -> int:
    if month < 1 or month > 12:
        raise ValueError(f"no such month: {month}")
    if month == 2 and is_leap(year):
        return 29
    return LENGTHS[month - 1]


def is_valid(date: Date) -> bool:
    year, month, day = date
    if year < 1 or month < 1 or month > 12:
        return False
    return 1 <= day <= days_in_month(year, month)


def day_of_year(date: Date) -> int:
    """1 for the first of January."""
    year, month, day = date
    return sum(days_in_month(year, m) for m in range(1, month)) + day


def to_number(date: Date) -> int:
    """Days since the first day of year 1, which is day 1."""
    before = date[0] - 1
    return before * 365 + before // 4 - before // 100 + before // 400 + day_of_year(date)


def from_number(number: int) -> Date:
    if number < 1:
        raise ValueError("days are counted from 1")
    year = number // 366 + 1
    while to_number((year + 1, 1, 1)) <= number:
        year += 1
    rest = number - to_number((year, 1, 1)) + 1
    month = 1
    while rest > days_in_month(year, month):
        rest -= days_in_month(year, month)
        month += 1
    return year, month, rest


def weekday(date: Date) -> int:
    """0 for Monday up to 6 for Sunday."""
    return (to_number(date) - 1) % 7


def weekday_name(date: Date, short: bool = False) -> str:
    name = NAMES[weekday(date)]
    return name[:3] if short else name


def is_weekend(date: Date) -> bool:
    return weekday(date) >= 5


def quarter(date: Date) -> int:
    return (date[1] - 1) // 3 + 1
