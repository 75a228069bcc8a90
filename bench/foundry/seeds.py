"""What must hold in every seed, in small worlds: the same path as in large ones, with fewer tasks.

    python -m bench.foundry.seeds null [--seeds 100] [--first 0] [--jobs 2] [--keep FILE]
    python -m bench.foundry.seeds planted [--seeds 100] [--first 0] [--jobs 2] [--keep FILE]

`null` is a world in which nothing repeats, of 40 sessions: no workflow may be found in it, and no tool made.
`planted` is one of the same kind in which one chore comes again and again, of 60 sessions at most: its workflow
must be found, a tool of it written, judged by replays in the jail, approved, and used by the agent with success.
Then the tool is sabotaged, in some seeds its program and in others the world around it, and must be disabled
within a few failures. The world ends as soon as that has been seen. Which cases a tool is written from is drawn
by lot: where the lot takes many, it is 45 sessions until 21 are held out.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from bench.foundry.__main__ import making
from bench.foundry.agent import work
from bench.foundry.arms import Making, run_with
from bench.foundry.chores import Chore
from bench.foundry.keeping import Kept
from bench.foundry.reading import Diary
from bench.foundry.tasks import known_chores, stream
from bench.foundry.world import make_tree
from metamem.evaluation.statistics import binomial_lower_bound

TASKS = {"null": 40, "planted": 60}
OFTEN = 0.9  # of the tasks are the chore that is planted
SPOILT = 30  # chores with a spoilt tool are given before it counts as not noticed
LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Null:
    """What came of a world in which nothing repeats. There should be nothing."""

    mined: int
    tools: int

    @property
    def good(self) -> bool:
        return not self.mined and not self.tools

    @property
    def told(self) -> str:
        return f"{self.mined} workflows, {self.tools} tools"


@dataclass(frozen=True, slots=True)
class Planted:
    """What came of a world with one chore that is done again and again."""

    chore: str
    deployed: int = 0  # after so many sessions; 0 where no tool ever was
    used: bool = False  # with success, in place of the steps
    failures: int = 0  # of the spoilt tool
    disabled: bool = False

    @property
    def good(self) -> bool:
        return self.used and self.disabled

    @property
    def told(self) -> str:
        if not self.used:
            return f"{self.chore} {'never used' if self.deployed else 'NOT found'}"
        spoilt = "disabled" if self.disabled else "NOT disabled"
        found = f"{self.chore} deployed after {self.deployed} sessions and used"
        return f"{found}; spoilt, {spoilt} after {self.failures} failures"


async def null(make: Making, seed: int, tasks: int, folder: Path) -> Null:
    with closing(make(folder / "foundry")) as foundry:
        await run_with(stream(seed, tasks, 0.0), folder / "on", foundry)
        return Null(foundry.mined(), len(foundry.deployed()))


async def planted(make: Making, seed: int, tasks: int, chore: Chore, folder: Path) -> Planted:
    diary, deployed, failures, spoilt = Diary(), 0, 0, ""
    with closing(make(folder / "foundry")) as foundry:
        for task in stream(seed, tasks + SPOILT, OFTEN, (chore,)):
            if not spoilt and task.number >= tasks:
                return Planted(chore.name, deployed)
            tree = await make_tree(task.project, folder / "on" / str(task.number))
            found = await work(task, tree, foundry, diary)
            await foundry.observe(found.trace)
            done = found.done
            if spoilt:
                failures += done.tool == spoilt and done.tool_failed
                if spoilt not in foundry.deployed():
                    return Planted(chore.name, deployed, True, failures, True)
            elif done.tool and done.success and not done.tool_failed:
                spoilt = done.tool
                foundry.spoil(spoilt)
            elif foundry.deployed() and not deployed:
                deployed = task.number + 1
        return Planted(chore.name, deployed, bool(spoilt), failures)


def _one(kind: str, foundry: str, tasks: int, seed: int) -> tuple[int, dict[str, Any], float]:
    """A seed, in a process of its own."""
    began, make = time.monotonic(), making(foundry)
    with tempfile.TemporaryDirectory() as place:
        if kind == "null":
            found: Null | Planted = asyncio.run(null(make, seed, tasks, Path(place)))
        else:
            chore = known_chores(seed)[0]
            found = asyncio.run(planted(make, seed, tasks, chore, Path(place)))
    return seed, asdict(found), time.monotonic() - began


def _all(args: argparse.Namespace, kept: Kept) -> list[Null | Planted]:
    def key(seed: int) -> str:
        return f"{args.kind} {args.foundry} tasks {args.tasks} seed {seed}"

    wanted = range(args.first, args.first + args.seeds)
    left = [seed for seed in wanted if kept.get(key(seed)) is None]
    with ProcessPoolExecutor(args.jobs, mp_context=get_context("spawn")) as pool:
        one = partial(_one, args.kind, args.foundry, args.tasks)
        for count, done in enumerate(as_completed([pool.submit(one, seed) for seed in left])):
            seed, found, took = done.result()
            kept.put(key(seed), found)
            told = _read(args.kind, found).told
            print(f"seed {seed}: {told} ({took:.0f} s; {len(left) - count - 1} left)", file=sys.stderr, flush=True)  # fmt: skip
    return [_read(args.kind, kept.get(key(seed))) for seed in wanted]


def _read(kind: str, found: Any) -> Null | Planted:
    return Null(**found) if kind == "null" else Planted(**found)


def _share(good: int, of: int) -> str:
    low = binomial_lower_bound(good, of, LEVEL) if of else 0.0
    return f"{good} of {of} (at least {low:.1%}, with 95 %)"


def _tell(found: Sequence[Null | Planted]) -> bool:
    good = sum(each.good for each in found)
    of_null = [each for each in found if isinstance(each, Null)]
    if of_null:
        print(f"worlds without a workflow and without a tool: {_share(good, len(found))}")
        return good == len(found)
    worlds = [each for each in found if isinstance(each, Planted)]
    used = [each for each in worlds if each.used]
    print(f"found, deployed and used: {_share(len(used), len(worlds))}")
    print(f"  sessions until it was deployed: {_range([e.deployed for e in used])}")
    gone = [each for each in used if each.disabled]
    print(f"disabled once it was spoilt: {_share(len(gone), len(used))}")
    print(f"  failures until then: {_range([each.failures for each in gone])}")
    return len(used) >= 0.95 * len(worlds) and len(gone) == len(used)


def _range(given: Sequence[int]) -> str:
    if not given:
        return "none"
    return f"{min(given)} to {max(given)}, {sum(given) / len(given):.1f} on the average"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.foundry.seeds", description=__doc__)
    parser.add_argument("kind", choices=("null", "planted"))
    parser.add_argument("--foundry", default="bench.foundry.product:make")
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="the seed to begin with")
    parser.add_argument("--tasks", type=int, help="sessions of a world, at most")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="a file in which what is finished is kept")
    args = parser.parse_args()
    args.tasks = args.tasks or TASKS[args.kind]
    began = time.monotonic()
    found = _all(args, Kept(args.keep))
    for seed, each in enumerate(found, args.first):
        if not each.good:
            print(f"seed {seed}: {each.told}")
    holds = _tell(found)
    print(f"{time.monotonic() - began:.0f} s")
    raise SystemExit(0 if holds else 1)


if __name__ == "__main__":
    main()
