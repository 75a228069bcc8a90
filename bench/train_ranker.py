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
from pathlib import Path
from typing import Any

import numpy as np

from bench.examples import NOTES, SEED, SETTINGS, TALKS, Example, examples, generated
from bench.memory_talks import CHOSEN_ON, locomo
from bench.note_generator import notes
from bench.talk_generator import flat, talks
from bench.train_heads import baited, least_of, train_bait, train_gate
from metamem.models.wordllama_embedder import WordLlamaEmbedder
from metamem.service.recall import ranker as shipped
from metamem.service.recall.features import NAMES
from metamem.service.recall.ranker import BAIT, FORMAT, Ranker
from metamem.service.recall.reading import Reader
from metamem.service.recall.signs import SIGNS

FLOOR_SEED, FLOOR_TALKS, FLOOR_NOTES = 2, 16, 80
REAL_WEIGHT = 10.0  # of a row of LoCoMo against a generated one
SHOWN = 10
LOST = 0.01  # share of evidence among the first lines that the floor may hide
ROUNDS = 200
NO_TREES = {
    "roots": [0],
    "feature": [0],
    "threshold": [0.0],
    "left": [0],
    "right": [0],
    "value": [0.0],
    "depth": 0,
}


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


def content(
    model: Any, bait: Any, floor: float, gate: Any, least: float, made: dict[str, Any]
) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "features": list(NAMES),
        "bait_features": list(BAIT),
        "signs": list(SIGNS),
        "made": made,
        "floor": round(floor, 5),
        "gate": {"least": round(least, 5), "trees": exported(gate) if gate else NO_TREES},
        "bait": exported(bait),
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
    bait = train_bait([*baited(embedder, reader), *made, *real], REAL_WEIGHT)
    note = {
        "generated": {"seed": SEED, "talks": TALKS, "notes": NOTES, "questions": len(made)},
        "locomo": [] if chosen.generated else list(CHOSEN_ON),
        "embedder": embedder.fingerprint,
        "settings": SETTINGS,
    }
    ranker = write(chosen.to, content(model, bait, 0.0, None, 0.0, note))
    given = talks(FLOOR_SEED, FLOOR_TALKS)
    spoken = examples(given, embedder, reader) + examples(given[1::4], None, reader)
    spoken += examples([flat(talk) for talk in given[::4]], embedder, reader)
    written = [notes(FLOOR_SEED, number) for number in range(FLOOR_NOTES)]
    noted = examples(written, embedder, reader) + examples(written[::4], None, reader)
    rows = np.concatenate([e.rows for e in (*spoken, *noted)])
    apart = float(np.abs(ranker.trees.sum(rows) - model.predict(rows, raw_score=True)).max())
    if apart > 1e-4:
        raise SystemExit(f"the written trees differ from LightGBM's by {apart}")
    gate = train_gate(ranker, spoken, noted)
    floor = min(floor_of(ranker, spoken), floor_of(ranker, noted))
    least = least_of(ranker, gate, (spoken, noted))
    ranker = write(chosen.to, content(model, bait, floor, gate, least, note))
    gain = model.feature_importance("gain")
    print(f"{len(made)} generated questions, {len(real)} of LoCoMo; floor {ranker.floor:.4f};")
    print(f"{len(rows)} rows differ from LightGBM's own by at most {apart:.1e}")
    print("what tells most:", ", ".join(NAMES[i] for i in np.argsort(-gain)[:12]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
