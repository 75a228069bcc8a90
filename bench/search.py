"""How fast a search finds good memories: best so far against the number of designs tried.

    python -m bench.search [--designs 60] [--seeds 3] [--first 0] [--domain alfworld] [--ask once]
        [--arms ARM ...] [--home FOLDER] [--json]

`recombine` with each selector against random recombination, on the train split (of generated games
in ALFWorld), every search on the same seeds. No other split is read. Resumable: give the same --home
again.
"""

import argparse
import asyncio
import json
from statistics import fmean, stdev
from typing import Any

from metamem.api import open_home, running
from metamem.core import registry
from metamem.core.ids import derive_seed
from metamem.designs.library import rivals
from metamem.evaluation.evaluator import Evaluator
from metamem.evaluation.jobs import Setup, Spec
from metamem.evaluation.racing import RaceSettings
from metamem.evaluation.rules import Rules, asking
from metamem.search.learnables import learnable_of
from metamem.search.loop import Budget, Search

ARMS = {
    "recombine + niches": ("recombine", "niches"),
    "recombine + clade": ("recombine", "clade"),
    "recombine + alma": ("recombine", "alma"),
    "recombine + greedy": ("recombine", "greedy"),
    "recombine + pareto": ("recombine", "pareto"),
    "recombine + uniform": ("recombine", "uniform"),
    "random": ("random", "uniform"),
}


async def search(
    archive: Any, executor: Any, arm: str, designs: int, seed: int, place: tuple[str, str]
) -> list[float]:
    """Best mean so far after each proposal."""
    proposer, selector = ARMS[arm]
    name, ask = place
    domain = Spec(name, {"data": "generated"} if name == "alfworld" else {})
    agent = Spec(registry.create("domains", name, **domain.settings).agent)
    setup = Setup(domain, agent, Spec("auto"), Rules(**asking(ask)), seed=seed)
    evaluator = Evaluator(archive, executor, setup)
    journal = f"bench-search/{name}/{ask}/{arm}/{seed}"
    archive.create_run(journal, {"bench": "search"})
    seeds = list(rivals(evaluator.domain.baselines(), model=False).values())
    found = Search(
        archive=archive,
        evaluator=evaluator,
        journal=journal,
        learnable=learnable_of(evaluator.domain),
        seeds=seeds,
        proposer=registry.create("proposers", proposer),
        proposer_name=proposer,
        selector=registry.create("selectors", selector),
        budget=Budget(designs=designs),
        seed=derive_seed(seed, "bench", proposer),
        race=RaceSettings(),
    )
    entries = await found.run()
    scores = {e.ordinal: e.estimate.mean for e in entries if e.estimate.complete}
    best, curve = 0.0, []
    for ordinal in range(len(seeds) + designs):
        best = max(best, scores.get(ordinal, 0.0))
        curve.append(best)
    return curve[len(seeds) - 1 :]


async def measure(
    designs: int, seeds: range, home: str, arms: list[str], place: tuple[str, str]
) -> dict[str, list[list[float]]]:
    curves: dict[str, list[list[float]]] = {}
    with open_home(home) as archive:
        async with running(archive, Spec("local")) as executor:
            for seed in seeds:
                for arm in arms:
                    curve = await search(archive, executor, arm, designs, seed, place)
                    curves.setdefault(arm, []).append(curve)
    return curves


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--designs", type=int, default=60)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--domain", default="alfworld")
    parser.add_argument("--ask", default="once", help="once, every:K, when or when:N")
    parser.add_argument("--arms", nargs="+", default=list(ARMS), choices=ARMS, metavar="ARM")
    parser.add_argument("--home", default="bench/results/search")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.seeds)
    place = given.domain, given.ask
    curves = asyncio.run(measure(given.designs, seeds, given.home, given.arms, place))
    if given.json:
        print(json.dumps(curves))
        return
    marks = [0, *(given.designs * n // 4 for n in (1, 2, 3, 4))]
    print(f"best reward on train so far (mean of {given.seeds} seeds) after so many designs")
    print(f"{'':22}" + "".join(f"{m:>8}" for m in marks) + f"{'± seeds':>10}{'÷ random':>10}")
    base = fmean(curve[-1] for curve in curves["random"]) if "random" in curves else 0.0
    for arm, runs in curves.items():
        last = [curve[-1] for curve in runs]
        spread = stdev(last) if len(last) > 1 else 0.0
        cells = "".join(f"{fmean(c[m] for c in runs):>8.3f}" for m in marks)
        print(f"{arm:22}{cells}{spread:>10.3f}" + (f"{fmean(last) / base:>10.2f}" if base else ""))


if __name__ == "__main__":
    main()
