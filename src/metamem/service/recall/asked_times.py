"""Questions of nothing but a time: what did we do yesterday, what did I decide last week.

No text has a word of such a question, so that nothing could be found by its words. It is taken apart
here: which days, what sort of facts, whose words. Whatever else a question holds makes it another
one, which is ranked as all are. English, as what texts are analysed by is; days are UTC, as
everywhere in memory.
"""

import re
from dataclasses import dataclass
from datetime import date, timedelta

from metamem.core.stopwords import STOP
from metamem.core.terms import words
from metamem.service.writing.dates import COUNTS, DAY, WEEKDAYS, Days, day_of, midnight, told

LONGEST = 200  # characters of a question that can be of a time alone
NAME_WORDS = 2  # of somebody's name
HOUR = DAY // 24
FEW = {"few": 5, "couple of": 2}  # of days: what people mean by it, roughly
_DAYS_OF = {"day": 1, "week": 7, "fortnight": 14, "month": 31, "year": 366}


def _word(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{pattern})(?!\w)", re.IGNORECASE)


# What is asked for where it is a sort of facts.
_TYPES = {
    "decision": _word(r"decid(?:e|es|ed|ing)|decisions?|agreed?"),
    "plan": _word(r"plans?|planned|planning|scheduled?|intend(?:ed)?"),
    "error": _word(
        r"errors?|failures?|fail(?:s|ed)?|bugs?|br(?:eak|oke|oken)|(?:go|goes|went|going) wrong"
    ),
    "insight": _word(r"insights?|learn(?:ed|t)?|lessons?"),
    "correction": _word(r"corrections?|corrected"),
    "preference": _word(r"preferences?|prefer(?:red)?"),
    "instruction": _word(r"instructions?|instructed"),
    "observation": _word(r"observations?|observed"),
}
# These are done by saying them.
_SAYING = _word(
    r"sa(?:y|ys|id|ying)|tell|told|(?:talk(?:s|ed|ing)?|speak|spoke)(?= about\b)|discuss(?:ed)?"
    r"|mention(?:ed)?|remember(?:ed)?|noted?|suggest(?:ed)?"
)
# These are at their time, whenever they are told.
_HAPPENING = _word(r"happen(?:s|ed|ing)?|occur(?:s|red)?|events?")
# Words of such questions that ask for no matter.
_IDLE = _word(
    r"please|hello|thanks?|good (?:morning|afternoon|evening)|so far|already|exactly|earlier|news?|list"
    r"|chang(?:e|es|ed|ing)|work(?:s|ed|ing)?(?= on\b)|(?:go|goes|went|going)(?= on\b| *\W*$)|g[eo]t(?= done\b)"
    r"|accomplish(?:ed)?|achieved?|anything|everything|something|things?|stuff|notes?|facts?"
    r"|memor(?:y|ies)|kept|stored|summary|recap|(?<=did it )go"
)
_MADE = _word("ma[dk]e")  # as decisions are
_BEGINNING = re.compile(
    r"^(?:please )?(?:show|list|tell|give|remind|recall|summari[sz]e|recap|find|get)\b",
    re.IGNORECASE,
)
# No time is told without one of these.
_TIMELY = re.compile(
    r"\d|day|week|month|year|night|morning|evening|noon|hour|spring|summer|jan|feb|mar|apr|may|ju[nl]|aug"
    r"|sep|oct|nov|dec",
    re.IGNORECASE,
)
_ASKING = re.compile(r"\b(?:what|which|who|anything|everything)\b", re.IGNORECASE)
_OTHER = re.compile(r"\b(?:when|where|how (?:many|much|long|often|old|far|big))\b", re.IGNORECASE)
_LATER = re.compile(
    r"\b(?:will|shall|should|going to|upcoming|scheduled|due|plans?|planned|planning)\b", re.I
)
_EARLIER = re.compile(r"\b(?:did|was|were|had|have|has|been|made)\b", re.IGNORECASE)

