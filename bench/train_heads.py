"""Two small sets of trees beside the ranker's: what is bait, and what has no answer.

`bench.train_ranker` trains them with the rest.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bench.examples import SEED, SETTINGS, Example, examples
from bench.note_generator import notes, word_for_word
from bench.stuffing import FOR_TRAINING, stuffed
from bench.talk_generator import flat, talks
from metamem.core.protocols import Embedder
from metamem.service.recall.features import NAMES
from metamem.service.recall.ranker import BAIT, Ranker
from metamem.service.recall.reading import Reader
from metamem.service.recall.signs import SIGNS, signs

BAITED_TALKS, BAITED_NOTES = 16, 120
BESIDE = 6  # other candidates of each question that are no bait
BAIT_SHARE = 0.15  # of the weight of all rows
BAIT_SETTINGS = {"learning_rate": 0.15, "min_data_in_leaf": 30, "feature_fraction": 0.8}
BAIT_ROUNDS = 40

SILENCED = 0.03  # share of answerable questions that the gate may silence, of talk and notes alike
NOTES_WEIGHT = 2.0  # of a question about notes against one about talk
GATE_SETTINGS = {
    "learning_rate": 0.08,
    "min_data_in_leaf": 40,
    "feature_fraction": 0.6,
    "max_depth": 3,
    "monotone_constraints": [1] * len(SIGNS),
}
GATE_ROUNDS = 80


def baited(embedder: Embedder, reader: Reader) -> list[Example]:
    """Questions whose scope holds texts that are stuffed with their words, and some that ask for
    texts word for word, which are none."""
    given = talks(SEED, BAITED_TALKS)
    found = examples([stuffed(t, SEED, FOR_TRAINING, 0.3) for t in given[::2]], embedder, reader)
    written = [flat(talk) for talk in given[1::2]]
    noted = [notes(SEED, number) for number in range(BAITED_NOTES)]
    written += noted + [word_for_word(each, SEED) for each in noted]
    found += examples(
        [stuffed(each, SEED, FOR_TRAINING, 0.4) for each in written], embedder, reader
    )
    return found + examples([word_for_word(each, SEED + 1) for each in noted], embedder, reader)


def train_bait(given: Sequence[Example], real_weight: float) -> Any:
    """Bait against what answers, and some of what does not. Of real talk what answers counts more."""
    import lightgbm

    columns = [NAMES.index(name) for name in BAIT]
    rng = np.random.default_rng(SEED)
    rows, labels, weights = [], [], []
    for example in given:
        bait = np.isin(example.chosen, list(example.asked.decoys))
        right = example.labels > 0
        some = np.isin(np.arange(len(bait)), rng.permutation(len(bait))[:BESIDE])
        kept = bait | right | some
        rows.append(example.rows[kept][:, columns])
        labels.append(bait[kept])
        answers = real_weight if example.real else 2.0
        weights.append(np.where(bait | ~right, 0.5, answers)[kept])
    label, weight = np.concatenate(labels), np.concatenate(weights)
    weight[label] = BAIT_SHARE * weight[~label].sum() / max(1, label.sum())
    data = lightgbm.Dataset(np.concatenate(rows), label.astype(np.float32), weight=weight)
    return lightgbm.train(SETTINGS | BAIT_SETTINGS, data, BAIT_ROUNDS)


def train_gate(ranker: Ranker, talk: Sequence[Example], written: Sequence[Example]) -> Any:
    """Whether a question has an answer. Those that ask of the wrong speaker are neither."""
    import lightgbm

    rows, labels, weights = [], [], []
    for given, weight in ((talk, 1.0), (written, NOTES_WEIGHT)):
        judged = [e for e in given if e.asked.kind != "adversarial"]
        known = np.array([bool(e.asked.evidence) for e in judged])
        rows += [signs(e.rows, ranker.score(e.rows)) for e in judged]
        labels.append(known)
        balance = np.where(known, 0.5 / known.mean(), 0.5 / (1 - known.mean()))
        weights.append(weight * balance)
    label = np.concatenate(labels).astype(np.float32)
    data = lightgbm.Dataset(np.array(rows), label, weight=np.concatenate(weights))
    return lightgbm.train(SETTINGS | GATE_SETTINGS, data, GATE_ROUNDS)


def least_of(ranker: Ranker, gate: Any, groups: Sequence[Sequence[Example]]) -> float:
    """The least that opens the gate: none of the groups loses more than SILENCED of its questions
    that have answers."""
    found = []
    for given in groups:
        known = [signs(e.rows, ranker.score(e.rows)) for e in given if e.asked.evidence]
        found.append(np.quantile(gate.predict(np.array(known), raw_score=True), SILENCED))
    return float(min(found))
