"""Which pieces have the words of a question, and where in them the words stand."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metamem.knowledge.snapshot import Snapshot

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Term:
    """A term of a question that stands somewhere: how rare it is, and its postings."""

    text: str
    rarity: float
    begin: int
    end: int


def found_terms(snapshot: Snapshot, numbers: Mapping[str, int]) -> list[Term]:
    terms = []
    for text, number in numbers.items():
        if number + 1 < len(snapshot.starts):
            begin, end = int(snapshot.starts[number]), int(snapshot.starts[number + 1])
            if end > begin:
                count, every = end - begin, len(snapshot)
                rarity = float(np.log(1 + (every - count + 0.5) / (count + 0.5)))
                terms.append(Term(text, rarity, begin, end))
    return terms


def scored(snapshot: Snapshot, terms: list[Term]) -> Floats:
    """The relevance of every piece by its words alone."""
    scores = np.zeros(len(snapshot), np.float32)
    for term in terms:
        rows = snapshot.rows[term.begin : term.end]
        worth = snapshot.weights[term.begin : term.end].astype(np.float32)
        scores[rows] += np.float32(term.rarity) * worth
    return scores


def seen(snapshot: Snapshot, terms: list[Term], rows: Ints) -> tuple[NDArray[np.uint8], Floats]:
    """For some pieces, in rising order, and each term: the fields where it stands, and its worth."""
    fields = np.zeros((len(rows), len(terms)), np.uint8)
    worth = np.zeros((len(rows), len(terms)), np.float32)
    for column, term in enumerate(terms):
        postings = snapshot.rows[term.begin : term.end]
        at = np.minimum(np.searchsorted(postings, rows), len(postings) - 1)
        there = postings[at] == rows
        places = term.begin + at[there]
        fields[there, column] = snapshot.fields[places]
        worth[there, column] = snapshot.weights[places].astype(np.float32)
    return fields, worth


def best(scores: Floats, count: int) -> Ints:
    """The rows of the highest scores above zero, in rising order of rows."""
    if len(scores) > count:
        rows = np.argpartition(-scores, count)[:count]
    else:
        rows = np.arange(len(scores))
    return np.sort(rows[scores[rows] > 0]).astype(np.int64)
