"""The words of texts as rows of one table of vectors, so that words of like meaning can meet.

A reader holds the table for its process, and what it made of texts before; both are forgotten
together when they have grown large.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from metamem.service.recall.catalog import Floats, Ints
from metamem.service.recall.question import Question
from metamem.service.recall.stems import stem
from metamem.service.recall.stopwords import STOP
from metamem.service.recall.terms import words

MOST_WORDS = 60_000
MOST_TEXTS = 50_000
MARKS = (
    *("asks", "when", "number", "self", "names", "place", "length", "chatter"),
    *(
        "repeats",
        "listed",
    ),  # what is written to be found says words again, or strings them together
)

_WHEN = re.compile(
    r"\b(yesterday|today|tonight|tomorrow|ago|last|next|week|weekend|month|year|monday|tuesday"
    r"|wednesday|thursday|friday|saturday|sunday|january|february|march|april|june|july|august"
    r"|september|october|november|december|recently|since|(19|20)\d\d)s?\b|昨|今天|明天|去年|月",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d|\b(two|three|four|five|six|seven|eight|nine|ten|dozen|once|twice|couple)\b", re.IGNORECASE
)
_SELF = re.compile(r"\b(I|me|my|mine|we|us|our)\b", re.IGNORECASE)
_NAME = re.compile(r"(?<=[a-z,;:] )[A-Z][a-z]+")
_SEPARATOR = re.compile(r"[,;|/•]")
_PLACE = re.compile(r"\b(in|at|to|from) (the )?[A-Z][a-z]+|\b(city|town|country|beach|park)\b")


class WordVectors(Protocol):
    """Vectors of single words, quickly; longer ones for words that tell more."""

    @property
    def dimensions(self) -> int: ...

    def sums(self, texts: Sequence[str]) -> NDArray[np.float32]: ...


@dataclass(frozen=True, slots=True)
class Readings:
    """A question and several texts, read. Words are ids: rows of `vectors`."""

    asked: Ints  # words of the question that tell something
    focus: Ints  # the sort of thing that it asks for
    words: Ints  # words of all texts that tell something, one text after the other
    starts: Ints  # where each text begins in `words`; every text has at least one
    marks: Floats  # a row for each text, a column for each of MARKS
    vectors: Floats  # unit rows by word
    weights: Floats  # how much each word tells
    stems: Ints  # words of one stem have one number


class Reader:
    """Reads texts. Safe to share between threads."""

    def __init__(self, vectors: WordVectors) -> None:
        self._source = vectors
        self._lock = Lock()
        self._forget()

    def read(self, question: Question, texts: Sequence[str]) -> Readings:
        with self._lock:
            if len(self._ids) > MOST_WORDS or len(self._known) > MOST_TEXTS:
                self._forget()
            asked, focus = self._numbered(question.words), self._numbered(question.focus)
            read = [self._read(text) for text in texts]
            self._grow()
            sizes = np.array([0, *(len(ids) for ids, _ in read)], np.int32)
            return Readings(
                asked,
                focus,
                np.concatenate([np.empty(0, np.int32), *(ids for ids, _ in read)]),
                np.cumsum(sizes, dtype=np.int32)[:-1],
                np.array([marks for _, marks in read], np.float32).reshape(-1, len(MARKS)),
                self._vectors,
                self._weights,
                self._stems,
            )

    def _forget(self) -> None:
        self._ids: dict[str, int] = {"": 0}
        self._known: dict[str, tuple[Ints, tuple[float, ...]]] = {}
        self._room: Floats = np.zeros((1, self._source.dimensions), np.float32)
        self._vectors: Floats = self._room
        self._weights: Floats = np.zeros(1, np.float32)
        self._stems: Ints = np.zeros(1, np.int32)
        self._stem_ids: dict[str, int] = {"": 0}

    def _read(self, text: str) -> tuple[Ints, tuple[float, ...]]:
        known = self._known.get(text)
        if known is None:
            found = words(text)
            telling = [word for word in found if word not in STOP]
            known = self._numbered(telling or found or ("",)), _marks(text, found, telling)
            self._known[text] = known
        return known

    def _numbered(self, found: Sequence[str]) -> Ints:
        ids = self._ids
        return np.array([ids.setdefault(word, len(ids)) for word in found], np.int32)

    def _grow(self) -> None:
        """Vectors for words that have none yet."""
        new = list(self._ids)[len(self._vectors) :]
        if new:
            rows = np.asarray(self._source.sums(new), np.float32)
            lengths = np.sqrt(np.square(rows).sum(axis=1))
            kept = self._stem_ids
            stems = [kept.setdefault(stem(word), len(kept)) for word in new]
            self._stems = np.concatenate((self._stems, np.array(stems, np.int32)))
            self._weights = np.concatenate((self._weights, lengths))
            self._add(rows / np.maximum(lengths, np.float32(1e-6))[:, None])

    def _add(self, unit: Floats) -> None:
        """Rows into a table with room to spare: copying all of it for each new word takes long."""
        before, after = len(self._vectors), len(self._vectors) + len(unit)
        if after > len(self._room):
            larger = np.empty((max(1024, 2 * after), unit.shape[1]), np.float32)
            larger[:before] = self._vectors
            self._room = larger
        self._room[before:after] = unit
        self._vectors = self._room[:after]


def _marks(text: str, found: Sequence[str], telling: Sequence[str]) -> tuple[float, ...]:
    return (
        float("?" in text or "？" in text),
        float(_WHEN.search(text) is not None),
        float(_NUMBER.search(text) is not None),
        float(len(_SELF.findall(text))),
        float(len(_NAME.findall(text))),
        float(_PLACE.search(text) is not None),
        float(len(found)),
        1 - len(telling) / max(1, len(found)),
        1 - len(set(telling)) / max(1, len(telling)),
        len(_SEPARATOR.findall(text)) / max(1, len(found)),
    )
