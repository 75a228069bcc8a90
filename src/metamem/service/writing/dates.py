"""The time that a text speaks of, found in its words and anchored to when it was said.

Days are UTC. Where words leave it open (a day and a month in unknown order, a weekday without a
tense, two dates that are no span) there is no answer: a wrong date is worse than none.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

DAY = 86_400_000
_FIRST, _LAST = date(1900, 1, 1), date(2199, 12, 31)  # what is meant outside of these is no date

_MONTHS = "january february march april may june july august september october november december"
_MONTH_NUMBERS = {name: number for number, name in enumerate(_MONTHS.split(), start=1)} | {
    name[:3]: number for number, name in enumerate(_MONTHS.split(), start=1)
} | {"sept": 9}  # fmt: skip
WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_NUMERALS = "one two three four five six seven eight nine ten eleven twelve"
COUNTS = {word: number for number, word in enumerate(_NUMERALS.split(), start=1)} | {
    "a": 1,
    "an": 1,
}
# In Chinese, Japanese and Korean.
_EASTERN_DAYS = {
    word: step
    for step, words in (
        (-2, "前天 一昨日 おととい 그저께 그제"),
        (-1, "昨天 昨日 昨晚 昨夜 어제"),
        (0, "今天 今日 今晚 今夜 오늘"),
        (1, "明天 明日 내일"),
        (2, "后天 後天 明後日 あさって 모레"),
    )
    for word in words.split()
}
_EASTERN_UNITS = {
    word: (unit, step)
    for unit, step, words in (
        ("week", -1, "上周 上週 上星期 先週 지난주"),
        ("week", 1, "下周 下週 下星期 来週 다음주"),
        ("month", -1, "上个月 上個月 先月 지난달"),
        ("month", 1, "下个月 下個月 来月 다음달"),
        ("year", -1, "去年 昨年 작년"),
        ("year", 1, "明年 来年 내년"),
    )
    for word in words.split()
}
_SEASONS = {"spring": 3, "summer": 6}  # as in the north, and of one calendar year

# In capitals where the word has another meaning: "may", "march".
_MONTH = (
    r"(?P<{0}>[Jj]an(?:uary)?|[Ff]eb(?:ruary)?|Mar(?:ch)?|[Aa]pr(?:il)?|May|[Jj]une?|[Jj]uly?"
    r"|[Aa]ug(?:ust)?|[Ss]ept?(?:ember)?|[Oo]ct(?:ober)?|[Nn]ov(?:ember)?|[Dd]ec(?:ember)?)\b\.?"
)
_YEAR = r"(?P<year>(?:19|20|21)\d\d)"
_NTH = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_COUNT = rf"(?P<count>\d{{1,4}}|{'|'.join(COUNTS)})"
_UNIT = r"(?P<unit>day|week|fortnight|month|year)s?"
_WEEKDAY = rf"(?P<weekday>{'|'.join(WEEKDAYS)})"
_THINGS = (
    r"(?:lines|rows|files|tests|cases|places|records|items|tokens|bytes|ms|seconds|people|users)\b"
)
_NOT_NUMBER = r"(?<![\w.,:/#-])"

# No form below matches a text without one of these; each form says which of them it needs.
_YEARS = re.compile(r"(?:19|20|21)\d\d")
_MONTHLY = re.compile(r"[Jj]an|[Ff]eb|Mar|[Aa]pr|May|[Jj]u[nl]|[Aa]ug|[Ss]ep|[Oo]ct|[Nn]ov|[Dd]ec")
_DAILY = re.compile(
    r"day|night|week|month|year|morning|noon|evening|tomorrow|spring|summer", re.IGNORECASE
)
_EASTERN = re.compile("[天日月年周週오내어그모작지전]")
_PAST = re.compile(
    r"\b(?:was|were|had|did|went|met|saw|got|made|took|came|said|told|bought|found|gave|left|began|ran"
    r"|wrote|broke|sent|spent|built|lost|won|held|kept|became|felt|brought|taught|chose|drove|flew|ate"
    r"|sold|paid|led|put|set up|shipped|ago|already|[a-z]{2,}ed)\b",
    re.IGNORECASE,
)
_FUTURE = re.compile(
    r"\b(?:will|shall|'ll|going to|gonna|plan(?:s|ning)? (?:to|on)|intends? to|upcoming|scheduled|due"
    r"|hop(?:e|es|ing) to|want(?:s)? to|about to|won't|deadline|(?:is|are|am|'m|'re|'s) \w+ing)\b|’ll\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Days:
    """Whole days, the last one included."""

    first: date
    last: date


@dataclass(frozen=True, slots=True)
class Told:
    """Days, and where a text tells them."""

    start: int
    end: int
    days: Days


@dataclass(frozen=True, slots=True)
class _Found:
    start: int
    end: int
    days: Days | None  # words about time that say no day, or one that is not in the calendar


def meant(text: str, said_at: int) -> tuple[int | None, int | None]:
    """From when to when a text speaks of, in milliseconds, both included; None where it is not told."""
    anchor = day_of(said_at)
    if anchor is None:
        return None, None
    found = told(text, anchor)
    if not found:
        return None, None
    days = found[0].days
    if any(other.days != days for other in found):
        joined = _span(text, found)
        if joined is None:
            return None, None
        days = joined
    elif _led(text, found[0], "since"):
        days = Days(days.first, max(anchor, days.last))
    elif _led(text, found[0], "until|till|before|after|by"):
        return None, None  # open on one side
    return midnight(days.first), midnight(days.last) + DAY - 1


def told(text: str, anchor: date) -> list[Told]:
    """The days that a text tells, in the order of its words, read as those of a day."""
    return _longest(list(_all(text, anchor)))


def _all(text: str, anchor: date) -> Iterator[_Found]:
    hints = (_YEARS, _MONTHLY, _DAILY) if text.isascii() else (_YEARS, _MONTHLY, _DAILY, _EASTERN)
    there = [hint for hint in hints if hint.search(text)]
    for needed, pattern, days_of in _FORMS:
        if needed not in there:
            continue
        for match in pattern.finditer(text):
            try:
                days = days_of(match, anchor)
            except (ValueError, OverflowError):
                days = None
            if days and not _FIRST <= days.first <= days.last <= _LAST:
                days = None
            yield _Found(match.start(), match.end(), days)


def _longest(found: list[_Found]) -> list[Told]:
    """Days that are told, without those that are a part of longer words about time."""
    kept: list[_Found] = []
    for one in sorted(found, key=lambda each: each.start - each.end):
        if not any(one.start < other.end and other.start < one.end for other in kept):
            kept.append(one)
    told_days = [Told(each.start, each.end, each.days) for each in kept if each.days]
    return sorted(told_days, key=lambda each: each.start)


def _led(text: str, found: Told, words: str) -> bool:
    """Whether one of some words stands before a date, or begins it."""
    before = re.search(rf"\b(?:{words})\s+(?:\w+\s+)?$", text[: found.start], re.IGNORECASE)
    return bool(before or re.match(rf"(?:{words})\s", text[found.start :], re.IGNORECASE))


def _span(text: str, found: list[Told]) -> Days | None:
    """Two dates that are said as one time: from … to …, … until …, … – …"""
    if len(found) != 2:
        return None
    one, two = found
    between = text[one.end : two.start].strip().lower()
    before = text[: one.start].rstrip().lower()
    joined = between in ("to", "until", "till", "through", "-", "–", "—")
    joined |= between == "and" and before.endswith("between")
    return (
        Days(one.days.first, two.days.last) if joined and one.days.first < two.days.last else None
    )


# --- forms ---


def _iso(m: re.Match[str], anchor: date) -> Days:
    return _one(date(int(m["year"]), int(m["month"]), int(m["day"])))


def _named(m: re.Match[str], anchor: date) -> Days | None:
    """A day and a month by name; without a year, the year that the tense or nothing else allows."""
    month, day = _number(m["month"]), int(m["day"])
    if m["year"]:
        return _one(date(int(m["year"]), month, day))
    return _tensed(m, anchor, lambda year: _one(date(year, month, day)))


def _slashed(m: re.Match[str], anchor: date) -> Days | None:
    """Only where one of the two cannot be a month, or both are the same."""
    one, two, year = int(m["one"]), int(m["two"]), int(m["year"])
    if one == two or two > 12 >= one:
        return _one(date(year, one, two))
    return _one(date(year, two, one)) if one > 12 >= two else None


def _month_of_year(m: re.Match[str], anchor: date) -> Days:
    return _month(int(m["year"]), _number(m["month"]))


def _in_month(m: re.Match[str], anchor: date) -> Days | None:
    number = _number(m["month"])
    which = (m["which"] or "").lower()
    if which == "last":
        return _month(anchor.year - (number >= anchor.month), number)
    if which == "next":
        return _month(anchor.year + (number <= anchor.month), number)
    if which == "this":
        return _month(anchor.year, number)
    return _tensed(m, anchor, lambda year: _month(year, number))


def _in_year(m: re.Match[str], anchor: date) -> Days:
    return Days(date(int(m["year"]), 1, 1), date(int(m["year"]), 12, 31))


def _season(m: re.Match[str], anchor: date) -> Days:
    year = {"last": -1, "this": 0, "next": 1}.get((m["which"] or "").lower())
    start = _SEASONS[m["season"].lower()]
    chosen = int(m["year"]) if m["year"] else anchor.year + (year or 0)
    if year == -1 and anchor.month > start + 2:
        chosen = anchor.year
    return Days(date(chosen, start, 1), _month(chosen, start + 2).last)


def _near_day(m: re.Match[str], anchor: date) -> Days:
    words = " ".join(m.group().lower().split())
    if words.startswith("the day before"):
        return _one(anchor - timedelta(2))
    if words.startswith("the day after"):
        return _one(anchor + timedelta(2))
    offset = (
        -1 if words.startswith(("yester", "last")) else 1 if words.startswith("tomorrow") else 0
    )
    return _one(anchor + timedelta(offset))


def _counted(m: re.Match[str], anchor: date) -> Days | None:
    """So many units ago or ahead: days are exact, longer units are as wide as they are."""
    word = m["count"].lower()
    sign = -1 if m["ago"] else 1
    count = sign * (int(word) if word.isdigit() else COUNTS[word])
    unit = m["unit"].lower()
    if unit == "day":
        return _one(anchor + timedelta(count))
    if unit in ("week", "fortnight"):
        day = anchor + timedelta(count * (7 if unit == "week" else 14))
        return Days(day - timedelta(3), day + timedelta(3))
    if unit == "month":
        months = anchor.year * 12 + anchor.month - 1 + count
        return _month(months // 12, months % 12 + 1)
    return _year(anchor.year + count)


def _near_unit(m: re.Match[str], anchor: date) -> Days:
    step = {"last": -1, "previous": -1, "this": 0, "next": 1, "coming": 1}[m["which"].lower()]
    unit = m["unit"].lower()
    if unit in ("week", "weekend"):
        monday = anchor - timedelta(anchor.weekday()) + timedelta(7 * step)
        first = monday + timedelta(5) if unit == "weekend" else monday
        return Days(first, monday + timedelta(6))
    if unit == "month":
        months = anchor.year * 12 + anchor.month - 1 + step
        return _month(months // 12, months % 12 + 1)
    return _year(anchor.year + step)


def _eastern_day(m: re.Match[str], anchor: date) -> Days:
    return _one(anchor + timedelta(_EASTERN_DAYS[m.group()]))


def _eastern_ago(m: re.Match[str], anchor: date) -> Days:
    return _one(anchor - timedelta(int(m["count"])))


def _eastern_unit(m: re.Match[str], anchor: date) -> Days:
    unit, step = _EASTERN_UNITS[m.group().replace(" ", "")]
    if unit == "week":
        monday = anchor - timedelta(anchor.weekday()) + timedelta(7 * step)
        return Days(monday, monday + timedelta(6))
    if unit == "month":
        months = anchor.year * 12 + anchor.month - 1 + step
        return _month(months // 12, months % 12 + 1)
    return _year(anchor.year + step)


def _near_weekday(m: re.Match[str], anchor: date) -> Days | None:
    wanted = WEEKDAYS.index(m["weekday"].lower())
    back = (anchor.weekday() - wanted - 1) % 7 + 1  # days to the last one before today
    which = (m["which"] or "").lower()
    if which in ("last", "past"):
        return _one(anchor - timedelta(back))
    if which == "this":
        return _one(anchor + timedelta(wanted - anchor.weekday()))
    if which == "next":  # of this week or of the one after it: people differ
        return None
    if which == "coming":
        return _one(anchor + timedelta(7 - back if back < 7 else 7))
    tense = _tense(m.string, m.start())
    if tense < 0:
        return _one(anchor - timedelta(back))
    return _one(anchor + timedelta(7 - back if back < 7 else 7)) if tense > 0 else None


def _any(words: Iterable[str]) -> str:
    return f"(?:{'|'.join(sorted(words, key=len, reverse=True))})"


_FORMS: tuple[tuple[re.Pattern[str], re.Pattern[str], Callable[[re.Match[str], date], Days | None]], ...] = (
    (_YEARS, re.compile(rf"{_NOT_NUMBER}{_YEAR}-(?P<month>[01]\d)-(?P<day>[0-3]\d)(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?(?![\w-])"), _iso),
    (_YEARS, re.compile(rf"{_NOT_NUMBER}{_YEAR}/(?P<month>[01]?\d)/(?P<day>[0-3]?\d)(?![\w/])"), _iso),
    (_YEARS, re.compile(rf"{_NOT_NUMBER}{_YEAR}年(?P<month>[01]?\d)月(?P<day>[0-3]?\d)日"), _iso),
    (_YEARS, re.compile(rf"{_NOT_NUMBER}(?P<one>[0-3]?\d)/(?P<two>[0-3]?\d)/{_YEAR}(?![\w/])"), _slashed),
    (_YEARS, re.compile(rf"{_NOT_NUMBER}(?P<day>[0-3]?\d)\.(?P<month>[01]?\d)\.{_YEAR}(?![\w-]|\.\w)"), _iso),
    (_MONTHLY, re.compile(rf"{_NOT_NUMBER}{_NTH}\s+(?:of\s+)?{_MONTH.format('month')}(?:,?\s+{_YEAR}\b)?"), _named),
    (_MONTHLY, re.compile(rf"\b{_MONTH.format('month')}\s+{_NTH}\b(?!\s*[:%]|[.,]\d)(?:,?\s+{_YEAR}\b)?"), _named),
    (_MONTHLY, re.compile(rf"\b{_MONTH.format('month')},?\s+(?:of\s+)?{_YEAR}\b"), _month_of_year),
    (_MONTHLY, re.compile(rf"\b(?i:(?:in|during|since|until|till|by|before|after|of)\s+)?(?P<which>(?i:last|this|next))?(?(which)\s+|(?<=\s))(?<!\d\s){_MONTH.format('month')}(?!\s+\d|\s+[A-Z])"), _in_month),
    (_YEARS, re.compile(rf"\b(?i:in|during|since|until|till|by|before|after|back in)\s+(?:the year\s+)?{_YEAR}\b(?![-/:\w]|\.\w)(?!\s+{_THINGS})"), _in_year),
    (_DAILY, re.compile(rf"\b(?i:(?P<which>last|this|next)\s+|in\s+(?:the\s+)?)(?P<season>(?i:spring|summer))(?:\s+(?:of\s+)?{_YEAR}\b)?(?(which)|(?<=\d))"), _season),
    (_DAILY, re.compile(r"\b(?i:the day before yesterday|the day after tomorrow|yesterday|tomorrow|today|tonight|last night|this (?:morning|afternoon|evening))\b"), _near_day),
    (_DAILY, re.compile(rf"\b{_COUNT}\s+{_UNIT}\s+(?P<ago>ago|earlier|back)\b", re.IGNORECASE), _counted),
    (_DAILY, re.compile(rf"\bin\s+{_COUNT}\s+{_UNIT}\b(?P<ago>)(?!\s+(?:or|of)\b)", re.IGNORECASE), _counted),
    (_DAILY, re.compile(rf"\b{_COUNT}\s+{_UNIT}\s+from\s+(?:now|today)\b(?P<ago>)", re.IGNORECASE), _counted),
    (_DAILY, re.compile(r"\b(?P<which>last|previous|this|next|coming)\s+(?P<unit>weekend|week|month|year)\b", re.IGNORECASE), _near_unit),
    (_DAILY, re.compile(rf"\b(?:(?P<which>last|past|this|next|coming)\s+|on\s+|since\s+){_WEEKDAY}\b", re.IGNORECASE), _near_weekday),
    (_EASTERN, re.compile(rf"(?<![以之]){_any(_EASTERN_DAYS)}(?![气氣])"), _eastern_day),
    (_EASTERN, re.compile(_any(_EASTERN_UNITS).replace("지난", "지난 ?").replace("다음", "다음 ?")), _eastern_unit),
    (_EASTERN, re.compile(r"(?<![\d.月년월])(?P<count>\d{1,4}) ?(?P<unit>天|日|일) ?(?P<ago>[之以]?前|전)"), _eastern_ago),
)  # fmt: skip


# --- calendar ---


def _tensed(m: re.Match[str], anchor: date, of_year: Callable[[int], Days]) -> Days | None:
    """What comes every year: the last one in a sentence of the past, the next one in one to come."""
    tense = _tense(m.string, m.start())
    if not tense:
        return None
    order = (anchor.year, anchor.year - 1) if tense < 0 else (anchor.year, anchor.year + 1)
    for year in order:
        days = of_year(year)
        if days.first <= anchor if tense < 0 else days.last >= anchor:
            return days
    return None


def _tense(text: str, at: int) -> int:
    """Of the sentence around a place: -1 past, 1 to come, 0 unknown or both."""
    begin = max((text.rfind(sign, 0, at) for sign in ".!?\n"), default=-1) + 1
    ends = [end for sign in ".!?\n" if (end := text.find(sign, at)) >= 0]
    sentence = text[begin : min(ends, default=len(text))]
    past, future = bool(_PAST.search(sentence)), bool(_FUTURE.search(sentence))
    return 0 if past == future else -1 if past else 1


def _number(month: str) -> int:
    return _MONTH_NUMBERS[month.lower().rstrip(".")]


def _one(day: date) -> Days:
    return Days(day, day)


def _month(year: int, month: int) -> Days:
    following = date(year + month // 12, month % 12 + 1, 1)
    return Days(date(year, month, 1), following - timedelta(1))


def _year(year: int) -> Days:
    return Days(date(year, 1, 1), date(year, 12, 31))


def day_of(ms: int) -> date | None:
    try:
        return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)).date()
    except OverflowError:
        return None


def midnight(day: date) -> int:
    return (day - date(1970, 1, 1)).days * DAY
