"""The form of a line, whatever it is about: whether it asks, tells a time or a number, names things."""

import re
from collections.abc import Sequence

MARKS = (
    *("asks", "when", "number", "self", "names", "place", "length", "chatter"),
    # what is written to be found says words again, or strings them together
    *("repeats", "listed"),
)

# Words are looked up rather than searched for by one pattern of them all, which would be tried at
# every character of every text.
_TIMES = """
    yesterday today tonight tomorrow ago last next week weekend month year recently since
    monday tuesday wednesday thursday friday saturday sunday
    january february march april june july august september october november december
"""
_YEARS = map(str, range(1900, 2100))
_WHEN = frozenset(f"{word}{end}" for word in (*_TIMES.split(), *_YEARS) for end in ("", "s"))
_WHEN_EAST = re.compile("昨|今天|明天|去年|月")
_COUNTS = "two three four five six seven eight nine ten dozen once twice couple"
_NUMBERS = frozenset(_COUNTS.split())
_SELF = frozenset(("i", "me", "my", "mine", "we", "us", "our"))
_PLACES = frozenset(("city", "town", "country", "beach", "park"))
_WORD = re.compile(r"\w+")
_DIGIT = re.compile(r"\d")
# These two begin with the character that is rarest in them, which is found quickly.
_NAME = re.compile(r"[A-Z](?<=[a-z,;:] [A-Z])[a-z]+")
_AT_A_PLACE = re.compile(r" (?:(?<=\b(?:in|at|to) )|(?<=\bfrom ))(?:the )?[A-Z][a-z]")
_SEPARATOR = re.compile(r"[,;|/•]")


def marks(text: str, found: Sequence[str], telling: Sequence[str]) -> tuple[float, ...]:
    """A value for each of MARKS. `found` are all words of the text, `telling` those that tell
    something."""
    written = _WORD.findall(text)
    said = written if text.islower() else [word.lower() for word in written]
    different = set(said)
    return (
        float("?" in text or "？" in text),
        float(
            not _WHEN.isdisjoint(different)
            or (not text.isascii() and _WHEN_EAST.search(text) is not None)
        ),
        float(not _NUMBERS.isdisjoint(different) or _DIGIT.search(text) is not None),
        float(sum(map(_SELF.__contains__, said)) if not _SELF.isdisjoint(different) else 0),
        float(len(_NAME.findall(text))),
        float(not _PLACES.isdisjoint(written) or _AT_A_PLACE.search(text) is not None),
        float(len(found)),
        1 - len(telling) / max(1, len(found)),
        1 - len(set(telling)) / max(1, len(telling)),
        len(_SEPARATOR.findall(text)) / max(1, len(found)),
    )
