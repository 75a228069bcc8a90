"""Which tasks an evaluation collects from and which it deploys on."""

from collections.abc import Sequence
from dataclasses import dataclass

from metamem.core.errors import UsageError
from metamem.core.ids import derive_seed
from metamem.core.protocols import Domain
from metamem.core.splits import check_split
from metamem.core.types import Case, Task
from metamem.evaluation.kinds import kind_of
from metamem.evaluation.rules import Rules


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
        return tuple(case for chain in self.chains for case in chain)

    @property
    def chains(self) -> tuple[tuple[Case, ...], ...]:
        """The cases of each repeat."""
        return tuple(tuple(Case(t.id, r) for t in self.deployment) for r in range(self.repeats))


def plan(domain: Domain, split: str, rules: Rules) -> Plan:
    """Where each phase takes its tasks (the table of docs/evaluation.md)."""
    check_split(split)
    found = kind_of(domain).shares(domain, split, rules)
    collection, deployment = found.collection, found.deployment
    if rules.collect is not None:
        if rules.collect > len(collection):
            collection = (*collection, *found.further_collection)
        if rules.collect > len(collection):
            raise UsageError(
                f"{rules.collect} collection tasks were asked for; there are {len(collection)}"
            )
        collection = collection[: rules.collect]
    if not deployment:
        raise UsageError(
            f"the split {split!r} of {domain.name} has no tasks to deploy on",
            hint=f"it has {len(domain.tasks(split))} tasks in all; where a half is learned from, it"
            " takes two",
        )
    if rules.tasks:
        deployment = _drawn(deployment, rules.tasks, found.further_deployment)
    return Plan(tuple(collection), tuple(deployment), rules.repeats, found.collected_from)


def _drawn(tasks: Sequence[Task], number: int, further: Sequence[Task] = ()) -> Sequence[Task]:
    """So many, the same every time and spread over the kinds; a larger draw holds the smaller."""
    if number > len(tasks) + len(further):
        raise UsageError(f"{number} tasks were asked for; there are {len(tasks) + len(further)}")
    if number > len(tasks):
        return [*tasks, *_drawn(further, number - len(tasks))]
    drawn = sorted((t.id for t in tasks), key=lambda task: derive_seed("drawn", task))[:number]
    kept = set(drawn)
    return [task for task in tasks if task.id in kept]
