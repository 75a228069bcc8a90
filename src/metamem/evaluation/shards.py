"""An evaluation in parts that may be played at once."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from metamem.core.types import Case
from metamem.evaluation.jobs import Job
from metamem.evaluation.plans import Plan

SHARD_CASES = 50  # fewer in a shard would spend more on feeding the memory than on playing


def shards(job: Job, plan: Plan, slots: int) -> list[Job]:
    """At least one. The first holds what comes first: the cases of the probation."""
    if job.setup.rules.rollout == "streaming":  # each repeat is one chain, whole or not at all
        return _parts(replace(job, known=()), plan.chains)
    if job.race is not None or job.probes:
        return [job]
    known = {row.case for row in job.known}
    first = [c for c in (job.probation.cases if job.probation else ()) if c not in known]
    others = [c for c in job.cases if c not in known and c not in first]
    rest = first + others
    groups = {task.id: task.group for task in plan.deployment}
    if any(groups.values()):
        return _parts(job, _by_group(rest, first, groups, slots))
    # Dealt out like cards: what is judged in a row is played at about the same time. A task's
    # repeats stay together: they ask their memory the same, so it is asked once.
    tasks = list(dict.fromkeys(case.task_id for case in others))
    count = max(1, min(slots, len(rest) // SHARD_CASES, len(tasks)))
    dealt = {task: number % count for number, task in enumerate(tasks)}
    lead, *more = ([c for c in others if dealt[c.task_id] == n] for n in range(count))
    return _parts(job, [first + lead, *more])


def _by_group(
    cases: Sequence[Case], first: Sequence[Case], groups: Mapping[str, str], slots: int
) -> list[list[Case]]:
    """A group is fed in one shard only, since feeding is the dear part."""
    leading = list(dict.fromkeys(groups[case.task_id] for case in first))
    shares: list[list[str]] = [leading, *([] for _ in range(slots - 1))]
    for group in dict.fromkeys(groups[case.task_id] for case in cases):
        if group not in leading:
            min(shares, key=len).append(group)
    return [[c for c in cases if groups[c.task_id] in share] for share in shares if share]


def _parts(job: Job, parts: Sequence[Sequence[Case]]) -> list[Job]:
    lead = replace(job, key=f"{job.key}-0", cases=tuple(parts[0]))
    return [lead] + [
        replace(job, key=f"{job.key}-{n}", cases=tuple(part), known=(), probation=None)
        for n, part in enumerate(parts[1:], 1)
    ]