_WEEKDAY = re.compile(
    r"(?<!\blast )(?<!\bpast )(?<!\bthis )(?<!\bnext )(?<!\bcoming )(?<!\bon )(?<!\bsince )"
    rf"\b({'|'.join(WEEKDAYS)})\b",
    re.IGNORECASE,
)
_SMALL_MONTH = re.compile(
    r"(?:(?<=\bin )|(?<=\bof )|(?<=\bsince )|(?<=\blast )|(?<=\bthis )|(?<=\bduring )|(?<=\bbefore )"
    r"|(?<=\bafter )|(?<=\buntil )|(?<=\bbetween )|(?<=\band )|(?<=\bfrom )|(?<=\bto )|(?<=\d )"
    r"|(?<=\d(?:st|nd|rd|th) ))(?:march|may)\b|\b(?:march|may)(?= \d)"
)
_WEEKEND = re.compile(r"\b(?:over |on |at |during )?the weekend\b", re.IGNORECASE)
_WEEK_OF = re.compile(r"\b(?:in |during )?(?:the )?week of (?=\S)", re.IGNORECASE)
_PAST_DAYS = re.compile(
    r"\b(?:(?:in|over|during|within|for|from) )?(?:the )?(?P<lead>last|past|previous)"
    rf" (?:(?P<count>\d{{1,3}}|{'|'.join(COUNTS)}|few|couple of) )?"
    r"(?P<unit>hour|day|week|fortnight|month|year)s?\b",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"(?:\b(?P<lead>since|after|before|until|till|by)|\b(?:from|between|in|on|during|of))$", re.I
)
_JOINS = ("and", "or", "to", "until", "till", "through", "-", "–", "—")


@dataclass(frozen=True, slots=True)
class Dated:
    """A question of a time. Where an end is open, or only the filters of the question tell the time,
    it is None."""

    first: int | None
    last: int | None  # the last millisecond
    words: str  # as the question tells it: "of yesterday"; empty where it does not
    types: tuple[str, ...] = ()
    speaker: str = ""  # what may be somebody's name
    by_saying: bool = False  # what is asked for is done by saying it: decided, planned, told
    happening: bool = False  # what is asked for happens, whenever it is told


@dataclass(frozen=True, slots=True)
class _Span:
    first: int | None
    last: int | None
    words: str
    rest: str  # the question without it


def asked(text: str, now: int, *, limited: bool = False) -> Dated | None:
    """What a question of a time asks for; None where it asks for something else, or for no time.
    `limited`: the time may also be told beside it, by filters."""
    text = " ".join(text.split())
    today = day_of(now)
    if len(text) > LONGEST or today is None or _OTHER.search(text):
        return None
    if not limited and not _TIMELY.search(text):
        return None
    types = tuple(name for name, pattern in _TYPES.items() if pattern.search(text))
    rest = text
    for pattern in (_BEGINNING, _IDLE, *_TYPES.values(), _SAYING, _HAPPENING):
        rest = pattern.sub(" ", rest)
    if types:
        rest = _MADE.sub(" ", rest)
    later = bool(_LATER.search(text)) and not _EARLIER.search(text)
    span = _span(" ".join(rest.split()), today, now, later=later)
    if span is None and limited and _ASKING.search(text):
        span = _Span(None, None, "", rest)
    if span is None:
        return None
    left = _telling(span.rest)
    if len(left) > NAME_WORDS or (left and not span.words):
        return None
    return Dated(
        span.first,
        span.last,
        span.words,
        types,
        " ".join(left),
        bool(types) or _SAYING.search(text) is not None,
        _HAPPENING.search(text) is not None,
    )


def days(first: int | None, last: int | None) -> str:
    """A time as dates, the last one included."""
    begin, end = _date(first), _date(last)
    if begin == end:
        return begin
    if not begin or not end:
        return f"since {begin}" if begin else f"until {end}"
    return f"{begin} to {end}"


def _date(at: int | None) -> str:
    found = None if at is None else day_of(at)
    return "" if found is None else found.isoformat()


