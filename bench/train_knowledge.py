"""Trains the ranker of knowledge and writes it into the package.

python -m bench.train_knowledge [--to FILE] [--questions N] [--validate]

Learns from docstrings of installed packages, none of which `bench.knowledge` reports. `--validate` writes
nothing, and says how much better than plain words the order is on packages that it did not learn from. Needs
the extra `train`; takes some minutes.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.knowledge_sets import CHOSEN_ON, TRAINED_ON, Asked, Form, sample, write
from bench.train_ranker import exported
from metamem.core.protocols import Embedder
from metamem.knowledge import ranker as shipped
from metamem.knowledge.embedding import embedder_of, identity
from metamem.knowledge.features import NAMES, features
from metamem.knowledge.indexing import Indexer
from metamem.knowledge.searching import Index

QUESTIONS = 400  # of each package and form
UNMEANT = 5  # every fifth question is asked without an embedder, too
ROUNDS = 200
SETTINGS = {
    "objective": "lambdarank",
    "learning_rate": 0.06,
    "num_leaves": 15,
    "min_data_in_leaf": 60,
    "feature_fraction": 0.5,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambdarank_truncation_level": 20,
    "seed": 1,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "verbose": -1,
}
Example = tuple[np.ndarray, np.ndarray]  # features and labels of one question's candidates
_LEXICAL = NAMES.index("lexical")


def indexed(package: str, form: Form, folder: Path, embedder: Embedder) -> list[Asked]:
    """A package in one of its forms as an index of that name; what is asked of it."""
    asked = write(package, form, folder / package)
    Indexer(folder / "store", embedder).index(package, [folder / package])
    return asked


def examples(package: str, form: Form, count: int, embedder: Embedder) -> list[Example]:
    found: list[Example] = []
    with tempfile.TemporaryDirectory() as place:
        asked = sample(indexed(package, form, Path(place), embedder), count)
        with Index(Path(place) / "store", package) as index:
            rows = rows_of(index)
            for number, each in enumerate(asked):
                answers = [row for answer in each.answers for row in rows.get(answer, ())]
                for by in (embedder, None)[: 2 if number % UNMEANT == 0 else 1]:
                    given = index.candidates(each.text, by)
                    labels = np.isin(given.rows, answers).astype(np.int8)
                    found.append((features(index.snapshot, given), labels))
    return found


def rows_of(index: Index) -> dict[tuple[str, str], list[int]]:
    """The rows of a snapshot by file and name with what it stands in."""
    found: dict[tuple[str, str], list[int]] = {}
    row = {int(number): n for n, number in enumerate(index.snapshot.ids)}
    for number, path, name in index.named():
        found.setdefault((path, name), []).append(row[number])
    return found


def trained(every: Sequence[Example], rounds: int = ROUNDS) -> Any:
    import lightgbm

    useful = [each for each in every if each[1].any()]
    data = lightgbm.Dataset(
        np.concatenate([rows for rows, _ in useful]),
        np.concatenate([labels for _, labels in useful]),
        group=[len(labels) for _, labels in useful],
    )
    return lightgbm.train(SETTINGS, data, rounds)


def reciprocal(scores: np.ndarray, labels: np.ndarray) -> float:
    if not labels.any():
        return 0.0
    return 1 / (1 + int((scores > scores[labels > 0].max()).sum()))


def validate(model: Any, given: dict[str, list[Example]]) -> None:
    for name, every in given.items():
        words = np.mean([reciprocal(rows[:, _LEXICAL], labels) for rows, labels in every])
        learned = np.mean([reciprocal(model.predict(rows), labels) for rows, labels in every])
        there = np.mean([labels.any() for _, labels in every])
        print(f"{name}: words alone {words:.3f}, ranked {learned:.3f}, of at most {there:.3f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--to", type=Path, default=Path(shipped.__file__).with_name(shipped.FILE))
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    parser.add_argument("--validate", action="store_true")
    chosen = parser.parse_args()
    embedder = embedder_of("wordllama")
    assert embedder is not None
    forms: tuple[Form, ...] = ("bare", "unsaid")
    given: dict[str, list[Example]] = {}
    for package in (*TRAINED_ON, *CHOSEN_ON):
        for form in forms:
            given[f"{package} {form}"] = examples(package, form, chosen.questions, embedder)
        print(
            f"{package}: {sum(len(given[f'{package} {form}']) for form in forms)} questions",
            flush=True,
        )
    held = {name: every for name, every in given.items() if name.split()[0] in CHOSEN_ON}
    learned = [each for name, every in given.items() if name not in held for each in every]
    validate(trained(learned), held)
    if chosen.validate:
        return 0
    model = trained([each for every in given.values() for each in every])
    made = {
        "packages": [*TRAINED_ON, *CHOSEN_ON],
        "questions": sum(map(len, given.values())),
        "embedder": identity(embedder),
        "settings": SETTINGS,
    }
    content = {
        "format": shipped.FORMAT,
        "features": list(NAMES),
        "made": made,
        "trees": exported(model),
    }
    chosen.to.write_text(json.dumps(content, separators=(",", ":")) + "\n", encoding="utf-8")
    rows = np.concatenate([rows for rows, _ in held["numpy bare"]])
    ranker = shipped.parsed(chosen.to.read_text(encoding="utf-8"))
    apart = float(np.abs(ranker.trees.sum(rows) - model.predict(rows, raw_score=True)).max())
    if apart > 1e-4:
        raise SystemExit(f"the written trees differ from LightGBM's by {apart}")
    gain = model.feature_importance("gain")
    print("what tells most:", ", ".join(NAMES[i] for i in np.argsort(-gain)[:12]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
