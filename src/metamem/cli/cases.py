"""Evaluations case by case: a line for each task, the rows as data, and what went wrong."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from statistics import fmean
from typing import Any

from metamem.cli.screen import print_table, say
from metamem.core.errors import DesignFailure
from metamem.core.types import CaseResult, Evaluation, Task


def case_rows(evaluation: Evaluation, kinds: Mapping[str, str]) -> list[dict[str, Any]]:
    """Every case with the kind of its task, as programs read it."""
    return [
        {"task": row.task_id, "kind": kinds.get(row.task_id, ""), **_columns(row)}
        for row in evaluation.rows
    ]


def _columns(row: CaseResult) -> dict[str, Any]:
    columns = asdict(row)
    del columns["task_id"]
    return columns


def print_by_task(
    names: Sequence[str], evaluations: Sequence[Evaluation], tasks: Sequence[Task]
) -> None:
    """Repeats are averaged. What failed is named by its kind; `tell_failures` says the rest."""
    played = {row.task_id for evaluation in evaluations for row in evaluation.rows}
    rows = [_line(names, evaluations, task) for task in tasks if task.id in played]
    rewards = names if len(names) > 1 else ["reward"]
    columns = ["task", "kind", *(column for name in rewards for column in (name, "steps"))]
    numeric = columns[2:]
    if any(row[-1] for row in rows):
        columns.append("failure")
    say("")
    print_table(columns, [row[: len(columns)] for row in rows], numeric=numeric)


def _line(names: Sequence[str], evaluations: Sequence[Evaluation], task: Task) -> tuple[str, ...]:
    cells, failures = [], []
    for name, evaluation in zip(names, evaluations, strict=True):
        own = [row for row in evaluation.rows if row.task_id == task.id]
        cells += [f"{fmean(r.reward for r in own):.2f}", f"{fmean(r.steps for r in own):.3g}"]
        kinds = sorted({row.failure.replace(":", " ").split()[0] for row in own if row.failure})
        if kinds:
            told = ", ".join(kinds)
            failures.append(told if len(names) == 1 else f"{name}: {told}")
    return (task.id, task.kind, *cells, "; ".join(failures))


def tell_failures(names: Sequence[str], evaluations: Sequence[Evaluation]) -> None:
    for name, evaluation in zip(names, evaluations, strict=True):
        failed = [row.failure for row in evaluation.rows if row.failure]
        if _never_ran(evaluation):
            say(f"{name} does not run: {_first(evaluation)}")
            say(f"  {_fate(evaluation)}")
        elif failed:
            cases = f"{len(failed)} of {len(evaluation.rows)} cases"
            say(f"{name} failed in {cases}, such as: {failed[0]}")


def refuse_what_never_ran(names: Sequence[str], evaluations: Sequence[Evaluation]) -> None:
    """An error where no design got through a single case."""
    if all(map(_never_ran, evaluations)):
        said = "; ".join(
            f"{name} does not run: {_first(evaluation)}"
            for name, evaluation in zip(names, evaluations, strict=True)
        )
        hint = f"{_fate(evaluations[0])}; docs/designs.md tells what a design is"
        raise DesignFailure(said, hint=hint)


def _fate(evaluation: Evaluation) -> str:
    cases = len(evaluation.rows)
    tried = sum(not row.failure.startswith("stopped") for row in evaluation.rows)
    return f"stopped after {tried} cases; all {cases} count as failed"


def _never_ran(evaluation: Evaluation) -> bool:
    return all(row.failure for row in evaluation.rows)


def _first(evaluation: Evaluation) -> str:
    """What really happened, rather than that the design was then stopped."""
    failures = [row.failure for row in evaluation.rows]
    return next((f for f in failures if not f.startswith("stopped")), failures[0])
