"""What the rows of an evaluation tell a proposer."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from metamem.core.types import CaseResult, Evaluation
from metamem.evaluation.uptake import uptake
from metamem.search.proposer import Evidence


def evidence(evaluation: Evaluation, kinds: Mapping[str, str], without: Evaluation) -> Evidence:
    """`kinds` maps tasks to the group they are reported under; `without` is no memory's evaluation."""
    rows = evaluation.rows
    if not rows:
        return Evidence()
    told = uptake(evaluation, without)
    by_kind: dict[str, list[float]] = {}
    for row in rows:
        by_kind.setdefault(kinds.get(row.task_id, ""), []).append(row.reward)
    return Evidence(
        mean_reward=evaluation.reward,
        empty=_share(rows, [r for r in rows if not r.advice_digest]),
        ignored=told.ignored,
        helped=told.helped,
        hurt=told.hurt,
        vain=told.vain,
        repeated=_repeated(evaluation),
        truncated=_share(rows, [r for r in rows if r.advice_truncated]),
        tokens=fmean(r.advice_tokens for r in rows),
        errors=_share(rows, [r for r in rows if r.failure]),
        error=next((r.failure for r in rows if r.failure), ""),
        reward_by_kind={kind: fmean(rewards) for kind, rewards in sorted(by_kind.items())},
        cases=len(rows),
    )


def _share(rows: Sequence[CaseResult], some: Sequence[CaseResult]) -> float:
    return len(some) / len(rows)


def _repeated(evaluation: Evaluation) -> float:
    """Of the tasks that failed at least once, the share that failed every time."""
    best: dict[str, float] = {}
    worst: dict[str, float] = {}
    for row in evaluation.rows:
        best[row.task_id] = max(best.get(row.task_id, 0.0), row.reward)
        worst[row.task_id] = min(worst.get(row.task_id, 1.0), row.reward)
    failed = [task for task, reward in worst.items() if reward < 1.0]
    return sum(best[task] == 0.0 for task in failed) / len(failed) if failed else 0.0
