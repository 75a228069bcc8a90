"""The form of a line, whatever it is about: whether it asks, tells a time or a number, names things."""

import re
from collections.abc import Sequence

from metamem.core.terms import is_paired

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
# Characters that hold Chinese, Japanese and Korean sentences together, as our words without meaning of
# their own do: a text without any is words strung together.
_HOLDING = re.compile(
    "[\u3041-\u3096的了着过是在有和与及或而且但被把将对从向到于为以由给让使要会能可应须必请就都也还又再很更最"
    "已正不没无别吗呢吧啊这那哪此其我你他她它们己个些每各前后上下中里外内时候用"
    "過與為讓給將對從會應須還沒無別嗎這們個後裡內時"
    "은는이가을를의에로와과도만까지부터다요니습까하했합입있]"
)
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
        1 - (len(telling) - _holding(text, found)) / max(1, len(found)),
        1 - len(set(telling)) / max(1, len(telling)),
        len(_SEPARATOR.findall(text)) / max(1, len(found)),
    )


def _holding(text: str, found: Sequence[str]) -> int:
    """How many pairs of characters hold a sentence together; `telling` knows of no such pairs."""
    if text.isascii():
        return 0
    return sum(is_paired(word) and _HOLDING.search(word) is not None for word in found)
