"""Tasks as numbers: words in hashed buckets, so that nothing has to be known beforehand."""

import re
import zlib
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from metamem.routing.words import Context

Vector = NDArray[np.float64]
MOST_LETTERS = 8000  # of each text
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a task, where it was found, and how much it weighs there."""

    name: str
    weight: float


@lru_cache(maxsize=8192)
def _terms(task: str, seen: str, tags: tuple[tuple[str, str], ...]) -> tuple[Term, ...]:
    parts = [
        _words(task, ""),
        _words(seen, "seen: "),
        {f"{name}={value}": 1.0 for name, value in tags},
    ]
    filled = [part for part in parts if part]
    found = []
    for part in filled:
        # Each part counts alike, however long it is: all of them together have the length one.
        length = float(np.sqrt(sum(w * w for w in part.values()) * len(filled)))
        found += [Term(name, weight / length) for name, weight in part.items()]
    return tuple(found)


def terms(context: Context) -> tuple[Term, ...]:
    """What a task is known by: the words of each of its parts, and its tags."""
    return _terms(context.task, context.seen, tuple(sorted(context.tags.items())))


def _words(text: str, prefix: str) -> dict[str, float]:
    """Longer words say more; one that comes again says little more."""
    counts: dict[str, int] = {}
    for word in _WORD.findall(text[:MOST_LETTERS].lower()):
        counts[word] = counts.get(word, 0) + 1
    return {f"{prefix}{w}": float(np.log1p(len(w)) * np.sqrt(n)) for w, n in counts.items()}


@lru_cache(maxsize=65536)
def bucket(term: str, dimensions: int) -> tuple[int, float]:
    """Where a term is counted, from 1 on, and with which sign."""
    code = zlib.crc32(term.encode("utf-8", "replace"))
    return 1 + code % dimensions, 1.0 if code & 0x80000000 else -1.0


def features(context: Context, dimensions: int) -> Vector:
    """A one, and then the buckets, which have the length one (nothing where there are no words)."""
    return _features(context.task, context.seen, tuple(sorted(context.tags.items())), dimensions)


@lru_cache(maxsize=8192)
def _features(task: str, seen: str, tags: tuple[tuple[str, str], ...], dimensions: int) -> Vector:
    row = np.zeros(dimensions + 1)
    for term in _terms(task, seen, tags):
        place, sign = bucket(term.name, dimensions)
        row[place] += sign * term.weight
    length = float(np.sqrt(row @ row))
    if length > 0:
        row /= length
    row[0] = 1.0
    row.flags.writeable = False  # kept, and nobody's to change
    return row
