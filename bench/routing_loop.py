"""Settings of routers through the whole loop: is what is planted found, and nothing where nothing is?

    python -m bench.routing_loop                # 100 runs where a setting matters, 200 where none does
    python -m bench.routing_loop --signal 100 --nothing 0 --log runs.jsonl   # goes on where it stopped

Each run is a whole one, on rows of its own: search, confirmation, gate. A task is one word, and which of
two arms succeeds with it depends on the word. In 32 buckets, as by default, the two words that there are
fall together, so that neither the defaults nor the presets can tell them apart; in most other numbers of
buckets they are apart. Where nothing is to be found, the same outcomes are dealt among the arms by chance.
The gate's level is 1 %.
"""

import argparse
import json
import random
import tempfile
import time
import zlib
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import fmean
from typing import Any

import metamem
from metamem.api import LearnResult
from metamem.core.ids import derive_seed
from metamem.domains.base import Sizes
from metamem.domains.routing import needed
from metamem.evaluation.jobs import Spec
from metamem.evaluation.statistics import binomial_lower_bound, binomial_tail

LEVEL = 0.01  # of the gate
SIDE = 0.025  # of each end of an interval
ROUNDS = 12
SIZES: Mapping[str, int] = {"train": 20, "valid": 40, "test": 4, "shift": 4}
SURE = 0.95  # the chance of the arm that a word needs; the other has the rest
ARMS = ("left", "right")


def words(luck: random.Random) -> dict[str, str]:
    """Two words with the arm that each needs: in 32 buckets they are one."""
    while True:
        one, other = ("".join(luck.choices("abcdefghijklmnopqrstuvwxyz", k=7)) for _ in range(2))
        codes = [zlib.crc32(word.encode()) for word in (one, other)]
        together = codes[0] % 32 == codes[1] % 32 and codes[0] >> 31 == codes[1] >> 31
        if together and codes[0] % 64 != codes[1] % 64:
            return {one: ARMS[0], other: ARMS[1]}


def rows(seed: int, count: int) -> Iterator[dict[str, Any]]:
    luck = random.Random(derive_seed("planted", seed))
    needs = words(luck)
    for _ in range(count):
        word = luck.choice(list(needs))
        drawn = luck.random()
        outcomes = {
            arm: {"success": float(drawn < (SURE if arm == needs[word] else 1.0 - SURE))}
            for arm in ARMS
        }
        yield {"task": word, "outcomes": outcomes}


def written(folder: Path, seed: int, count: int) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, rows(seed, count))), encoding="utf-8")
    return path


def learned(folder: Path, seed: int, *, shuffled: bool) -> LearnResult:
    """A whole run on rows of its own."""
    return metamem.learn(
        "routing",
        home=folder,
        executor=Spec("inline"),
        seed=seed,
        designs=20,
        confirm=3,
        confirm_seeds=1,
        final_repeats=1,
        control=False,
        explain=False,
        domain_settings={
            "data": str(written(folder, seed, needed(ROUNDS, Sizes(**SIZES)))),
            "rounds": ROUNDS,
            "shuffled": shuffled,
            "seed": seed,
            **SIZES,
        },
    )


def _run(given: tuple[bool, int]) -> dict[str, Any]:
    shuffled, seed = given
    begun = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        promoted = learned(Path(folder), seed, shuffled=shuffled).promoted
    spent = time.process_time() - begun
    return {"shuffled": shuffled, "seed": seed, "promoted": promoted, "seconds": round(spent, 2)}


def runs(seeds: range, workers: int, log: Path | None, *, shuffled: bool) -> list[dict[str, Any]]:
    """One of every seed. What the log has is not run again."""
    lines = log.read_text(encoding="utf-8").splitlines() if log and log.is_file() else []
    found = [each for each in map(json.loads, lines) if each["shuffled"] == shuffled]
    found = [each for each in found if each["seed"] in seeds]
    have = {each["seed"] for each in found}
    what = "nothing" if shuffled else "planted"
    with ProcessPoolExecutor(workers) as pool:
        for each in pool.map(_run, [(shuffled, seed) for seed in seeds if seed not in have]):
            found.append(each)
            if log:
                with log.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(each) + "\n")
            promoted = sum(one["promoted"] for one in found)
            print(f"{what}: promoted in {promoted} of {len(found)} so far", flush=True)
    return found


def _told(what: str, found: list[dict[str, Any]]) -> str:
    promoted, count = sum(each["promoted"] for each in found), len(found)
    low = binomial_lower_bound(promoted, count, SIDE)
    high = 1.0 - binomial_lower_bound(count - promoted, count, SIDE)
    seconds = fmean(each["seconds"] for each in found)
    return (
        f"{what}: promoted in {promoted} of {count} runs ({low:.1%} to {high:.1%}), {seconds:.1f} s of"
        " CPU each"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--signal", type=int, default=100, metavar="SEEDS")
    parser.add_argument("--nothing", type=int, default=200, metavar="SEEDS")
    parser.add_argument("--first", type=int, default=1000, help="the first of the seeds")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--log", type=Path, help="keep every run there, and go on from what it has")
    given = parser.parse_args()
    if given.signal:
        seeds = range(given.first, given.first + given.signal)
        print(_told("planted", runs(seeds, given.workers, given.log, shuffled=False)), flush=True)
    if given.nothing:
        seeds = range(given.first, given.first + given.nothing)
        found = runs(seeds, given.workers, given.log, shuffled=True)
        luck = binomial_tail(sum(each["promoted"] for each in found), len(found), LEVEL)
        print(_told("nothing", found) + f"; so many by luck at 1 %: p = {luck:.3g}")


if __name__ == "__main__":
    main()
