"""How an evaluation is played: which tasks are collected, which deployed, and by what rules."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeVar

from metamem.core.errors import UsageError
from metamem.core.ids import derive_seed
from metamem.core.protocols import Domain
from metamem.core.splits import check_split
from metamem.core.types import Case, Task

# How `collect` is written down. Fingerprints hold this form, so it must never change: in it, 0
# has always stood for all tasks.
_STORED: dict[int | None, int] = {None: 0, 0: -1}
# Where memory is asked several times in an episode, it once saw what its earlier answers had left.
# Now each is given by a copy of its own, and such results are not compared with those.
_APART = {"asks": "apart"}


@dataclass(frozen=True, slots=True)
class Protocol:
    """The rules of play. Part of every fingerprint."""

    rollout: Literal["frozen", "streaming"] = "frozen"
    repeats: int = 1
    collect: int | None = None  # how many collection tasks; None: all that the split offers
    max_steps: int = 0  # 0: the domain's own
    advice_tokens: int = 4000
    ask_every: int = 0  # ask memory again after so many steps; 0: only before the first
    tasks_from: Literal["split", "alma"] = "split"
    fold: Literal[0, 1] = 0  # 1: the halves of train change places
    tasks: int = 0  # how many deployment tasks, drawn by a fixed order; 0: all

    def __post_init__(self) -> None:
        if self.rollout not in ("frozen", "streaming"):
            raise UsageError(f"no rollout called {self.rollout!r}", hint="known: frozen, streaming")
        if self.tasks_from not in ("split", "alma"):
            raise UsageError(f"no protocol called {self.tasks_from!r}", hint="known: split, alma")
        if self.fold not in (0, 1):
            raise UsageError(f"no fold {self.fold}: there are 0 and 1")
        if self.repeats < 1:
            raise UsageError(f"repeats must be at least 1, not {self.repeats}")
        for name in ("collect", "max_steps", "ask_every", "tasks"):
            if (getattr(self, name) or 0) < 0:
                raise UsageError(f"{name} must not be negative")
        if self.advice_tokens < 1:
            raise UsageError("advice_tokens must be at least 1")

    def to_json(self) -> dict[str, Any]:
        stored = {**asdict(self), "collect": _STORED.get(self.collect, self.collect)}
        if not self.tasks:  # fingerprints of whole evaluations are older than this rule
            del stored["tasks"]
        if self.ask_every and self.rollout == "frozen":
            stored |= _APART
        return stored

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Protocol":
        stored = data.get("collect", _STORED[None])
        meant = {number: collect for collect, number in _STORED.items()}
        own = {name: value for name, value in data.items() if name not in _APART}
        return Protocol(**{**own, "collect": meant.get(stored, stored)})


@dataclass(frozen=True, slots=True)
class Plan:
    """Which tasks one evaluation collects from and which it deploys on, in fixed order."""

    collection: tuple[Task, ...]
    deployment: tuple[Task, ...]
    repeats: int
    collected_from: str  # the split that the collection tasks belong to

    @property
    def cases(self) -> tuple[Case, ...]:
        """Repeat by repeat, so that a prefix holds whole passes over the tasks."""
        return tuple(Case(t.id, r) for r in range(self.repeats) for t in self.deployment)


Item = TypeVar("Item")


def _half(items: Sequence[Item], fold: int) -> tuple[Sequence[Item], Sequence[Item]]:
    """What is collected, and what is deployed on."""
    middle = len(items) // 2
    return (items[middle:], items[:middle]) if fold else (items[:middle], items[middle:])


def _drawn(tasks: Sequence[Task], number: int) -> Sequence[Task]:
    """So many, the same every time and spread over the kinds; a larger draw holds the smaller."""
    if number > len(tasks):
        raise UsageError(f"{number} tasks were asked for; there are {len(tasks)}")
    drawn = sorted((t.id for t in tasks), key=lambda task: derive_seed("drawn", task))[:number]
    return [task for task in tasks if task.id in drawn]


def plan(domain: Domain, split: str, protocol: Protocol) -> Plan:
    """Where each phase takes its tasks (the table of docs/evaluation.md)."""
    check_split(split)
    own = list(domain.tasks(split))
    collection: Sequence[Task]
    deployment: Sequence[Task]
    source = split
    if any(task.group for task in own):  # its memories are given a history, not episodes
        collection, deployment = (), own
        if split == "train":
            groups = list(dict.fromkeys(task.group for task in own))
            deployed = _half(groups, protocol.fold)[1]
            deployment = [task for task in own if task.group in deployed]
    elif protocol.tasks_from == "alma" and split == "shift":  # what is known comes from home
        source = "test"
        collection, deployment = _half(domain.tasks(source), 0)[0], _half(own, 0)[1]
    elif protocol.tasks_from == "alma" or split == "train":
        collection, deployment = _half(own, protocol.fold if split == "train" else 0)
    else:
        source = "train"
        collection, deployment = domain.tasks(source), own
    if protocol.collect is not None:
        if protocol.collect > len(collection):
            raise UsageError(
                f"{protocol.collect} collection tasks were asked for; there are {len(collection)}"
            )
        collection = collection[: protocol.collect]
    if not deployment:
        raise UsageError(
            f"the split {split!r} of {domain.name} has no tasks to deploy on",
            hint=f"it has {len(own)} tasks in all; where a half is learned from, it takes two",
        )
    if protocol.tasks:
        deployment = _drawn(deployment, protocol.tasks)
    return Plan(tuple(collection), tuple(deployment), protocol.repeats, source)
