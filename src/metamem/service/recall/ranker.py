"""From features to relevance: many small decision trees, trained elsewhere, summed here.

One set of trees ranks, a small one tells bait, and another whether a question has an answer at all.
They lie in a file of the package.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

import numpy as np

from metamem.core.errors import DataError
from metamem.core.trees import Trees
from metamem.service.recall.catalog import Flags, Floats
from metamem.service.recall.features import NAMES
from metamem.service.recall.signs import SIGNS, signs

FORMAT = 3
FILE = "ranker.json"
SHOWN = 6  # features that an explanation names
ALONE, TIMES = 0.05, 4  # the least relevance of one that is shown alone, and over that of the next
STRANGE = 0.001  # share of a question that is known, below which nothing is: it is never quite zero
_COVERED = SIGNS.index("covered")
_KNOWN, _KNOWN_NAMES = NAMES.index("known_terms"), NAMES.index("known_names")


@dataclass(frozen=True, slots=True)
class Bait:
    """Tells texts that were written to be found: the question again, or its words strung together."""

    trees: Trees  # over the columns of BAIT

    def share(self, rows: Floats) -> Floats:
        """What is left of each row's relevance: nearly all, or nearly nothing for bait."""
        left = np.ones(len(rows), np.float32)
        piled = np.flatnonzero(rows[:, _PILE] >= PILED)
        if len(piled):
            odds = np.exp(self.trees.sum(rows[piled][:, _OF_BAIT]))
            left[piled] = (1 / (1 + odds)) ** 2
        return left


BAIT = (
    *("echo", "pile", "phrases", "words_back", "matched", "covered", "matter", "terms_full"),
    *("asked_terms", "line_asks", "line_length", "line_chatter", "line_repeats", "line_listed"),
)
PILED = 0.2  # share of a text's words that are the question's, below which it is no bait
_OF_BAIT = np.array([NAMES.index(name) for name in BAIT])
_PILE = NAMES.index("pile")


@dataclass(frozen=True, slots=True)
class Gate:
    """Judges a question as a whole: whether anything in the scope answers it at all."""

    trees: Trees  # over what `signs` gives
    least: float

    def open(self, rows: Floats, relevance: Floats) -> bool:
        """Whether to show anything: always, where one text has all that is asked for."""
        seen = signs(rows, relevance)
        return bool(seen[_COVERED] > 0.999 or self.trees.sum(seen[None, :])[0] >= self.least)


@dataclass(frozen=True, slots=True)
class Ranker:
    """Weighs features. `floor` is the relevance below which a fact should not be shown."""

    trees: Trees
    bait: Bait
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
        return self.bait.share(rows) / (np.float32(1) + odds)

    def shown(self, rows: Floats, relevance: Floats) -> Flags:
        """Which facts to show: none where nothing seems to answer, else those above the floor.

        Bait comes late, but is not left out: somebody may have noted a question with its answer.
        Where no word of the question occurs in the scope, the gate, which goes by words, is closed:
        one fact that stands out is shown alone then, as an answer in other words ("pets" for a labrador).
        """
        if not len(rows):
            return np.zeros(0, np.bool_)
        if self.gate.open(rows, relevance):
            return relevance >= self.floor * self.bait.share(rows)
        return _standing_out(rows, relevance)

    def explain(self, row: Floats) -> Mapping[str, float]:
        """What speaks for a fact: by how much its relevance falls where a feature is taken away."""
        there = np.flatnonzero(row)  # taking away what is not there changes nothing
        without = np.repeat(row[None, :], len(there) + 1, axis=0)
        without[np.arange(len(there)), there] = 0
        scores = self.score(without)
        drop = scores[-1] - scores[:-1]
        order = np.argsort(-drop, kind="stable")[:SHOWN]
        return {NAMES[there[i]]: round(float(drop[i]), 3) for i in order if drop[i] > 0.0005}


def _standing_out(rows: Floats, relevance: Floats) -> Flags:
    """The one fact that is far more relevant than the next, where all words of a question are strange
    to the scope and no name is; none else."""
    shown = np.zeros(len(relevance), np.bool_)
    if rows[:, _KNOWN].max() > STRANGE or rows[:, _KNOWN_NAMES].max() < 1:
        return shown
    first = int(np.argmax(relevance))
    rest = np.delete(relevance, first).max(initial=0)
    shown[first] = relevance[first] >= max(ALONE, TIMES * rest)
    return shown


@lru_cache(maxsize=1)
def _shipped() -> Ranker:
    return _parsed((files(__package__) / FILE).read_text(encoding="utf-8"))


def _parsed(text: str) -> Ranker:
    content = json.loads(text)
    names = tuple(tuple(content.get(part, ())) for part in ("features", "bait_features", "signs"))
    if content["format"] != FORMAT or names != (NAMES, BAIT, SIGNS):
        raise DataError(
            "the ranker was trained on other features than these",
            hint="python -m bench.train_ranker makes it anew",
        )
    return Ranker(
        Trees.read(content["trees"]),
        Bait(Trees.read(content["bait"])),
        float(content["floor"]),
        Gate(Trees.read(content["gate"]["trees"]), float(content["gate"]["least"])),
        content["made"],
    )
