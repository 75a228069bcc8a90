"""Words as they are compared: without case, accents and signs, numbers as digits, dates in one form."""

import re
import unicodedata
from functools import lru_cache

_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_MONTH_NUMBER = {name: n for n, name in enumerate(_MONTHS, 1)} | {
    name[:3]: n for n, name in enumerate(_MONTHS, 1)
}
_UNITS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
]
_DIGITS = {word: str(n) for n, word in enumerate(_UNITS)} | {"once": "1 time", "twice": "2 times"}
# Not the list that designs use: a change for their sake must not change any score.
_FILLERS = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "been",
        "but",
        "by",
        "did",
        "do",
        "does",
        "for",
        "from",
        "had",
        "has",
        "have",
        "he",
        "her",
        "hers",
        "him",
        "his",
        "how",
        "i",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "just",
        "m",
        "me",
        "my",
        "no",
        "not",
        "now",
        "of",
        "off",
        "oh",
        "on",
        "or",
        "our",
        "out",
        "re",
        "s",
        "she",
        "so",
        "some",
        "t",
        "than",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "to",
        "too",
        "up",
        "us",
        "ve",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "who",
        "whom",
        "whose",
        "why",
        "will",
        "with",
        "would",
        "you",
        "your",
    ]
)
_ISO = re.compile(r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b")
_NAMES = "|".join(sorted(_MONTH_NUMBER, key=len, reverse=True))
_DAY_FIRST = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_NAMES})\b\.?,? (\d{{4}})\b")
_MONTH_FIRST = re.compile(rf"\b({_NAMES})\b\.? (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})\b")
_WORD = re.compile(r"[a-z0-9]+")
_DAY = re.compile(rf"\d{{1,2}}(?:{'|'.join(_MONTHS)})\d{{4}}")


def _date(day: str, month: int, year: str) -> str:
    """The day as one word, so that its number is no answer to how many; then month and year."""
    name = _MONTHS[month - 1] if 1 <= month <= 12 else str(month)
    return f"{int(day)}{name}{year} {name} {year}"


@lru_cache(maxsize=8192)
def normal_words(text: str) -> tuple[str, ...]:
    """Lower-case words without accents and signs; numbers as digits, dates in one form."""
    plain = unicodedata.normalize("NFKD", text.lower().replace("’", "'"))
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    plain = _ISO.sub(lambda m: _date(m[3], int(m[2]), m[1]), plain)
    plain = _DAY_FIRST.sub(lambda m: _date(m[1], _MONTH_NUMBER[m[2]], m[3]), plain)
    plain = _MONTH_FIRST.sub(lambda m: _date(m[2], _MONTH_NUMBER[m[1]], m[3]), plain)
    plain = re.sub(r"(?<=\d),(?=\d{3}\b)", "", plain).replace("'s ", " ")
    return tuple(w for word in _WORD.findall(plain) for w in _DIGITS.get(word, word).split())


def content_words(text: str) -> frozenset[str]:
    return frozenset(w for w in normal_words(text) if w not in _FILLERS)


def holds(text: str, phrase: str) -> bool:
    """Whether the text has the phrase, word for word after normalisation."""
    return f" {' '.join(normal_words(phrase))} " in f" {' '.join(normal_words(text))} "


def days(words: tuple[str, ...]) -> dict[int, str]:
    """The days that normal words name, by their places."""
    return {place: word for place, word in enumerate(words) if _DAY.fullmatch(word)}
