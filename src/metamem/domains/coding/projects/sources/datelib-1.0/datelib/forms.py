"""Dates as text."""

from datelib.calendar import Date, is_valid

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def parse_iso(text: str) -> Date:
    parts = text.strip().split("-")
    if len(parts) != 3:
        raise ValueError(f"not a date: {text}")
    year, month, day = (int(part) for part in parts)
    if not is_valid((year, month, day)):
        raise ValueError(f"no such day: {text}")
    return year, month, day


def parse_words(text: str) -> Date:
    """A date such as 5 March 2024."""
    day, name, year = text.strip().split()
    short = name.lower()[:3]
    if short not in MONTHS:
        raise ValueError(f"no such month: {name}")
    return int(year), MONTHS.index(short) + 1, int(day)


def format_iso(date: Date) -> str:
    return f"{date[0]:04d}-{date[1]:02d}-{date[2]:02d}"


def format_words(date: Date) -> str:
    return f"{date[2]} {MONTHS[date[1] - 1].capitalize()} {date[0]}"


def ordinal(day: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th, 21st."""
    if 11 <= day % 100 <= 13:
        return f"{day}th"
    ending = {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"


def relative(days: int) -> str:
    if days == 0:
        return "today"
    if days == 1:
        return "tomorrow"
    if days == -1:
        return "yesterday"
    return f"in {days} days" if days > 0 else f"{-days} days ago"
