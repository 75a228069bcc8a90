"""Trains the ranker of recall and writes it into the package.

python -m bench.train_ranker                 on generated talks and three conversations of LoCoMo
python -m bench.train_ranker --generated     on generated talks alone
python -m bench.train_ranker --to FILE       elsewhere than into the package

Needs the extra `train` and, unless `--generated`, locomo10.json in METAMEM_DATA. Takes minutes on
one core.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.memory_talks import CHOSEN_ON, Asked, Scope, Talk, locomo
from bench.talk_generator import flat, talks
from metamem.core.protocols import Embedder
from metamem.models.wordllama_embedder import WordLlamaEmbedder
from metamem.service.recall import ranker as shipped
from metamem.service.recall.catalog import Flags, Floats, Ints
from metamem.service.recall.features import NAMES
from metamem.service.recall.ranker import FORMAT, SIGNS, Gate, Ranker, signs
from metamem.service.recall.reading import Reader

SEED, TALKS = 1, 40  # other seeds are for measuring
FLOOR_SEED, FLOOR_TALKS = 2, 16
REAL_WEIGHT = 10.0  # of a row of LoCoMo against a generated one
KEPT = 60  # of the lines of a generated question that do not answer it
SHOWN = 10
LOST = 0.03  # share of evidence among the first lines that the floor may hide
SILENCED = 0.08  # share of answerable questions that the gate may silence
ROUNDS = 200
OPEN = Gate(np.zeros(len(SIGNS), np.float32), 0.0, 0.0)
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
    """Conversations; some of them also as bare facts, some without vectors."""
    given = talks(seed, count)
    found = examples(given, embedder, reader)
    found += examples([flat(talk) for talk in given[::5]], embedder, reader)
    found += examples(given[1::8], None, reader)
    return thinned(found)


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


def train(made: Sequence[Example], real: Sequence[Example], rounds: int = ROUNDS) -> Any:
    """A LightGBM model; its raw predictions are logarithms of odds."""
    import lightgbm

    every = [*made, *real]
    weights = [e.weight for e in made] + [e.weight * np.float32(REAL_WEIGHT) for e in real]
    data = lightgbm.Dataset(
        np.concatenate([e.rows for e in every]),
        np.concatenate([e.labels for e in every]),
        weight=np.concatenate(weights),
    )
    return lightgbm.train(SETTINGS, data, rounds)


def exported(model: Any) -> dict[str, Any]:
    """The trees of a model as flat lists. A leaf leads to itself."""
    nodes: dict[str, list[Any]] = {
        k: [] for k in ("feature", "threshold", "left", "right", "value")
    }
    roots, deepest = [], 0

    def add(node: dict[str, Any], depth: int) -> int:
        nonlocal deepest
        deepest = max(deepest, depth)
        at = len(nodes["value"])
        leaf = "leaf_value" in node
        nodes["feature"].append(0 if leaf else node["split_feature"])
        nodes["threshold"].append(0.0 if leaf else _below(node["threshold"]))
        nodes["value"].append(float(np.float32(node["leaf_value"])) if leaf else 0.0)
        nodes["left"].append(at)
        nodes["right"].append(at)
        if not leaf:
            nodes["left"][at] = add(node["left_child"], depth + 1)
            nodes["right"][at] = add(node["right_child"], depth + 1)
        return at

    for tree in model.dump_model()["tree_info"]:
        roots.append(add(tree["tree_structure"], 0))
    return {"roots": roots, **nodes, "depth": deepest}


def _below(threshold: float) -> float:
    """The largest float32 that is not above a threshold: values are float32 and go the same way."""
    near = np.float32(threshold)
    if float(near) > threshold:
        near = np.nextafter(near, np.float32(-np.inf))
    return float(near)


def floor_of(model: Ranker, measured: Sequence[Example]) -> float:
    """The floor that hides no more than LOST of the evidence among a question's first lines."""
    kept: list[float] = []
    for example in measured:
        scores = model.score(example.rows)
        first = np.argsort(-scores, kind="stable")[:SHOWN]
        kept.extend(scores[first][example.labels[first] > 0])
    return float(np.quantile(kept, LOST))


