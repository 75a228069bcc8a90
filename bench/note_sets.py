"""Recall over generated notes: questions, words typed into a search box, goals; silence; stuffing.

python -m bench.note_sets [--scopes N] [--seed S]

Notes on things, with traits and in wordings that the ranker was not trained on, in scopes of two to
two hundred. The first table goes over the engine's arrays, beside FTS5; the second through the
service itself, once for each source that a stuffed text can have.

- R@5: the share of the notes that answer among the first five that are shown (at most five count)
- silent: nothing is shown; for questions that no note answers this is what is wanted
- first: a text that is stuffed with a question's words stands before all that answers it
"""

import argparse
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench.memory_sets import fts5
from bench.memory_talks import Asked, Scope, Talk
from bench.note_generator import MEASURING, UNANSWERED, notes
from bench.stuffing import FOR_MEASURING, stuffed
from metamem.core.access import Caller
from metamem.core.access import Scope as Place
from metamem.core.protocols import Embedder
from metamem.models.wordllama_embedder import WordLlamaEmbedder
from metamem.service.access.scopes import make_scope
from metamem.service.database import FILE, Database
from metamem.service.recall.ranker import Ranker
from metamem.service.recall.reading import Reader
from metamem.service.recall.recaller import Recaller
from metamem.service.words import Ask, Draft
from metamem.service.writing.writer import Writer

SOURCES = ("outside", "tool", "agent")
FIRST = 5


def found(lines: Sequence[int], asked: Asked) -> float:
    return len(asked.evidence & set(lines[:FIRST])) / min(FIRST, len(asked.evidence))


def measure(given: Sequence[Talk], ranker: Ranker, embedder: Embedder) -> None:
    """Prints a row for each kind of question."""
    reader = Reader(embedder)
    ours, plain, silent = defaultdict(list), defaultdict(list), defaultdict(list)
    for talk in given:
        scope = Scope(talk.lines, embedder, reader)
        for asked in talk.questions:
            shown = scope.shown(asked.text, asked.now, ranker)
            silent[asked.kind].append(not shown)
            if asked.evidence:
                ours[asked.kind].append(found(shown, asked))
                plain[asked.kind].append(found(fts5(talk.lines, asked.text), asked))
    print(f"{'':14} {'':>5}   FTS5 R@5   metamem R@5   silent")
    for kind, values in silent.items():
        five, own = (f"{np.mean(r[kind]):.3f}" if kind in r else "-" for r in (plain, ours))
        print(f"{kind:14} {len(values):5}   {five:8}   {own:11}   {np.mean(values):.3f}")
    known = [s for kind, values in silent.items() if kind not in UNANSWERED for s in values]
    unknown = [s for kind in UNANSWERED for s in silent[kind]]
    print(f"silence: {np.mean(unknown):.3f} of questions that no note answers;", end=" ")
    print(f"lost: {np.mean(known):.3f} of those that one answers")


def places(talk: Talk, number: int, source: str, folder: Path) -> list[tuple[bool, bool]]:
    """For each question: whether a stuffed text stands first, and whether an answer is shown."""
    here = Place("bench", "project", f"{source}{number}")
    who = Caller("bench", "ada", reads=frozenset({here}), writes=frozenset({here}))
    told = []
    for asked in talk.questions:  # each with its own decoys alone, as others would crowd them out
        database = Database(folder / FILE)
        with database.writing() as execute:
            make_scope(execute, here)
        recaller = Recaller(database, background=False)
        kept = [
            Draft(line.text, source=source if n in asked.decoys else "user", said_at=line.said_at)
            for n, line in enumerate(talk.lines)
            if n in asked.decoys or not any(n in other.decoys for other in talk.questions)
        ]
        Writer(database).remember(who, str(here), kept)
        recaller.embed_waiting()
        shown = [item.fact.text for item in recaller.recall(who, Ask(asked.text)).items]
        right = {talk.lines[n].text for n in asked.evidence}
        wrong = {talk.lines[n].text for n in asked.decoys}
        order = [text in right for text in shown if text in right | wrong]
        told.append((bool(order) and not order[0], any(order)))
        recaller.close()
        database.close()
        (folder / FILE).unlink()
    return told


def stuff(seed: int, tries: int) -> None:
    """Prints a row for each source."""
    for source in SOURCES:
        told: list[tuple[bool, bool]] = []
        number = 0
        while len(told) < tries:
            folder = Path(tempfile.mkdtemp(prefix="metamem-bench-"))
            talk = stuffed(notes(seed + 1, number, MEASURING), seed, FOR_MEASURING, 0.15)
            try:
                told += places(talk, number, source, folder)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            number += 1
        first, answered = np.mean(told, axis=0)
        print(
            f"stuffed, from {source:8} {len(told)} tries   first {first:.3f}   answered {answered:.3f}"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scopes", type=int, default=60)
    parser.add_argument("--tries", type=int, default=60)
    parser.add_argument("--seed", type=int, default=7)
    chosen = parser.parse_args()
    given = [notes(chosen.seed, n, MEASURING) for n in range(chosen.scopes)]
    measure(given, Ranker.load(), WordLlamaEmbedder())
    if chosen.tries:
        stuff(chosen.seed, chosen.tries)
    return 0


if __name__ == "__main__":
    sys.exit(main())
