"""Facts and questions for timing the memory service: words by Zipf's law, the same for every run.

`filled` writes facts straight into the tables, which is how a million of them come there within a
minute: the texts are as real as others, there is no event log, and vectors, where they are wanted,
are random ones.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from metamem.core.access import Caller, Scope
from metamem.core.ids import content_id
from metamem.core.terms import terms
from metamem.core.tokens import count_tokens
from metamem.service.database import FILE, now_ms
from metamem.service.recall.vectors import packed
from metamem.service.tables import fact_number

WORDS = 50_000
SHORTEST, LONGEST = 8, 30  # words of a fact
_SYLLABLES = ("ba", "den", "fir", "gol", "hum", "jas", "kel", "lor", "mi", "nat", "pov", "rus")


def caller(scopes: Sequence[Scope]) -> Caller:
    every = frozenset(scopes)
    return Caller(scopes[0].tenant, "bench", reads=every, writes=every, manages=every)


class Vocabulary:
    """Made-up words; the n-th is drawn about 1/n as often as the first."""

    def __init__(self, seed: int = 0) -> None:
        self._random = np.random.default_rng(seed)
        base = len(_SYLLABLES)
        self.words = [
            "".join(_SYLLABLES[n // base**i % base] for i in range(5 if n >= base**4 else 4))
            for n in range(WORDS)
        ]
        shares = 1 / np.arange(1, WORDS + 1)
        self._edges = np.cumsum(shares / shares.sum())

    def facts(self, count: int) -> list[str]:
        lengths = self._random.integers(SHORTEST, LONGEST, count)
        drawn = np.searchsorted(self._edges, self._random.random(int(lengths.sum())))
        ends = np.cumsum(lengths)
        return [
            " ".join(self.words[min(int(n), WORDS - 1)] for n in drawn[end - length : end])
            for end, length in zip(ends, lengths, strict=True)
        ]

    def questions(self, facts: Sequence[str], count: int) -> list[str]:
        """Each asks with four words of one fact."""
        asked = []
        for n in self._random.integers(0, len(facts), count):
            words = sorted(set(facts[n].split()))
            asked.append("what about " + " ".join(self._random.choice(words, 4)) + "?")
        return asked


def filled(folder: Path, scope: int, first: int, texts: Sequence[str], dimensions: int) -> None:
    """Put facts into an open service's file, as the first of one scope. With no dimensions they wait
    for their vectors."""
    now = now_ms()
    with sqlite3.connect(folder / FILE) as db:
        counted = [terms(text) for text in texts]
        numbers = [fact_number(first, 0) + n for n in range(len(texts))]
        db.execute(
            "INSERT INTO events (seq, id, scope, kind, actor, at, digest)"
            " VALUES (?, ?, ?, 'remembered', 'bench', ?, '')",
            (first + len(texts) // 4096, f"e{scope}", scope, now),
        )
        names = [row[1] for row in db.execute("PRAGMA table_info(facts)")]
        marks = ", ".join("?" * len(names))
        db.executemany(
            f"INSERT INTO facts ({', '.join(names)}) VALUES ({marks})",
            (
                [row[name] for name in names]
                for row in _rows(scope, first, now, numbers, texts, counted)
            ),
        )
        db.executemany(
            "INSERT INTO postings VALUES (?, ?, ?, ?)",
            sorted(
                (scope, term, number, often)
                for number, each in zip(numbers, counted, strict=True)
                for term, often in each.items()
            ),
        )
        if dimensions:
            _fill_vectors(db, scope, numbers, dimensions)
    db.close()


def _fill_vectors(
    db: sqlite3.Connection, scope: int, numbers: Sequence[int], dimensions: int
) -> None:
    rng = np.random.default_rng(scope)
    vectors = rng.standard_normal((len(numbers), dimensions)).astype(np.float32)
    vectors /= np.sqrt(np.square(vectors).sum(axis=1, keepdims=True))
    db.executemany(
        "INSERT INTO vectors VALUES (?, ?, 1, ?)",
        [(scope, n, vector) for n, vector in zip(numbers, packed(vectors), strict=True)],
    )
    db.execute(
        "INSERT INTO jobs VALUES ('embed', ?, ?, '', 0, 1, ?, ?)",
        (scope, numbers[-1], len(numbers), now_ms()),
    )


def _rows(
    scope: int,
    seq: int,
    now: int,
    numbers: Sequence[int],
    texts: Sequence[str],
    counted: Sequence[Counter[str]],
) -> Iterator[dict[str, str | int | float | None]]:
    for number, text, each in zip(numbers, texts, counted, strict=True):
        yield {
            "number": number,
            "id": f"f{number:011x}{scope:016x}",
            "scope": scope,
            "type": "observation",
            "text": text,
            "digest": content_id(text),
            "author": "bench",
            "told_by": "",
            "source": "agent",
            "origin": "",
            "trust": 2,
            "quarantined": 0,
            "said_at": now - number % 10**9,
            "meant_from": None,
            "meant_to": None,
            "importance": 0.5,
            "lifecycle": "active",
            "version": 1,
            "session": "",
            "position": 0,
            "terms": each.total(),
            "tokens": count_tokens(text),
            "pinned": 0,
            "created_at": now,
            "changed_at": now,
            "changed_by": "bench",
            "reason": "",
            "event": seq,
        }