def _telling(text: str) -> list[str]:
    """The words that ask for something, as they are written."""
    found = [word.strip("'’-") for word in re.findall(r"\w[\w'’-]*", text)]
    telling = [word for word in found if not STOP.issuperset(words(word) or [word])]
    return [re.sub(r"['’]s$", "", word) for word in telling]


# --- the time ---


def _span(text: str, today: date, now: int, *, later: bool) -> _Span | None:
    """The one time that is told, if there is one."""
    text, rolling = _past_days(text, today, now)
    text, week = _WEEK_OF.subn("", text)
    text = _WEEKEND.sub("last weekend" if today.weekday() < 5 else "this weekend", text)
    text = _WEEKDAY.sub(r"on \1", text)
    text = _SMALL_MONTH.sub(lambda m: m[0].capitalize(), text)
    # A question without a tense looks back.
    text = f"{'will' if later else 'did'} {text} "
    found = told(text, today)
    if rolling is not None:
        return None if found else _Span(*rolling, text)
    if not 1 <= len(found) <= 2:
        return None
    begin, lead, phrase = _before(text, found[0].start, found[0].end)
    one, end = found[0].days, found[0].end
    if week:
        monday = one.first - timedelta(one.first.weekday())
        one, phrase = Days(monday, monday + timedelta(6)), f"the week of {phrase}"
    if len(found) == 1:
        return _Span(*_opened(one, lead, phrase, today), text[:begin] + text[end:])
    second, joint, other = _before(text, found[1].start, found[1].end)
    two = found[1].days
    between = text[end:second].strip().lower()
    if not {between, joint} & set(_JOINS) or {between, joint} - {*_JOINS, ""}:
        return None
    told_words = f"from {phrase} to {other}"
    first, last = min(one.first, two.first), max(one.last, two.last)
    return _Span(*_whole(first, last), told_words, text[:begin] + text[found[1].end :])


def _before(text: str, start: int, end: int) -> tuple[int, str, str]:
    """Where a time begins with the word that leads to it, that word, and the time without it."""
    phrase, lead = text[start:end].strip(), ""
    while (head := phrase.partition(" "))[2] and (found := _LEAD.match(head[0])):
        lead, phrase = found["lead"] or lead, head[2].strip()
    if found := _LEAD.search(text[:start].rstrip()):
        start, lead = found.start(), found["lead"] or lead
    return start, lead.lower(), phrase


def _opened(one: Days, lead: str, phrase: str, today: date) -> tuple[int | None, int | None, str]:
    """A time by the word that leads to it: since, before, …"""
    first, last = _whole(one.first, one.last)
    if not lead:
        return first, last, f"of {phrase}"
    if lead in ("before", "until", "till", "by"):
        return None, first - 1 if lead == "before" else last, f"{lead} {phrase}"
    begin = last + 1 if lead == "after" else first
    until = midnight(today) + DAY - 1
    return begin, until if begin <= until else None, f"{lead} {phrase}"


def _whole(first: date, last: date) -> tuple[int, int]:
    return midnight(first), midnight(last) + DAY - 1


def _past_days(text: str, today: date, now: int) -> tuple[str, tuple[int, int, str] | None]:
    """The question without "the last three days", and what that is."""
    match = _PAST_DAYS.search(text)
    if match is None or (match["lead"].lower() != "past" and match["count"] is None):
        return text, None  # last week is a week of the calendar
    word = (match["count"] or "one").lower()
    count = int(word) if word.isdigit() else COUNTS.get(word) or FEW[word]
    unit = match["unit"].lower()
    rest = text[: match.start()] + text[match.end() :]
    phrase = f"of the {match['lead']} {match['count'] or ''} {match['unit']}"
    phrase = " ".join(phrase.split()) + ("s" if match[0].lower().endswith("s") else "")
    until = midnight(today) + DAY - 1
    if unit == "hour":
        return rest, (now - count * HOUR, until, phrase)
    return rest, (midnight(today) - count * _DAYS_OF[unit] * DAY, until, phrase)
