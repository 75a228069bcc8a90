"""The time that a question speaks of, where it says so: a year, a month, a day, last week."""

import re
from datetime import UTC, datetime, timedelta

_NAMES = "january february march april may june july august september october november december"
MONTHS = tuple(_NAMES.split())
_MONTH = "|".join(f"{m}|{m[:3]}" for m in MONTHS)
_YEAR = r"(?:19|20)\d\d"
_DAY_FIRST = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTH})\b,?(?: ({_YEAR}))?", re.IGNORECASE
)
_MONTH_FIRST = re.compile(
    rf"\b({_MONTH})\.? (\d{{1,2}})(?:st|nd|rd|th)?\b,?(?: ({_YEAR}))?", re.IGNORECASE
)
_ISO = re.compile(rf"\b({_YEAR})-(\d{{2}})-(\d{{2}})\b")
_MONTH_ALONE = re.compile(
    rf"\b(?:in|of|during|since|last|this|early|late|mid)[ -]({_MONTH})\b,?(?: ({_YEAR}))?",
    re.IGNORECASE,
)
_YEAR_ALONE = re.compile(rf"\b({_YEAR})\b")
_LATELY = re.compile(
    r"\b(yesterday|today|(?:last|this|past) (?:week|weekend|month|year))\b", re.IGNORECASE
)
_DAYS_BACK = {"yesterday": 1, "today": 0}
_BACK = {"week": 8, "weekend": 8, "month": 45, "year": 400}


def span(text: str, now: int) -> tuple[int, int] | None:
    """From when to when, in milliseconds, or None where the text names no time."""
    today = datetime.fromtimestamp(now / 1000, UTC)
    try:
        if found := _ISO.search(text):
            return _days(datetime(int(found[1]), int(found[2]), int(found[3]), tzinfo=UTC), 1)
        if found := _DAY_FIRST.search(text):
            return _days(_past(today, found[3], found[2], int(found[1])), 1)
        if found := _MONTH_FIRST.search(text):
            return _days(_past(today, found[3], found[1], int(found[2])), 1)
        if found := _MONTH_ALONE.search(text):
            return _days(_past(today, found[2], found[1], 1), 31)
        if found := _YEAR_ALONE.search(text):
            return _days(datetime(int(found[1]), 1, 1, tzinfo=UTC), 366)
    except ValueError:  # the 31st of June
        return None
    if found := _LATELY.search(text):
        word = found[1].lower().split()[-1]
        if word in _DAYS_BACK:
            midnight = today.replace(hour=0, minute=0, second=0, microsecond=0)
            return _days(midnight - timedelta(days=_DAYS_BACK[word]), 1)
        return _days(today - timedelta(days=_BACK[word]), _BACK[word])
    return None


def _past(today: datetime, year: str | None, month: str, day: int) -> datetime:
    """A day of that month; of the last one that has begun, where no year is named."""
    number = next(n for n, name in enumerate(MONTHS, 1) if name.startswith(month.lower()[:3]))
    when = datetime(int(year) if year else today.year, number, day, tzinfo=UTC)
    return when if year or when <= today else when.replace(year=today.year - 1)


def _days(first: datetime, count: int) -> tuple[int, int]:
    start = int(first.timestamp() * 1000)
    return start, start + count * 86_400_000
