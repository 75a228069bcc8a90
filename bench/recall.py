"""How long recall takes, beside SQLite's full-text search over the same facts.

    python -m bench.recall [--facts 100000] [--scopes 100] [--each 10000] [--questions 300] [--json]

First one scope, then as many facts in many. Facts are put into the tables directly (`bench.writes`
times the usual way, and tells the room that the log takes); those of the one scope are embedded as
users' facts are, the others have random vectors. Every question is new, so that its embedding is part of the time; half of
the terms' lists are not in memory when they are first asked for. FTS5 is asked for the 50 best of the
same terms (by OR, as a search for meaning must), and does nothing else: no vectors, no ranking, no
rights, no budget. `cold` is the first recall of a new process, its imports and opening left out.
"""

import argparse
import json
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as a server should: see docs/recall-engine.md
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.memory_data import Vocabulary, caller, filled
from metamem.core.access import Scope
from metamem.core.terms import terms
from metamem.service.access.scopes import make_scope
from metamem.service.database import FILE, Database
from metamem.service.recall.recaller import Recaller
from metamem.service.words import Ask

FIRST = 40  # questions that are asked before the clock runs
FIRST_OF_MANY = 200  # the same for many scopes: until most words of the language have been met
COLD = 5  # processes
SCOPE = Scope("bench", "project", "one")


def timed(
    ask: Callable[[str], Any], questions: Sequence[str], first: int = FIRST
) -> dict[str, float]:
    """Milliseconds by the clock, and those that the processor worked on it: they differ where other
    programs run, too."""
    for question in questions[:first]:
        ask(question)
    clock, worked = [], []
    for question in questions[first:]:
        begun, before = time.perf_counter(), time.thread_time()
        ask(question)
        clock.append(1000 * (time.perf_counter() - begun))
        worked.append(1000 * (time.thread_time() - before))
    found = {}
    for name, times in (("", clock), ("cpu_", worked)):
        for percent in (50, 95):
            found[f"{name}p{percent}"] = round(float(np.percentile(times, percent)), 2)
    return found


def one_scope(folder: Path, count: int, asked: int) -> dict[str, Any]:
    words = Vocabulary()
    texts = words.facts(count)
    questions = words.questions(texts, asked + FIRST)
    database = Database(folder / FILE)
    with database.writing() as execute:
        make_scope(execute, SCOPE)
    who = caller([SCOPE])
    recaller = Recaller(database, background=False)
    begun = time.perf_counter()
    filled(folder, 1, 10, texts, 0)
    written = time.perf_counter() - begun
    begun = time.perf_counter()
    recaller.embed_waiting()
    embedded = time.perf_counter() - begun
    database.scrub()
    before = _megabytes()
    identity = recaller._indexer.identity()
    assert identity is not None
    with database.reading() as execute:
        begun = time.perf_counter()
        recaller._index.warm(execute, 1, identity)
        warming = time.perf_counter() - begun
    stages: dict[str, list[float]] = {}

    def ask(question: str) -> None:
        for stage, took in recaller.recall(who, Ask(question)).milliseconds.items():
            stages.setdefault(stage, []).append(took)

    warm = timed(ask, questions)
    recaller.close()
    result: dict[str, Any] = {
        "facts": count,
        "filled_per_s": round(count / written),
        "embedded_per_s": round(count / embedded),
        "disk_bytes_per_fact": round((folder / FILE).stat().st_size / count),
        "index_bytes_per_fact": round(recaller.metrics()["index_bytes"] / count),
        "memory_bytes_per_fact": round((_megabytes() - before) * 2**20 / count),
        "vectors_read_s": round(warming, 3),
        "recall_ms": warm,
        "stages_p50_ms": {name: round(float(np.median(t)), 2) for name, t in stages.items()},
        "fts5_ms": timed(_fts5(folder / "fts.db", texts), questions),
        "cold_ms": sorted(_cold(folder, question) for question in questions[:COLD]),
    }
    database.close()
    recall, fts = result["recall_ms"], result["fts5_ms"]
    result["times_fts5"] = {name: round(recall[name] / fts[name], 2) for name in recall}
    return result


