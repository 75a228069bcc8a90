"""Which tasks an evaluation collects from and which it deploys on."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from metamem.core.errors import UsageError
from metamem.core.ids import derive_seed
from metamem.core.protocols import Domain
from metamem.core.splits import check_split
from metamem.core.types import Case, Task
from metamem.evaluation.kinds import kind_of
from metamem.evaluation.rules import Rules

CANDIDATES = 4  # tasks for each worked example that is wanted: not every one is won
MOST_KEPT_BACK = 3  # one task in so many is kept back for examples, where all would be collected


class NothingCollected(UsageError):
    """Further rounds of collection were asked for where there is not even a first one."""

    def __init__(self, domain: str) -> None:
        super().__init__(
            f"nothing is collected in {domain} under these rules, so nobody can collect again",
            hint="leave --rounds and --collected-by out",
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """Which tasks one evaluation collects from and which it deploys on, in fixed order."""

    collection: tuple[Task, ...]
    deployment: tuple[Task, ...]
    repeats: int
    collected_from: str  # the split that the collection tasks belong to
    # Tasks of train for worked examples: no design learns from them, and none is scored on them.
    examples: tuple[Task, ...] = ()

    @property
    def collectable(self) -> int:
        """What `collect` counts: tasks or, where they are in groups, the groups whose lives are
        given to memories of others."""
        return len(_units(self.collection))

    @property
    def cases(self) -> tuple[Case, ...]:
        """Repeat by repeat, so that a prefix holds whole passes over the tasks."""
        return tuple(case for chain in self.chains for case in chain)

    @property
    def chains(self) -> tuple[tuple[Case, ...], ...]:
        """The cases of each repeat."""
        return tuple(tuple(Case(t.id, r) for t in self.deployment) for r in range(self.repeats))


def plan(domain: Domain, split: str, rules: Rules, examples: int = 0) -> Plan:
    """Where each phase takes its tasks (the table of docs/evaluation.md).

    `examples` is how many worked ones the agent wants to see.
    """
    check_split(split)
    found = kind_of(domain).shares(domain, split, rules)
    collection, deployment = found.collection, found.deployment
    if rules.collect is not None:
        units = _units(collection)
        if rules.collect > len(units):
            collection = (*collection, *found.further_collection)
            units = _units(collection)
        if rules.collect > len(units):
            what = "groups of tasks to learn from" if _grouped(collection) else "collection tasks"
            raise UsageError(f"{rules.collect} {what} were asked for; there are {len(units)}")
        counted = set(units[: rules.collect])
        collection = [task for task in collection if _unit(task) in counted]
    if rules.collectors and (not found.collection or _grouped(found.collection)):
        raise NothingCollected(domain.name)
    if rules.experience == "none":
        collection = ()
    if not deployment:
        raise UsageError(
            f"the split {split!r} of {domain.name} has no tasks to deploy on",
            hint=f"it has {len(domain.tasks(split))} tasks in all; where a half is learned from, it"
            " takes two",
        )
    if rules.tasks:
        deployment = _drawn(deployment, rules.tasks, found.further_deployment)
    kept: Sequence[Task] = ()
    if examples:
        taken = {task.id for task in (*collection, *found.deployment)}
        kept = [task for task in domain.tasks("train") if task.id not in taken]
        if not kept and found.collected_from == "train":
            fewer = len(collection) - min(CANDIDATES * examples, len(collection) // MOST_KEPT_BACK)
            collection, kept = collection[:fewer], collection[fewer:]
        kept = _of_all_kinds(kept)[: CANDIDATES * examples]
    return Plan(
        tuple(collection), tuple(deployment), rules.repeats, found.collected_from, tuple(kept)
    )


def _of_all_kinds(tasks: Sequence[Task]) -> Sequence[Task]:
    """One of each kind, then a second of each, and so on: the same every time."""
    kinds: dict[str, list[Task]] = defaultdict(list)
    for task in sorted(tasks, key=lambda task: derive_seed("example", task.id)):
        kinds[task.kind].append(task)
    rounds = max(map(len, kinds.values()), default=0)
    return [own[n] for n in range(rounds) for _, own in sorted(kinds.items()) if n < len(own)]


def _unit(task: Task) -> str:
    return task.group or task.id


def _units(tasks: Sequence[Task]) -> list[str]:
    return list(dict.fromkeys(map(_unit, tasks)))


def _grouped(tasks: Sequence[Task]) -> bool:
    return any(task.group for task in tasks)


def _drawn(tasks: Sequence[Task], number: int, further: Sequence[Task] = ()) -> Sequence[Task]:
    """So many, the same every time and spread over the kinds; a larger draw holds the smaller.

    Groups are drawn whole, save the last: feeding the memory of a group is the dear part.
    """
    if number > len(tasks) + len(further):
        raise UsageError(f"{number} tasks were asked for; there are {len(tasks) + len(further)}")
    if number > len(tasks):
        return [*tasks, *_drawn(further, number - len(tasks))]

    def place(task: Task) -> tuple[int, int]:
        return derive_seed("drawn", task.group) if task.group else 0, derive_seed("drawn", task.id)

    drawn = {task.id for task in sorted(tasks, key=place)[:number]}
    return [task for task in tasks if task.id in drawn]