def gate_of(model: Ranker, measured: Sequence[Example]) -> Gate:
    """Logistic regression over whole questions; at most SILENCED of those with answers are lost."""
    rows = np.array([signs(e.rows, model.score(e.rows)) for e in measured], np.float64)
    known = np.array([bool(e.asked.evidence) for e in measured])
    weights, bias = _odds(rows, known)
    least = float(np.quantile(rows[known] @ weights + bias, SILENCED))
    return Gate(weights.astype(np.float32), bias, least)


def _odds(rows: NDArray[np.float64], known: Flags) -> tuple[NDArray[np.float64], float]:
    """Weights, none below zero (a sign that speaks against an answer would not hold elsewhere)."""
    middle, spread = rows.mean(axis=0), np.maximum(rows.std(axis=0), 1e-6)
    balance = np.where(known, 0.5 / known.mean(), 0.5 / (1 - known.mean()))
    used = np.ones(rows.shape[1], np.bool_)
    while True:
        given = np.column_stack((((rows - middle) / spread)[:, used], np.ones(len(rows))))
        found = np.zeros(given.shape[1])
        for _ in range(50):  # Newton's steps, with a little shrinkage
            chance = 1 / (1 + np.exp(-given @ found))
            slope = given.T @ (balance * (known - chance)) - found
            bend = (given * (balance * chance * (1 - chance))[:, None]).T @ given
            found += np.linalg.solve(bend + np.eye(len(found)), slope)
        if (found[:-1] >= 0).all():
            break
        used[np.flatnonzero(used)[np.argmin(found[:-1])]] = False
    weights = np.zeros(rows.shape[1])
    weights[used] = found[:-1]
    weights /= spread
    return weights, float(found[-1] - weights @ middle)


def content(model: Any, floor: float, gate: Gate, made: dict[str, Any]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "features": list(NAMES),
        "made": made,
        "floor": round(floor, 5),
        "gate": {
            "weights": [round(float(w), 5) for w in gate.weights],
            "bias": round(gate.bias, 5),
            "least": round(gate.least, 5),
        },
        "trees": exported(model),
    }


def write(path: Path, made: dict[str, Any]) -> Ranker:
    path.write_text(json.dumps(made, separators=(",", ":")) + "\n", encoding="utf-8")
    return Ranker.read(path)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--generated", action="store_true")
    default = Path(shipped.__file__).with_name(shipped.FILE)
    parser.add_argument("--to", type=Path, default=default)
    chosen = parser.parse_args()
    embedder = WordLlamaEmbedder()
    reader = Reader(embedder)
    made = generated(SEED, TALKS, embedder, reader)
    real = []
    if not chosen.generated:
        real = examples([t for t in locomo() if t.name in CHOSEN_ON], embedder, reader)
    model = train(made, real)
    note = {
        "generated": {"seed": SEED, "talks": TALKS, "questions": len(made)},
        "locomo": [] if chosen.generated else list(CHOSEN_ON),
        "embedder": embedder.fingerprint,
        "settings": SETTINGS,
    }
    ranker = write(chosen.to, content(model, 0.0, OPEN, note))
    given = talks(FLOOR_SEED, FLOOR_TALKS)
    measured = examples(given, embedder, reader)
    measured += examples([flat(talk) for talk in given[::4]], embedder, reader)
    rows = np.concatenate([e.rows for e in measured])
    apart = float(np.abs(ranker.trees.sum(rows) - model.predict(rows, raw_score=True)).max())
    if apart > 1e-4:
        raise SystemExit(f"the written trees differ from LightGBM's by {apart}")
    floor, gate = floor_of(ranker, measured), gate_of(ranker, measured)
    ranker = write(chosen.to, content(model, floor, gate, note))
    gain = model.feature_importance("gain")
    print(f"{len(made)} generated questions, {len(real)} of LoCoMo; floor {ranker.floor:.4f};")
    print(f"{len(rows)} rows differ from LightGBM's own by at most {apart:.1e}")
    print("what tells most:", ", ".join(NAMES[i] for i in np.argsort(-gain)[:12]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
