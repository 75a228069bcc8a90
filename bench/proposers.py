"""Proposers of parameters against random search: the same loop, budget, tasks and seeds.

    python -m bench.proposers [--designs 60] [--seeds 20] [--problems sphere dials ...] [--json]
    python -m bench.proposers --signal 100      # is what is planted found, and promoted?
    python -m bench.proposers --nothing 200     # is anything promoted where there is nothing?

Standard functions with noise (bench/functions.py) and domains of metamem. What counts is what the set
that looked best on train is worth: functions without their noise, domains on test. A proposer wins where
it ends better than random search with the same seed; a tie is half a win.
"""

import argparse
import asyncio
import json
import math
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from statistics import fmean
from typing import Any

import metamem
from bench.functions import MIXED, NOTHING, PLAIN
from metamem.api import open_home, running
from metamem.core import registry
from metamem.core.errors import NotInstalled
from metamem.core.extras import require
from metamem.core.ids import derive_seed
from metamem.evaluation.evaluator import Evaluator
from metamem.evaluation.jobs import Setup, Spec
from metamem.evaluation.racing import RaceSettings
from metamem.evaluation.rules import Rules
from metamem.evaluation.statistics import binomial_lower_bound, bootstrap_interval
from metamem.search.learnables import learnable_of
from metamem.search.loop import Budget, Search

RANDOM = "sample"
OWN = ("gaussian", "annealing", "crossover", "adaptive")
LIBRARY = ("tpe", "cmaes")
FUNCTION = "bench.functions:FunctionDomain"
PROBLEMS: Mapping[str, Spec] = {
    **{name: Spec(FUNCTION, {"function": name}) for name in (*PLAIN, MIXED)},
    "dials": Spec("dials"),
    # Short streams, and none where nobody looks: a search of 60 designs takes seconds.
    "routing": Spec("routing", {"rounds": 20, "valid": 2, "shift": 2}),
}
INLINE = Spec("inline")
LEVEL = 0.025  # of each end of an interval


@dataclass(frozen=True, slots=True)
class Found:
    problem: str
    proposer: str
    seed: int
    worth: float
    defaults: float


async def search(problem: str, proposer: str, seed: int, designs: int) -> Found:
    """One search in an archive of its own."""
    spec = PROBLEMS[problem]
    domain = Spec(spec.name, {**spec.settings, "seed": seed})
    with tempfile.TemporaryDirectory() as home, open_home(home) as archive:
        async with running(archive, INLINE) as executor:
            setup = Setup(domain, Spec(""), Spec("auto"), Rules(), seed=seed)
            evaluator = Evaluator(archive, executor, setup)
            learnable = learnable_of(evaluator.domain)
            usual = learnable.settings(evaluator.domain)["selector"]
            chosen = learnable.blind.selector if proposer == RANDOM else usual
            archive.create_run("bench", {})
            arm = Search(
                archive=archive,
                evaluator=evaluator,
                journal="bench",
                learnable=learnable,
                seeds=list(learnable.seeds(evaluator.domain, ()).values()),
                proposer=registry.create("proposers", proposer),
                proposer_name=proposer,
                selector=registry.create("selectors", chosen.name, **chosen.settings),
                budget=Budget(designs=designs),
                seed=derive_seed(seed, "bench", proposer),
                race=RaceSettings(),
                free_duplicates=True,
            )
            await arm.run()
            defaults = learnable.reference(evaluator.domain)
            worth = [
                (await evaluator.evaluate(design, "test", purpose="bench")).evaluation.reward
                for design in (arm.best.design, defaults)
            ]
            return Found(problem, proposer, seed, *worth)


def _search(given: tuple[str, str, int, int]) -> Found:
    return asyncio.run(search(*given))


def _learned(given: tuple[str, str, int]) -> bool:
    """Whether a whole run promotes something."""
    problem, proposer, seed = given
    with tempfile.TemporaryDirectory() as home:
        run = metamem.learn(
            FUNCTION,
            home=home,
            executor=INLINE,
            seed=seed,
            designs=18,
            proposer=Spec(proposer),
            control=False,
            explain=False,
            domain_settings={"function": problem, "seed": seed},
        )
        return run.promoted


def shares_won(found: Sequence[Found], proposer: str) -> list[float]:
    theirs = {each.seed: each.worth for each in found if each.proposer == RANDOM}
    ours = [each for each in found if each.proposer == proposer]
    return [0.5 + 0.5 * ((o.worth > theirs[o.seed]) - (o.worth < theirs[o.seed])) for o in ours]


