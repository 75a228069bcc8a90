"""Settings of observational memory: is what is planted found, and nothing where there is nothing?

    python -m bench.observation                # 100 runs where settings matter, 200 where none does
    python -m bench.observation --signal 100 --nothing 0
    python -m bench.observation --table        # what single settings come to, each beside the defaults

Each run is a whole one: search, confirmation, gate. Its dialogues are short and right answers are all that
counts, so that the defaults, which never observe there, leave much to be had. Where nothing is to be found,
the same dialogues are played in the same way, and any option is taken for the right one: a memory that is
told of cannot help. The gate's level is 1 %.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import fmean
from typing import Any

import metamem
from metamem.api import LearnResult
from metamem.core.protocols import Trial
from metamem.evaluation.jobs import Spec
from metamem.evaluation.statistics import binomial_lower_bound, binomial_tail
from metamem.observation import ObservationDomain

LEVEL = 0.01  # of the gate
SIDE = 0.025  # of each end of an interval
SHORT: Mapping[str, Any] = {
    "tokens": 4_000,
    "advice_tokens": 600,
    "answers": 1.0,
    "context": 0.0,
    "calls": 0.0,
    "train": 12,
    "valid": 50,
    "test": 2,
    "shift": 2,
}
TABLE: Mapping[str, Mapping[str, Any]] = {
    "defaults": {},
    **{f"observe_at {at:,}": {"observe_at": at} for at in (1_000, 2_000, 4_000, 8_000, 15_000)},
    **{f"budget {b:,}": {"observe_at": 15_000, "budget": b} for b in (1_000, 2_000)},
    "reflect_at 1,000": {"observe_at": 15_000, "reflect_at": 1_000},
    "first none": {"observe_at": 15_000, "budget": 2_000, "first": "none"},
    "no exact words": {"observe_at": 15_000, "exact_words": False},
    "brief": {"observe_at": 15_000, "brief": True},
}


def learned(home: Path | str, seed: int, **settings: Any) -> LearnResult:
    """A whole run on short dialogues of its own."""
    return metamem.learn(
        "observation",
        home=home,
        executor=Spec("inline"),
        seed=seed,
        designs=40,
        proposer=Spec("adaptive"),
        confirm=5,
        control=False,
        explain=False,
        domain_settings={**SHORT, "seed": seed, **settings},
    )


def _promoted(given: tuple[int, bool]) -> bool:
    seed, shuffled = given
    with tempfile.TemporaryDirectory() as home:
        return learned(home, seed, shuffled=shuffled).promoted


def promotions(seeds: int, first: int, workers: int, *, shuffled: bool) -> int:
    """In how many runs something was promoted."""
    runs = [(seed, shuffled) for seed in range(first, first + seeds)]
    with ProcessPoolExecutor(workers) as pool:
        return sum(pool.map(_promoted, runs, chunksize=2))


def _told(what: str, found: int, seeds: int) -> str:
    low = binomial_lower_bound(found, seeds, SIDE)
    high = 1.0 - binomial_lower_bound(seeds - found, seeds, SIDE)
    return f"{what}: promoted in {found} of {seeds} runs ({low:.1%} to {high:.1%})"


async def table(tasks: int) -> None:
    """Single settings, each beside the defaults."""
    domain = ObservationDomain()
    shown = domain.tasks("valid")[:tasks]
    print(
        f"{tasks} dialogues of about 40,000 tokens, at the usual weights, with the scripted model"
    )
    print(f"{'':18}{'reward':>8}{'right':>8}{'told':>8}{'observer':>10}{'reflector':>11}")
    for name, values in TABLE.items():
        given = domain.space.completed(values)
        found = [await domain.score(given, task, Trial(0)) for task in shown]
        costs = {cost: fmean(each.costs[cost] for each in found) for cost in found[0].costs}
        print(
            f"{name:18}{fmean(each.reward for each in found):>8.3f}{costs['answers right']:>8.1%}"
            f"{costs['told tokens']:>8.0f}{costs['observer calls']:>10.1f}"
            f"{costs['reflector calls']:>11.1f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--signal", type=int, default=100, metavar="SEEDS")
    parser.add_argument("--nothing", type=int, default=200, metavar="SEEDS")
    parser.add_argument("--first", type=int, default=1000, help="the first of the seeds")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--tasks", type=int, default=20, help="dialogues of the table")
    given = parser.parse_args()
    if given.table:
        asyncio.run(table(given.tasks))
        return
    if given.signal:
        found = promotions(given.signal, given.first, given.workers, shuffled=False)
        print(_told("planted", found, given.signal), flush=True)
    if given.nothing:
        found = promotions(given.nothing, given.first, given.workers, shuffled=True)
        luck = binomial_tail(found, given.nothing, LEVEL)
        print(_told("nothing", found, given.nothing) + f"; so many by luck at 1 %: p = {luck:.3g}")


if __name__ == "__main__":
    main()
