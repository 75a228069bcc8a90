"""Two arms on the same tasks: alone, and with Foundry; and what the difference is.

What is called of Foundry stands in one protocol. The bench plays the person who approves: whatever the gate
promotes is approved. Foundry sees the traces of its own arm and nothing else.
"""

import asyncio
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from bench.foundry.agent import Aids, Alone, Done, work
from bench.foundry.chores import Chore
from bench.foundry.reading import Diary
from bench.foundry.tasks import Task, stream
from bench.foundry.world import make_tree
from metamem.evaluation.statistics import Significance, sign_flip, t_interval
from metamem.foundry.words import Trace

Told = Callable[[str], None]  # is told now and then how far it is
EVERY = 50  # tasks


def _nobody(text: str) -> None:
    pass


class Foundry(Aids, Protocol):
    """Foundry, as the bench needs it."""

    async def observe(self, trace: Trace) -> None:
        """A session has ended: keep it, link failures, mine, crystallise, deploy, watch."""
        ...

    def mined(self) -> int:
        """How many workflows are known."""
        ...

    def deployed(self) -> Sequence[str]:
        """The names of the tools that are in use now."""
        ...

    def spoil(self, name: str) -> None:
        """Make a deployed tool fail from now on, behind Foundry's back."""
        ...

    def close(self) -> None: ...


Making = Callable[[Path], Foundry]  # a new one that keeps its things in that folder


async def run_alone(tasks: Sequence[Task], folder: Path, told: Told = _nobody) -> list[Done]:
    aids, diary, found = Alone(), Diary(), []
    for task in tasks:
        place = folder / str(task.number)
        done = await work(task, await make_tree(task.project, place), aids, diary)
        found.append(done.done)
        await asyncio.to_thread(shutil.rmtree, place)  # nobody replays the control arm
        if len(found) % EVERY == 0:
            told(f"off: {len(found)} of {len(tasks)} tasks")
    return found


async def run_with(
    tasks: Sequence[Task], folder: Path, foundry: Foundry, told: Told = _nobody
) -> list[Done]:
    """The trees stay where they are, as they were left: replays begin at their commits."""
    diary, found = Diary(), []
    for task in tasks:
        tree = await make_tree(task.project, folder / str(task.number))
        done = await work(task, tree, foundry, diary)
        found.append(done.done)
        await foundry.observe(done.trace)
        if len(found) % EVERY == 0:
            tools = len(foundry.deployed())
            told(f"on: {len(found)} of {len(tasks)} tasks, {tools} tools")
    return found


@dataclass(frozen=True, slots=True)
class Arm:
    """What an arm came to, per task."""

    calls: float
    tokens: float
    sent: float
    success: float
    repeated: float  # failures of a kind that was met before

    @staticmethod
    def of(tasks: Sequence[Done]) -> "Arm":
        n = len(tasks)
        return Arm(
            sum(done.calls for done in tasks) / n,
            sum(done.tokens for done in tasks) / n,
            sum(done.sent for done in tasks) / n,
            sum(done.success for done in tasks) / n,
            repeated_failures(tasks) / n,
        )


def repeated_failures(tasks: Sequence[Done]) -> int:
    """How often somebody ran into something that an earlier task had run into."""
    met: set[str] = set()
    repeated = 0
    for done in tasks:
        repeated += sum(name in met for name in done.failures)
        met.update(done.failures)
    return repeated


@dataclass(frozen=True, slots=True)
class Pair:
    """One seed in both arms, task by task."""

    seed: int
    off: tuple[Done, ...]
    on: tuple[Done, ...]
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
    told: Told = _nobody,
) -> Pair:
    given = stream(seed, tasks, share, chores)
    with closing(make(folder / "foundry")) as foundry:
        off, on = await asyncio.gather(
            run_alone(given, folder / "off", told), run_with(given, folder / "on", foundry, told)
        )
        return Pair(seed, tuple(off), tuple(on), tuple(foundry.deployed()))


@dataclass(frozen=True, slots=True)
class Change:
    """A paired difference, on minus off, over seeds and tasks."""

    mean: Significance
    relative: float  # to the control arm
    low: float  # of `relative`, with a confidence of 95 %
    high: float


@dataclass(frozen=True, slots=True)
class Row:
    """One share of repetition: both arms and their paired differences."""

    share: float
    seeds: int
    off: Arm
    on: Arm
    deployed: float  # tools, per seed
    calls: Change
    tokens: Change
    sent: Change
    success: Change
    read: tuple[Mapping[str, float], Mapping[str, float]]  # tokens a task by where they come from


def row(share: float, pairs: Sequence[Pair]) -> Row:
    off = [done for pair in pairs for done in pair.off]
    on = [done for pair in pairs for done in pair.on]

    def compared(value: Callable[[Done], float]) -> Change:
        return _change([value(done) for done in off], [value(done) for done in on])

    return Row(
        share,
        len(pairs),
        mean_arm([Arm.of(pair.off) for pair in pairs]),
        mean_arm([Arm.of(pair.on) for pair in pairs]),
        sum(len(pair.deployed) for pair in pairs) / len(pairs),
        compared(lambda done: done.calls),
        compared(lambda done: done.tokens),
        compared(lambda done: done.sent),
        compared(lambda done: done.success),
        (_read(off), _read(on)),
    )


def _change(off: Sequence[float], on: Sequence[float]) -> Change:
    differences = [b - a for a, b in zip(off, on, strict=True)]
    before = sum(off) / len(off)
    low, high = t_interval(differences)
    found = sign_flip(differences)
    return Change(found, found.statistic / before, low / before, high / before)


def _read(tasks: Sequence[Done]) -> Mapping[str, float]:
    found: Counter[str] = Counter()
    for done in tasks:
        found.update(done.told)
    return {source: tokens / len(tasks) for source, tokens in found.items()}


def mean_arm(arms: Sequence[Arm]) -> Arm:
    """Of seeds, which have as many tasks each."""
    n = len(arms)
    return Arm(
        sum(a.calls for a in arms) / n,
        sum(a.tokens for a in arms) / n,
        sum(a.sent for a in arms) / n,
        sum(a.success for a in arms) / n,
        sum(a.repeated for a in arms) / n,
    )
