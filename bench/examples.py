"""Questions of generated talk and notes as rows of features, for training and for measuring."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bench.memory_talks import CHOSEN_ON, Asked, Scope, Talk
from bench.note_generator import notes
from bench.talk_generator import flat, talks
from metamem.core.protocols import Embedder
from metamem.service.recall.catalog import Floats, Ints
from metamem.service.recall.reading import Reader

SEED, TALKS, NOTES = 1, 40, 240  # other seeds are for measuring
NOTES_WEIGHT = 0.1  # of a row of notes against one of talk
KEPT = 60  # of the lines of a generated question that do not answer it
SETTINGS = {
    "objective": "binary",
    "num_leaves": 8,
    "max_depth": 4,
    "learning_rate": 0.05,
    "min_data_in_leaf": 50,
    "lambda_l2": 5.0,
    "feature_fraction": 0.4,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "seed": 1,
    "deterministic": True,
    "num_threads": 1,
    "verbose": -1,
}


@dataclass(frozen=True, slots=True)
class Example:
    """A question, its candidates and their features; each row stands for `weight` of them."""

    talk: str
    asked: Asked
    chosen: Ints
    rows: Floats
    weight: Floats

    @property
    def real(self) -> bool:
        return self.talk in CHOSEN_ON

    @property
    def labels(self) -> Floats:
        return np.isin(self.chosen, list(self.asked.evidence)).astype(np.float32)


def examples(given: Sequence[Talk], embedder: Embedder | None, reader: Reader) -> list[Example]:
    found = []
    for talk in given:
        scope = Scope(talk.lines, embedder, reader)
        for asked in talk.questions:
            chosen, rows = scope.rows(asked.text, asked.now)
            if len(chosen):
                found.append(
                    Example(talk.name, asked, chosen, rows, np.ones(len(chosen), np.float32))
                )
    return found


def generated(seed: int, count: int, embedder: Embedder, reader: Reader) -> list[Example]:
    """Conversations; some of them also as bare facts, some without vectors; notes, which count less."""
    given = talks(seed, count)
    found = examples(given, embedder, reader)
    found += examples([flat(talk) for talk in given[::5]], embedder, reader)
    found += examples(given[1::8], None, reader)
    written = [notes(seed, number) for number in range(count * NOTES // TALKS)]
    noted = examples(written, embedder, reader) + examples(written[::6], None, reader)
    light = [replace(e, weight=e.weight * np.float32(NOTES_WEIGHT)) for e in thinned(noted)]
    return thinned(found) + light


def thinned(given: Sequence[Example]) -> list[Example]:
    """With a part of the lines that do not answer, which then count for all of them."""
    rng, found = np.random.default_rng(SEED), []
    for example in given:
        right = example.labels > 0
        others = np.flatnonzero(~right)
        few = rng.permutation(others)[:KEPT]
        kept = np.sort(np.concatenate((np.flatnonzero(right), few)))
        weight = np.where(right, 1, len(others) / max(1, len(few))).astype(np.float32)
        found.append(
            replace(
                example,
                chosen=example.chosen[kept],
                rows=example.rows[kept],
                weight=weight[kept],
            )
        )
    return found