def many_scopes(folder: Path, scopes: int, each: int, asked: int) -> dict[str, Any]:
    words = Vocabulary(1)
    names = [Scope("bench", "project", f"p{n:03}") for n in range(scopes)]
    database = Database(folder / FILE)
    with database.writing() as execute:
        numbers = [make_scope(execute, name) for name in names]
    recaller = Recaller(database, background=False)
    identity = recaller._indexer.identity()
    assert identity is not None
    sample: list[tuple[Scope, str]] = []
    searched: list[str] = []
    begun = time.perf_counter()
    for name, number in zip(names, numbers, strict=True):
        texts = words.facts(each)
        filled(folder, number, number * (each // 4096 + 2), texts, identity.dimensions)
        sample += [(name, q) for q in words.questions(texts, 1 + (asked + FIRST_OF_MANY) // scopes)]
        searched = searched or texts
    filling = time.perf_counter() - begun
    rng = np.random.default_rng(0)
    sample = [sample[i] for i in rng.permutation(len(sample))]
    before = _megabytes()
    for name in names:
        recaller.recall(caller([name]), Ask("what is there to say?"))
    resident = (_megabytes() - before) * 2**20 / (scopes * each)
    pairs = {f"{n} {question}": (name, question) for n, (name, question) in enumerate(sample)}

    def ask(key: str) -> None:
        name, question = pairs[key]
        recaller.recall(caller([name]), Ask(question))

    def ask_five(key: str) -> None:
        name, question = pairs[key]
        several = [name, *(names[i] for i in rng.integers(0, scopes, 4))]
        recaller.recall(caller(several), Ask(question))

    result = {
        "facts": scopes * each,
        "scopes": scopes,
        "filled_per_s": round(scopes * each / filling),
        "index_bytes_per_fact": round(recaller.metrics()["index_bytes"] / (scopes * each)),
        "memory_bytes_per_fact": round(resident),
        "recall_ms": timed(ask, list(pairs)[: asked + FIRST_OF_MANY], FIRST_OF_MANY),
        "recall_of_5_scopes_ms": timed(ask_five, list(pairs)[: asked // 3 + FIRST]),
        "fts5_of_one_scope_ms": timed(
            _fts5(folder / "fts.db", searched), words.questions(searched, asked + FIRST)
        ),
    }
    recaller.close()
    database.close()
    return result


def cold(folder: Path, question: str) -> None:
    """In a process of its own."""
    database = Database(folder / FILE)
    recaller = Recaller(database)
    begun = time.perf_counter()
    found = recaller.recall(caller([SCOPE]), Ask(question))
    print(json.dumps([round(1000 * (time.perf_counter() - begun), 1), found.milliseconds]))
    recaller.close()


def _cold(folder: Path, question: str) -> float:
    told = subprocess.run(
        [sys.executable, "-m", "bench.recall", "--cold", str(folder), question],
        capture_output=True,
        text=True,
        check=True,
    )
    return float(json.loads(told.stdout)[0])


def _fts5(path: Path, texts: Sequence[str]) -> Callable[[str], Any]:
    db = sqlite3.connect(path)
    db.execute("CREATE VIRTUAL TABLE facts USING fts5 (text)")
    db.executemany("INSERT INTO facts VALUES (?)", ((text,) for text in texts))
    db.commit()

    def ask(question: str) -> Any:
        wanted = " OR ".join(f'"{term}"' for term in terms(question))
        return db.execute(
            "SELECT rowid FROM facts WHERE facts MATCH ? ORDER BY bm25(facts) LIMIT 50", (wanted,)
        ).fetchall()

    return ask


def _megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description="How long recall takes")
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument("--scopes", type=int, default=100)
    parser.add_argument("--each", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--cold", nargs=2, metavar=("FOLDER", "QUESTION"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.cold:
        cold(Path(given.cold[0]), given.cold[1])
        return
    folder = Path(tempfile.mkdtemp(prefix="metamem-bench-"))
    try:
        results = {}
        if given.facts:
            results["one scope"] = one_scope(folder / "one", given.facts, given.questions)
        if given.scopes:
            many = many_scopes(folder / "many", given.scopes, given.each, given.questions)
            results["many scopes"] = many
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if given.json:
        print(json.dumps(results))
        return
    for title, result in results.items():
        print(title)
        for name, value in result.items():
            print(f"  {name:24} {value}")


if __name__ == "__main__":
    main()
