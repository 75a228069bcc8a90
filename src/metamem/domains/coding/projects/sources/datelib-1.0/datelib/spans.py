"""What lies between dates."""

from datelib.calendar import Date, days_in_month, from_number, is_weekend, to_number


def days_between(start: Date, end: Date) -> int:
    return to_number(end) - to_number(start)


def add_days(date: Date, days: int) -> Date:
    return from_number(to_number(date) + days)


def add_months(date: Date, months: int) -> Date:
    """The same day some months later, or the last day of a shorter month."""
    total = date[0] * 12 + date[1] - 1 + months
    year, month = total // 12, total % 12 + 1
    return year, month, min(date[2], days_in_month(year, month))


def date_range(start: Date, end: Date) -> list[Date]:
    """All days from the first to the last, both included."""
    return [from_number(n) for n in range(to_number(start), to_number(end) + 1)]


def workdays(start: Date, end: Date, holidays: list[Date] | None = None) -> int:
    """Days of work from the first to the last, both included."""
    free = holidays or []
    return len([d for d in date_range(start, end) if not is_weekend(d) and d not in free])


def age(born: Date, today: Date) -> int:
    """Whole years."""
    if today < born:
        raise ValueError("not born yet")
    years = today[0] - born[0]
    if today[1:] < born[1:]:
        years -= 1
    return years


def overlaps(a: tuple[Date, Date], b: tuple[Date, Date]) -> bool:
    """Whether two spans share a day."""
    return a[0] <= b[1] and b[0] <= a[1]


def next_workday(date: Date) -> Date:
    """The first day of work after a date."""
    date = add_days(date, 1)
    while is_weekend(date):
        date = add_days(date, 1)
    return date


def month_end(date: Date) -> Date:
    return date[0], date[1], days_in_month(date[0], date[1])
