"""From features to relevance: many small decision trees, trained elsewhere, summed here.

The trees lie as flat arrays in a file of the package, so that nothing but numpy is needed. All rows
go down all trees at once, a level at a time.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

import numpy as np

from metamem.core.errors import DataError
from metamem.service.recall.catalog import Flags, Floats, Ints
from metamem.service.recall.features import NAMES

FORMAT = 2
FILE = "ranker.json"
SHOWN = 6  # features that an explanation names


@dataclass(frozen=True, slots=True)
class Trees:
    """Nodes of all trees in one row; a leaf leads to itself, so that short ways end there."""

    roots: Ints
    feature: Ints
    threshold: Floats  # a row goes left where its value is not above it
    left: Ints
    right: Ints
    value: Floats  # of a leaf
    depth: int

    def sum(self, rows: Floats) -> Floats:
        flat, start = rows.ravel(), np.arange(len(rows))[:, None] * rows.shape[1]
        at = np.repeat(self.roots[None, :], len(rows), axis=0)
        for _ in range(self.depth):
            values = flat.take(start + self.feature.take(at))
            left = values <= self.threshold.take(at)
            at = np.where(left, self.left.take(at), self.right.take(at))
        summed: Floats = self.value.take(at).sum(axis=1, dtype=np.float64).astype(np.float32)
        return summed


@dataclass(frozen=True, slots=True)
class Gate:
    """Judges a question as a whole: whether anything in the scope answers it at all."""

    weights: Floats  # of the columns that `signs` gives
    bias: float
    least: float

    def open(self, rows: Floats, relevance: Floats) -> bool:
        """Whether to show anything: always, where one text has all that is asked for."""
        seen = signs(rows, relevance)
        return bool(seen[_COVERED] > 0.999 or seen @ self.weights + self.bias >= self.least)


SIGNS = ("relevance", "words", "words_least", "gist", "known", "covered", "covered_wide")

_COVERED = SIGNS.index("covered")


def signs(rows: Floats, relevance: Floats) -> Floats:
    """What tells whether a question has an answer, in the order of SIGNS: the best of each.

    What is covered counts against all that is asked, terms that occur nowhere included.
    """
    top = min(max(float(relevance.max()), 1e-6), 1 - 1e-6)
    best = {name: float(rows[:, NAMES.index(name)].max()) for name in _BEST}
    known = best["known_terms"]
    return np.array(
        [
            np.log(top / (1 - top)),
            best["words"],
            best["words_least"],
            best["gist"],
            known,
            best["covered"] * known,
            best["covered_wide"] * known,
        ],
        np.float32,
    )


_BEST = ("words", "words_least", "gist", "known_terms", "covered", "covered_wide")


@dataclass(frozen=True, slots=True)
class Ranker:
    """Weighs features. `floor` is the relevance below which a fact should not be shown."""

    trees: Trees
    floor: float
    gate: Gate
    made: Mapping[str, object]  # of what and how it was trained

    @classmethod
    def load(cls) -> "Ranker":
        """The ranker that the package ships."""
        return _shipped()

    @classmethod
    def read(cls, path: Path) -> "Ranker":
        return _parsed(path.read_text(encoding="utf-8"))

    def score(self, rows: Floats) -> Floats:
        """The relevance of each row, from 0 to 1; comparable between questions and scopes."""
        odds: Floats = np.exp(-self.trees.sum(rows))
        return np.float32(1) / (np.float32(1) + odds)

    def shown(self, rows: Floats, relevance: Floats) -> Flags:
        """Which facts to show: none where nothing seems to answer, else those above the floor."""
        if not len(rows) or not self.gate.open(rows, relevance):
            return np.zeros(len(rows), np.bool_)
        return relevance >= self.floor

    def explain(self, row: Floats) -> Mapping[str, float]:
        """What speaks for a fact: by how much its relevance falls where a feature is taken away."""
        there = np.flatnonzero(row)  # taking away what is not there changes nothing
        without = np.repeat(row[None, :], len(there) + 1, axis=0)
        without[np.arange(len(there)), there] = 0
        scores = self.score(without)
        drop = scores[-1] - scores[:-1]
        order = np.argsort(-drop, kind="stable")[:SHOWN]
        return {NAMES[there[i]]: round(float(drop[i]), 3) for i in order if drop[i] > 0.0005}


@lru_cache(maxsize=1)
def _shipped() -> Ranker:
    return _parsed((files(__package__) / FILE).read_text(encoding="utf-8"))


def _parsed(text: str) -> Ranker:
    content = json.loads(text)
    if content["format"] != FORMAT or tuple(content["features"]) != NAMES:
        raise DataError(
            "the ranker was trained on other features than these",
            hint="python -m bench.train_ranker makes it anew",
        )
    trees = content["trees"]
    return Ranker(
        Trees(
            np.array(trees["roots"], np.int32),
            np.array(trees["feature"], np.int32),
            np.array(trees["threshold"], np.float32),
            np.array(trees["left"], np.int32),
            np.array(trees["right"], np.int32),
            np.array(trees["value"], np.float32),
            int(trees["depth"]),
        ),
        float(content["floor"]),
        Gate(
            np.array(content["gate"]["weights"], np.float32),
            float(content["gate"]["bias"]),
            float(content["gate"]["least"]),
        ),
        content["made"],
    )
