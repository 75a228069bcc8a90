"""The words of texts as rows of one table of vectors, so that words of like meaning can meet.

A reader holds the table for its process, and what it made of texts before. Texts are forgotten when
there are many of them, and the table with them when it has grown large.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from metamem.core.stems import stem
from metamem.core.stopwords import STOP
from metamem.core.terms import words
from metamem.service.recall.catalog import Floats, Ints
from metamem.service.recall.marks import MARKS, marks
from metamem.service.recall.question import Question

MOST_WORDS = 60_000
MOST_TEXTS = 50_000


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


class _Numbers(dict[str, int]):
    """Words and their numbers; one that is looked up for the first time gets the next."""

    def __init__(self) -> None:
        super().__init__({"": 0})
        self.new: list[str] = []  # words that have no vectors yet, in the order of their numbers

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        self.new.append(word)
        return number


class Reader:
    """Reads texts. Safe to share between threads."""

    def __init__(self, vectors: WordVectors) -> None:
        self._source = vectors
        self._lock = Lock()
        self._forget()

    def read(self, question: Question, texts: Sequence[str]) -> Readings:
        with self._lock:
            if len(self._ids) > MOST_WORDS:
                self._forget()
            elif len(self._known) > MOST_TEXTS:
                self._known.clear()
            asked, focus = self._numbered(question.words), self._numbered(question.focus)
            read = [self._read(text) for text in texts]
            self._grow()
            sizes = np.array([0, *(len(ids) for ids, _ in read)], np.int32)
            return Readings(
                asked,
                focus,
                np.concatenate([np.empty(0, np.int32), *(ids for ids, _ in read)]),
                np.cumsum(sizes, dtype=np.int32)[:-1],
                np.array([form for _, form in read], np.float32).reshape(-1, len(MARKS)),
                self._vectors,
                self._weights,
                self._stems,
            )

    def _forget(self) -> None:
        self._ids = _Numbers()
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
            known = self._numbered(telling or found or ("",)), marks(text, found, telling)
            self._known[text] = known
        return known

    def _numbered(self, found: Sequence[str]) -> Ints:
        return np.array([*map(self._ids.__getitem__, found)], np.int32)

    def _grow(self) -> None:
        """Vectors for words that have none yet."""
        new = self._ids.new
        if new:
            rows = np.asarray(self._source.sums(new), np.float32)
            lengths = np.sqrt(np.square(rows).sum(axis=1))
            kept = self._stem_ids
            stems = [kept.setdefault(stem(word), len(kept)) for word in new]
            self._stems = np.concatenate((self._stems, np.array(stems, np.int32)))
            self._weights = np.concatenate((self._weights, lengths))
            self._add(rows / np.maximum(lengths, np.float32(1e-6))[:, None])
            self._ids.new = []

    def _add(self, unit: Floats) -> None:
        """Rows into a table with room to spare: copying all of it for each new word takes long."""
        before, after = len(self._vectors), len(self._vectors) + len(unit)
        if after > len(self._room):
            larger = np.empty((max(1024, 2 * after), unit.shape[1]), np.float32)
            larger[:before] = self._vectors
            self._room = larger
        self._room[before:after] = unit
        self._vectors = self._room[:after]