def share_interval(won: Sequence[float]) -> tuple[float, float]:
    """Exact (Clopper and Pearson); half wins are rounded against whoever gains by them."""
    low = binomial_lower_bound(math.floor(sum(won)), len(won), LEVEL)
    high = 1.0 - binomial_lower_bound(len(won) - math.ceil(sum(won)), len(won), LEVEL)
    return low, high


def told(found: Sequence[Found], names: Sequence[str]) -> list[dict[str, Any]]:
    """A row for each problem and proposer."""
    rows = []
    for problem in dict.fromkeys(each.problem for each in found):
        here = [each for each in found if each.problem == problem]
        by = {name: [e for e in here if e.proposer == name] for name in names}
        random = fmean(e.worth - e.defaults for e in by[RANDOM])
        for name in names:
            won = shares_won(here, name)
            gains = [
                (o.worth - o.defaults) - (t.worth - t.defaults)
                for o, t in zip(by[name], by[RANDOM], strict=True)
            ]
            low, high = bootstrap_interval(gains) if name != RANDOM else (0.0, 0.0)
            rows.append(
                {
                    "problem": problem,
                    "proposer": name,
                    "worth": fmean(e.worth for e in by[name]),
                    "gain": fmean(e.worth - e.defaults for e in by[name]),
                    "ratio": 1.0 + fmean(gains) / random,
                    "ratio_interval": (1.0 + low / random, 1.0 + high / random),
                    "won": fmean(won),
                    "won_interval": share_interval(won),
                    "seeds": len(won),
                }
            )
    return rows


def installed() -> tuple[str, ...]:
    try:
        require("optuna")
    except NotInstalled as absent:
        print(f"without {' and '.join(LIBRARY)}: {absent}")
        return OWN
    return (*OWN, *LIBRARY)


def compare(given: argparse.Namespace, names: Sequence[str]) -> None:
    seeds = range(given.first, given.first + given.seeds)
    work = [(p, n, s, given.designs) for p, n, s in product(given.problems, names, seeds)]
    with ProcessPoolExecutor(given.workers) as pool:
        rows = told(list(pool.map(_search, work, chunksize=4)), names)
    if given.json:
        print(json.dumps(rows))
        return
    print(f"{given.designs} designs, {given.seeds} seeds; 95 % intervals")
    print(f"{'':12}{'':11}{'worth':>8}{'gain':>8}{'gain ÷ random':>24}{'wins over random':>26}")
    for row in rows:
        (low, high), (least, most) = row["ratio_interval"], row["won_interval"]
        first = row["proposer"] == names[0]
        print(
            f"{row['problem'] if first else '':12}{row['proposer']:11}"
            f"{row['worth']:>8.3f}{row['gain']:>8.3f}"
            + ("" if first else f"{row['ratio']:>9.2f} ({low:5.2f} to {high:5.2f})")
            + ("" if first else f"{row['won']:>9.0%} ({least:4.0%} to {most:4.0%})")
        )


def promotions(problem: str, seeds: int, workers: int, names: Sequence[str]) -> None:
    with ProcessPoolExecutor(workers) as pool:
        for name in names:
            runs = [(problem, name, seed) for seed in range(seeds)]
            promoted = sum(pool.map(_learned, runs, chunksize=4))
            low = binomial_lower_bound(promoted, seeds, LEVEL)
            high = 1.0 - binomial_lower_bound(seeds - promoted, seeds, LEVEL)
            print(
                f"{name:11} promoted in {promoted} of {seeds} runs ({low:.1%} to {high:.1%})",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--designs", type=int, default=60)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1000, help="the first of the seeds")
    parser.add_argument("--problems", nargs="+", choices=list(PROBLEMS), default=list(PROBLEMS))
    parser.add_argument("--proposers", nargs="+", default=[])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--signal", type=int, default=0, metavar="SEEDS")
    parser.add_argument("--nothing", type=int, default=0, metavar="SEEDS")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.seeds < 2:
        parser.error("a comparison takes two seeds or more")
    names = given.proposers or installed()
    if given.signal:
        promotions("sphere", given.signal, given.workers, names)
    elif given.nothing:
        promotions(NOTHING, given.nothing, given.workers, names)
    else:
        compare(given, (RANDOM, *names))


if __name__ == "__main__":
    main()
