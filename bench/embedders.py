"""The installed embedders side by side: time, memory, and whether they find the paraphrase.

    python -m bench.embedders [NAME ...] [--json]

Each runs in a process of its own with one thread. For every query the right paraphrase shares
hardly a word with it, and stands among the other paraphrases and as many distractors, each of
which repeats the words of a query but not its meaning. One of twelve is a coarse measure.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from metamem.core import registry
from metamem.core.errors import MetamemError
from metamem.models.embedders import open_embedder

DEFAULT = "wordllama"
TIMED = 40  # texts
# A query, what means the same, and what merely sounds the same.
ITEMS = (
    (
        "The mug must be washed before it goes on the shelf",
        "Clean the cup first, then put it away",
        "The shelf must be painted before the mug goes on sale",
    ),
    (
        "The door is locked and nobody has the key",
        "We cannot get in without something to open it",
        "The key of this song is not the one on the door",
    ),
    (
        "Warm the soup on the stove",
        "Heat up the broth in the kitchen",
        "The stove was sold together with a warm coat",
    ),
    (
        "My test fails because a file is missing",
        "The check does not pass: a document cannot be found",
        "My file about the test of the car is missing a page",
    ),
    (
        "Switch off the lamp before you leave",
        "Make it dark when going out",
        "Leave the switch in the box with the lamp",
    ),
    (
        "The train left ten minutes late",
        "Our railway departure was delayed",
        "Ten minutes of training left him breathless",
    ),
    (
        "She prefers tea to coffee",
        "Her favourite hot drink is not made from beans",
        "She spilled coffee and tea on the table",
    ),
    (
        "Repeat the request when the server is busy",
        "Try again later if the machine is overloaded",
        "The busy waiter served what was requested",
    ),
    (
        "The boy is afraid of dogs",
        "A child fears barking animals",
        "The dogs of the boy are not afraid of water",
    ),
    (
        "Prices rose sharply in spring",
        "Everything became more expensive in April",
        "The sharp spring in the clock has no price",
    ),
    (
        "Keep the milk in the fridge",
        "Dairy products should be stored cold",
        "The fridge keeps making noise, says the milkman",
    ),
    (
        "The wizard drank the potion and became invisible",
        "After swallowing the brew, no one could see the sorcerer",
        "The potion seller became a wizard at counting money",
    ),
)


def measure(name: str) -> dict[str, Any]:
    before = _megabytes()
    embedder = open_embedder(name)
    queries, right, wrong = zip(*ITEMS, strict=True)
    begun = time.process_time()
    asked = embedder.embed(queries[:1])
    loading = time.process_time() - begun
    asked, offered = embedder.embed(queries), embedder.embed((*right, *wrong))
    scores = asked @ offered.T
    ranks = [1 + int((row > row[n]).sum()) for n, row in enumerate(scores)]
    fresh = [f"{query}, number {n}" for n in range(4) for query in queries][:TIMED]
    begun = time.process_time()
    for text in fresh:
        embedder.embed([text])
    single = time.process_time() - begun
    return {
        "name": name,
        "fingerprint": embedder.fingerprint,
        "dimensions": embedder.dimensions,
        "first": sum(rank == 1 for rank in ranks) / len(ranks),
        "reciprocal_rank": sum(1 / rank for rank in ranks) / len(ranks),
        "ms": 1000 * single / len(fresh),
        "load_seconds": loading,
        "megabytes": _megabytes() - before,
    }


def _megabytes() -> float:
    """In use now. (The most that was ever in use would be inherited from whoever started us.)"""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / (1 << 20)


def _apart(name: str) -> dict[str, Any]:
    """Measured in a process of its own, since threads are set before anything is loaded."""
    one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "bench.embedders", "--here", name],
        env={**os.environ, **one},
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        print(json.dumps(measure(given.names[0])))
        return
    rows, absent = [], []
    wanted = given.names or [n for n in registry.names("embedders") if n != "auto"]
    for name in dict.fromkeys((DEFAULT, *wanted)):
        try:
            open_embedder(name)
        except MetamemError as error:
            absent.append(f"{name}: {error.message} ({error.hint})")
            continue
        rows.append(_apart(name))
    base = rows[0]
    for row in rows:
        row["ms_ratio"] = row["ms"] / base["ms"]
        row["rank_ratio"] = row["reciprocal_rank"] / base["reciprocal_rank"]
    if given.json:
        print(json.dumps({"rows": rows, "absent": absent}))
        return
    print(f"embedders, one thread, CPU; ratios to {DEFAULT}; {len(ITEMS)} paraphrases to find,")
    print("how many came first, and the mean of 1/rank (1: always first)")
    print(
        f"{'name':<10} {'dims':>4} {'first':>6} {'1/rank':>7} {'ratio':>6} {'ms/text':>8} "
        f"{'ratio':>7} {'MB':>5}"
    )
    for row in rows:
        print(
            f"{row['name']:<10} {row['dimensions']:>4} {row['first']:>6.2f} "
            f"{row['reciprocal_rank']:>7.2f} {row['rank_ratio']:>6.2f} {row['ms']:>8.3f} "
            f"{row['ms_ratio']:>7.1f} {row['megabytes']:>5.0f}"
        )
    for line in absent:
        print(f"not measured: {line}")


if __name__ == "__main__":
    main()
