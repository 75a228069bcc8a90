"""Recall on LoCoMo: turns as facts, a scope for each conversation, no language model.

python -m bench.locomo               FTS5, each stage added, the shipped ranker: three, seven, all
python -m bench.locomo --only-three  the conversations on which settings may be chosen
python -m bench.locomo --trained     also rankers trained on generated talks alone and five-fold
                                     (needs the extra `train`; minutes)
python -m bench.locomo --minilm      dense vectors by MiniLM (extra `minilm`); its ranker with --trained
python -m bench.locomo --searched    texts with the search words of pictures, too

Needs locomo10.json in METAMEM_DATA. R@k is the share of a question's evidence among the first k,
MRR the mean of 1 / the place of the first evidence; questions without evidence are left out.
"""

import argparse
import sqlite3
import sys
import time
from collections.abc import Callable, Sequence

import numpy as np

from bench.examples import SEED, TALKS, Example, examples, generated
from bench.memory_talks import CHOSEN_ON, Figures, Talk, figures, locomo
from bench.train_ranker import train
from metamem.core.protocols import Embedder
from metamem.core.stopwords import STOP
from metamem.core.terms import words
from metamem.models.embedders import open_embedder
from metamem.models.wordllama_embedder import WordLlamaEmbedder
from metamem.service.recall.catalog import Floats
from metamem.service.recall.features import NAMES
from metamem.service.recall.ranker import Ranker
from metamem.service.recall.reading import Reader

Ranked = list[tuple[str, str, list[int], frozenset[int]]]  # talk, kind, lines in order, evidence
FOLDS = 5

# Weights of the stages, chosen on the three conversations.
STAGES: tuple[tuple[str, dict[str, float]], ...] = (
    ("BM25 of ours", {"terms": 1.0}),
    ("+ dense", {"meaning_scaled": 0.2}),
    ("+ words by their vectors", {"words": 1.2}),
    (
        "+ neighbours",
        {"terms_before": 1.2, "terms_after": 0.2, "terms_session": 1.2, "meaning_after": 0.1},
    ),
    ("+ speaker", {"said_by": 0.6}),
    ("+ time", {"in_time": 0.8}),
)


def fts5(talks: Sequence[Talk]) -> Ranked:
    """SQLite's own index with stems; question words that tell nothing are left out."""
    found: Ranked = []
    for talk in talks:
        base = sqlite3.connect(":memory:")
        base.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize='porter unicode61')")
        base.executemany(
            "INSERT INTO t VALUES (?)", [(f"{s.author}: {s.text}",) for s in talk.lines]
        )
        for asked in talk.questions:
            all_words = words(asked.text)
            telling = [w for w in all_words if w not in STOP] or all_words
            query = " OR ".join(f'"{word}"' for word in telling)
            rows = base.execute(
                "SELECT rowid - 1 FROM t WHERE t MATCH ? ORDER BY bm25(t), rowid LIMIT 50", (query,)
            )
            found.append((talk.name, asked.kind, [n for (n,) in rows], asked.evidence))
        base.close()
    return found


def ordered(given: Sequence[Example], score: Callable[[Floats], Floats]) -> Ranked:
    return [
        (
            e.talk,
            e.asked.kind,
            e.chosen[np.argsort(-score(e.rows), kind="stable")].tolist(),
            e.asked.evidence,
        )
        for e in given
    ]


def weighed(weights: dict[str, float]) -> Callable[[Floats], Floats]:
    row = np.zeros(len(NAMES), np.float32)
    for name, weight in weights.items():
        row[NAMES.index(name)] = weight
    return lambda rows: rows @ row


def five_fold(real: Sequence[Example], made: Sequence[Example]) -> Ranked:
    """Each conversation ranked by trees that were trained on others."""
    names = list(dict.fromkeys(e.talk for e in real))
    found: Ranked = []
    for fold in range(FOLDS):
        held = set(names[fold::FOLDS])
        model = train(made, [e for e in real if e.talk not in held])
        found += ordered([e for e in real if e.talk in held], model.predict)
    return found


def report_silence(ranker: Ranker, real: Sequence[Example]) -> None:
    """Adversarial questions ask of one speaker what the other said: silence would be right there."""
    silent: dict[tuple[bool, str], list[bool]] = {}
    for e in real:
        nothing = not ranker.shown(e.rows, ranker.score(e.rows)).any()
        silent.setdefault((e.talk in CHOSEN_ON, e.asked.kind), []).append(nothing)
    for three, name in ((True, "three"), (False, "seven")):
        told = [f"{k} {np.mean(v):.3f}" for (t, k), v in sorted(silent.items()) if t == three]
        if told:
            print(f"shown nothing, {name}: {', '.join(told)}", flush=True)


class Report:
    """Prints a row for each ranking, over the conversations that may be looked at."""

    def __init__(self, *, only_three: bool) -> None:
        self._sets = ("three",) if only_three else ("three", "seven", "all")
        print(f"{'R@5 R@10 R@20 MRR':38}", "  ".join(f"{name:24}" for name in self._sets))

    def row(self, label: str, ranked: Ranked) -> None:
        figured = "  ".join(f"{self._of(ranked, name)!s:24}" for name in self._sets)
        print(f"{label:38} {figured}", flush=True)

    def kinds(self, ranked: Ranked) -> None:
        for kind in sorted({kind for _, kind, _, _ in ranked}):
            own = [r for r in ranked if r[1] == kind]
            count = self._of(own, self._sets[-1]).count
            self.row(f"  {kind} ({count} in the last column)", own)

    def _of(self, ranked: Ranked, name: str) -> Figures:
        three = {"three": (True,), "seven": (False,), "all": (True, False)}[name]
        return figures([(lines, e) for talk, _, lines, e in ranked if (talk in CHOSEN_ON) in three])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for option in ("only-three", "trained", "minilm", "searched"):
        parser.add_argument(f"--{option}", action="store_true")
    chosen = parser.parse_args()
    talks = locomo(searched=chosen.searched)
    if chosen.only_three:
        talks = [talk for talk in talks if talk.name in CHOSEN_ON]
    wordllama = WordLlamaEmbedder()
    reader = Reader(wordllama)
    embedder: Embedder = open_embedder("minilm") if chosen.minilm else wordllama
    print(f"{sum(len(t.questions) for t in talks)} questions, dense by {embedder.fingerprint}")
    report = Report(only_three=chosen.only_three)
    report.row("FTS5 alone", fts5(talks))
    began = time.perf_counter()
    real = examples(talks, embedder, reader)
    each = (time.perf_counter() - began) / len(real) * 1000
    weights: dict[str, float] = {}
    for label, added in STAGES:
        weights |= added
        report.row(label, ordered(real, weighed(weights)))
    if not chosen.minilm:
        ranker = Ranker.load()
        shipped = ordered(real, ranker.score)
        report.row("+ ranker, as shipped (knows the three)", shipped)
        report.kinds(shipped)
        report_silence(ranker, real)
    if chosen.trained:
        made = generated(SEED, TALKS, embedder, reader)
        alone = train(made, [])
        report.row("+ ranker, generated talks alone", ordered(real, alone.predict))
        three = train(made, [e for e in real if e.talk in CHOSEN_ON])
        report.row("+ ranker, generated and the three", ordered(real, three.predict))
        if not chosen.only_three:
            report.row("+ ranker, five-fold on LoCoMo alone", five_fold(real, []))
            report.row("+ ranker, five-fold and generated", five_fold(real, made))
    print(f"features of one question: {each:.1f} ms, vectors of its lines included")
    return 0


if __name__ == "__main__":
    sys.exit(main())
