"""Two arms on the same tasks: alone, and with Foundry; and what the difference is.

What is called of Foundry stands in one protocol. The bench plays the person who approves: whatever the gate
promotes is approved. Foundry sees the traces of its own arm and nothing else.
"""

import asyncio
import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from bench.foundry.agent import Aids, Alone, Work, work
from bench.foundry.chores import Chore
from bench.foundry.reading import Diary
from bench.foundry.tasks import Task, stream
from bench.foundry.world import make_tree
from metamem.evaluation.statistics import Significance, sign_flip
from metamem.foundry.words import Trace

SABOTAGED_AFTER = 40  # chores with a spoilt tool are given before it counts as not noticed


class Foundry(Aids, Protocol):
    """Foundry, as the bench needs it."""

    async def observe(self, trace: Trace) -> None:
        """A session has ended: keep it, link failures, mine, crystallise, deploy, watch."""
        ...

    def deployed(self) -> Sequence[str]:
        """The names of the tools that are in use now."""
        ...

    def spoil(self, name: str) -> None:
        """Make a deployed tool fail from now on, behind Foundry's back."""
        ...

    def close(self) -> None: ...


Making = Callable[[Path], Foundry]  # a new one that keeps its things in that folder


async def run_alone(tasks: Sequence[Task], folder: Path) -> list[Work]:
    aids, diary, works = Alone(), Diary(), []
    for task in tasks:
        place = folder / str(task.number)
        works.append(await work(task, await make_tree(task.project, place), aids, diary))
        shutil.rmtree(place)  # nobody replays the control arm
    return works


async def run_with(tasks: Sequence[Task], folder: Path, foundry: Foundry) -> list[Work]:
    """The trees stay where they are, as they were left: replays begin at their commits."""
    diary, works = Diary(), []
    for task in tasks:
        tree = await make_tree(task.project, folder / str(task.number))
        works.append(await work(task, tree, foundry, diary))
        await foundry.observe(works[-1].trace)
    return works


@dataclass(frozen=True, slots=True)
class Arm:
    """What an arm came to, per task."""

    calls: float
    tokens: float
    success: float
    repeated: float  # failures of a kind that was met before

    @staticmethod
    def of(works: Sequence[Work]) -> "Arm":
        n = len(works)
        return Arm(
            sum(w.calls for w in works) / n,
            sum(w.tokens for w in works) / n,
            sum(w.success for w in works) / n,
            repeated_failures(works) / n,
        )


def repeated_failures(works: Sequence[Work]) -> int:
    """How often somebody ran into something that an earlier task had run into."""
    met: set[str] = set()
    repeated = 0
    for done in works:
        repeated += sum(name in met for name in done.failures)
        met.update(done.failures)
    return repeated


@dataclass(frozen=True, slots=True)
class Pair:
    """One seed in both arms, task by task."""

    seed: int
    off: tuple[Work, ...]
    on: tuple[Work, ...]
    deployed: tuple[str, ...]

    def fewer_calls(self) -> float:
        """The share of calls that Foundry saved."""
        before = sum(w.calls for w in self.off)
        return (before - sum(w.calls for w in self.on)) / before


async def run_pair(
    make: Making,
    seed: int,
    tasks: int,
    share: float,
    folder: Path,
    chores: tuple[Chore, ...] | None = None,
) -> Pair:
    given = stream(seed, tasks, share, chores)
    with closing(make(folder / "foundry")) as foundry:
        off, on = await asyncio.gather(
            run_alone(given, folder / "off"), run_with(given, folder / "on", foundry)
        )
        return Pair(seed, tuple(off), tuple(on), tuple(foundry.deployed()))


@dataclass(frozen=True, slots=True)
class Row:
    """One share of repetition: both arms and their paired differences."""

    share: float
    seeds: int
    off: Arm
    on: Arm
    deployed: float  # tools, per seed
    calls: Significance  # on minus off, over seeds and tasks
    tokens: Significance
    success: Significance
    fewer_calls: float


def row(share: float, pairs: Sequence[Pair]) -> Row:
    off = [w for pair in pairs for w in pair.off]
    on = [w for pair in pairs for w in pair.on]

    def compared(value: Callable[[Work], float]) -> Significance:
        return sign_flip([value(b) - value(a) for a, b in zip(off, on, strict=True)])

    return Row(
        share,
        len(pairs),
        mean_arm([Arm.of(pair.off) for pair in pairs]),
        mean_arm([Arm.of(pair.on) for pair in pairs]),
        sum(len(pair.deployed) for pair in pairs) / len(pairs),
        compared(lambda w: w.calls),
        compared(lambda w: w.tokens),
        compared(lambda w: w.success),
        1 - sum(w.calls for w in on) / sum(w.calls for w in off),
    )


def mean_arm(arms: Sequence[Arm]) -> Arm:
    """Of seeds, which have as many tasks each."""
    n = len(arms)
    return Arm(
        sum(a.calls for a in arms) / n,
        sum(a.tokens for a in arms) / n,
        sum(a.success for a in arms) / n,
        sum(a.repeated for a in arms) / n,
    )


async def crystallised(make: Making, seed: int, tasks: int, folder: Path) -> int:
    """How many tools come of a world in which nothing repeats. There should be none."""
    with closing(make(folder / "foundry")) as foundry:
        await run_with(stream(seed, tasks, 0.0), folder / "on", foundry)
        return len(foundry.deployed())


async def found(make: Making, seed: int, tasks: int, chore: Chore, folder: Path) -> bool:
    """Whether a workflow that was planted is deployed, and done by its tool in a task after that."""
    with closing(make(folder / "foundry")) as foundry:
        works = await run_with(stream(seed, tasks, 0.75, (chore,)), folder / "on", foundry)
        used = [w for w in works if w.tool and not w.tool_failed and w.success]
        return bool(foundry.deployed()) and bool(used)


async def disabled(make: Making, seed: int, tasks: int, chore: Chore, folder: Path) -> int | None:
    """After how many failures a spoilt tool is gone; None where none was deployed, -1 where it stays."""
    with closing(make(folder / "foundry")) as foundry:
        diary, failures, spoilt = Diary(), 0, ""
        for task in stream(seed, tasks + SABOTAGED_AFTER, 1.0, (chore,)):
            if not spoilt and task.number >= tasks:
                return None
            tree = await make_tree(task.project, folder / "on" / str(task.number))
            done = await work(task, tree, foundry, diary)
            await foundry.observe(done.trace)
            if spoilt:
                failures += done.tool == spoilt and done.tool_failed
                if spoilt not in foundry.deployed():
                    return failures
            elif foundry.deployed():
                spoilt = foundry.deployed()[0]
                foundry.spoil(spoilt)
        return -1
