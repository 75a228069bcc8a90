"""How fast facts are written, beside plain inserts into SQLite's full-text search.

    python -m bench.writes [--facts 20000] [--single 1000] [--each 10000] [--json]

A write is durable when it returns: in the log, the picture and the lexical index, in one transaction.
FTS5 gets the same texts in the same batches, with the same journal and the same syncing, and nothing
else: no log, no secrets looked for, no repeats, no entities. At last two processes write at once into
one scope, some in batches and some one by one; every fact that was said to be stored must be there.
"""

import argparse
import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.memory_data import Vocabulary, caller
from metamem.core.access import Scope
from metamem.service.access.scopes import make_scope
from metamem.service.database import FILE, Database
from metamem.service.words import Draft
from metamem.service.writing.writer import Writer

BATCH = 500
SCOPE = Scope("bench", "project", "one")


def opened(folder: Path) -> tuple[Database, Writer]:
    database = Database(folder / FILE)
    with database.writing() as execute:
        make_scope(execute, SCOPE)
    return database, Writer(database)


def service(folder: Path, texts: Sequence[str], single: Sequence[str]) -> dict[str, float]:
    database, writer = opened(folder)
    who = caller([SCOPE])
    begun, before = time.perf_counter(), time.thread_time()
    for start in range(0, len(texts), BATCH):
        drafts = [Draft(text) for text in texts[start : start + BATCH]]
        writer.remember(who, str(SCOPE), drafts)
    batches, worked = time.perf_counter() - begun, time.thread_time() - before
    times = []
    for text in single:
        begun = time.perf_counter()
        writer.remember(who, str(SCOPE), [Draft(text)])
        times.append(time.perf_counter() - begun)
    database.scrub()
    size = (folder / FILE).stat().st_size / (len(texts) + len(single))
    database.close()
    return {
        "batches_per_s": round(len(texts) / batches),
        "cpu_batches_per_s": round(len(texts) / worked),
        "disk_bytes_per_fact": round(size),
        "single_per_s": round(len(single) / sum(times)),
        "single_p95_ms": round(1000 * float(np.percentile(times, 95)), 2),
    }


def fts5(path: Path, texts: Sequence[str], single: Sequence[str]) -> dict[str, float]:
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("CREATE VIRTUAL TABLE facts USING fts5 (text)")
    begun = time.perf_counter()
    for start in range(0, len(texts), BATCH):
        db.execute("BEGIN IMMEDIATE")
        rows = ((text,) for text in texts[start : start + BATCH])
        db.executemany("INSERT INTO facts VALUES (?)", rows)
        db.execute("COMMIT")
    batches = time.perf_counter() - begun
    begun = time.perf_counter()
    for text in single:
        db.execute("INSERT INTO facts VALUES (?)", (text,))
    alone = time.perf_counter() - begun
    db.close()
    return {
        "batches_per_s": round(len(texts) / batches),
        "single_per_s": round(len(single) / alone),
    }


def together(folder: Path, each: int) -> dict[str, Any]:
    """Two processes at once: how many facts were said to be stored, and how many are there."""
    opened(folder)[0].close()
    begun = time.perf_counter()
    children = [
        subprocess.Popen(
            [sys.executable, "-m", "bench.writes", "--child", str(folder), str(n), str(each)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in (1, 2)
    ]
    stored = sum(int(child.communicate()[0]) for child in children)
    took = time.perf_counter() - begun
    database, _ = opened(folder)
    with database.reading() as execute:
        ((facts, distinct),) = execute("SELECT COUNT(*), COUNT(DISTINCT digest) FROM facts")
        ((logged,),) = execute("SELECT COUNT(*) FROM events WHERE kind = 'remembered'")
    database.close()
    return {
        "said_to_be_stored": stored,
        "there": facts,
        "lost": stored - facts,
        "doubled": facts - distinct,
        "events": logged,
        "per_s_with_start": round(stored / took),
    }


def child(folder: Path, seed: int, count: int) -> None:
    texts = Vocabulary(100 + seed).facts(count)
    database, writer = opened(folder)
    who, stored, start = caller([SCOPE]), 0, 0
    sizes = np.random.default_rng(seed).choice([1, 10, 200], size=count)
    for size in sizes:
        drafts = [Draft(text) for text in texts[start : start + size]]
        if not drafts:
            break
        written = writer.remember(who, str(SCOPE), drafts)
        stored += sum(one.outcome == "stored" for one in written)
        start += int(size)
    database.close()
    print(stored)


def main() -> None:
    parser = argparse.ArgumentParser(description="How fast facts are written")
    parser.add_argument("--facts", type=int, default=20_000)
    parser.add_argument("--single", type=int, default=1000)
    parser.add_argument("--each", type=int, default=10_000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(Path(given.child[0]), int(given.child[1]), int(given.child[2]))
        return
    words = Vocabulary()
    texts, single = words.facts(given.facts), words.facts(given.single)
    folder = Path(tempfile.mkdtemp(prefix="metamem-bench-"))
    try:
        results: dict[str, dict[str, Any]] = {
            "metamem": service(folder / "alone", texts, single),
            "fts5": fts5(folder / "fts.db", texts, single),
            "two processes": together(folder / "together", given.each),
        }
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
