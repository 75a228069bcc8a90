"""The score of a text that was handed over as the reply to a question: rules, and no judge.

Only the first so many tokens count. Where there is something to tell, evidence that was found and
an answer that is told both earn; each value that is superseded or made up halves the score. Where there is nothing to
tell, silence is right, and what could be taken for an answer earns nothing.
"""

import re
import unicodedata
from collections import Counter
from functools import lru_cache

from metamem.core.tokens import count_tokens, truncate_tokens
from metamem.domains.dialogue.conversation import Evidence, Question

VERSION = 1

PARTLY, WHOLLY = 0.5, 0.9  # shares of a line's words: from here it counts, from here as all of it
COMMITTED = 8  # an answer in a text of at most so many tokens is meant as the answer
BARE = 0.5  # what an answer is worth that stands among many other words, without its context
NEAR = 15  # words around an answer in which its context is looked for
WRONG = 0.5  # what is left of a score for each thing told that does not hold (any more)
NOISE = 0.5  # what a text as long as the budget costs where there was nothing to tell

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


def score(question: Question, reply: str, budget: int) -> float:
    """From 0 to 1. Nothing after the first `budget` tokens plays any part."""
    text = truncate_tokens(reply, budget)[0]
    against = sum(holds(text, phrase) for phrase in question.against)
    found = _evidence(question, text)
    if not question.answerable:
        quiet = 1 - NOISE * count_tokens(text) / budget
        return 0.0 if against else round(max(quiet, found), 6)
    told = _told(question, text)
    if question.suffices:
        earned = max(found, told)
    else:  # the line alone says what happened and not when
        earned = max(found * (1 + _share_of_answer(question, text)) / 2, told)
    return round(earned * WRONG**against, 6)


# --- evidence -------------------------------------------------------------------------------


def _evidence(question: Question, text: str) -> float:
    """The share of what is needed that the text holds."""
    groups = question.evidence
    return sum(max(coverage(e, text) for e in g) for g in groups) / len(groups) if groups else 0.0


def coverage(evidence: Evidence, text: str) -> float:
    """How far some stretch of the text says what the line says, 0 to 1."""
    if not all(holds(text, phrase) for phrase in evidence.must):
        return 0.0
    if holds(text, evidence.text):
        return 1.0
    wanted = content_words(evidence.text)
    needed = {w for phrase in evidence.must for w in normal_words(phrase)}
    words = normal_words(text)
    width = 2 * len(normal_words(evidence.text))
    inside: Counter[str] = Counter()
    best = 0
    for place, word in enumerate(words):
        inside[word] += 1
        if place >= width:
            left = words[place - width]
            inside[left] -= 1
            if not inside[left]:
                del inside[left]
        if word in wanted and needed <= inside.keys():
            best = max(best, len(wanted & inside.keys()))
    share = best / len(wanted) if wanted else 0.0
    return min(1.0, max(0.0, (share - PARTLY) / (WHOLLY - PARTLY)))


# --- answers --------------------------------------------------------------------------------


def _share_of_answer(question: Question, text: str) -> float:
    return max(
        (sum(holds(text, p) for p in phrases) / len(phrases) for phrases in question.answers),
        default=0.0,
    )


def _told(question: Question, text: str) -> float:
    """The answer in so many words: whole if it is all that is said or stands in its context."""
    return max((_answered(question.text, phrases, text) for phrases in question.answers), default=0)


def _answered(asked: str, phrases: tuple[str, ...], text: str) -> float:
    committed = count_tokens(text) <= COMMITTED * len(phrases)
    there = [p for p in phrases if holds(text, p) and (committed or not p.isdigit())]
    if not there:  # a number among many words may count anything
        return 0.0
    if committed:
        context = 1.0
    else:
        context = sum(_context(asked, phrase, text) for phrase in there) / len(there)
    return (BARE + (1 - BARE) * context) * len(there) / len(phrases)


def _context(asked: str, phrase: str, text: str) -> float:
    """The share of the question's words that stand near the answer, whatever their endings."""
    wanted = {_stem(w) for w in content_words(asked)}
    words, answer = normal_words(text), normal_words(phrase)
    best = 0
    for start in range(len(words) - len(answer) + 1):
        if words[start : start + len(answer)] == answer:
            near = words[max(0, start - NEAR) : start + len(answer) + NEAR]
            best = max(best, len(wanted & {_stem(w) for w in near}))
    return best / len(wanted) if wanted else 1.0


def _stem(word: str) -> str:
    return word[:4]
