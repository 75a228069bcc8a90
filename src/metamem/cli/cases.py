"""Evaluations case by case: a line for each task, the rows as data, and what went wrong."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import Any

from metamem.cli.screen import print_table, say
from metamem.core.errors import DesignFailure
from metamem.core.figures import Scale, amount
from metamem.core.types import CaseResult, Evaluation, Task
from metamem.evaluation.probation import STOPPED, why_stopped


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
    names: Sequence[str],
    evaluations: Sequence[Evaluation],
    tasks: Sequence[Task],
    scale: Scale,
) -> None:
    """Repeats are averaged. What failed is named by its kind; `tell_failures` says the rest."""
    all_rows = [row for evaluation in evaluations for row in evaluation.rows]
    played = {row.task_id for row in all_rows}
    costs: dict[str, float] = {}  # and the largest figure of each
    for row in all_rows:
        for name, cost in row.costs.items():
            costs[name] = max(costs.get(name, 0.0), abs(cost))
    acted = any(row.steps for row in all_rows)
    rows = [
        _line(names, evaluations, task, scale, acted, costs) for task in tasks if task.id in played
    ]
    rewards = names if len(names) > 1 else ["reward"]
    spent = [*(["steps"] if acted else []), *costs]
    columns = ["task", "kind", *(column for name in rewards for column in (name, *spent))]
    numeric = columns[2:]
    if any(row[-1] for row in rows):
        columns.append("failure")
    say("")
    print_table(columns, [row[: len(columns)] for row in rows], numeric=numeric)


def _line(
    names: Sequence[str],
    evaluations: Sequence[Evaluation],
    task: Task,
    scale: Scale,
    acted: bool,
    costs: Mapping[str, float],
) -> tuple[str, ...]:
    cells: list[str] = []
    failures = []
    for name, evaluation in zip(names, evaluations, strict=True):
        own = [row for row in evaluation.rows if row.task_id == task.id]
        reward = fmean(r.reward for r in own)
        cells.append(f"{reward:.2f}" if scale.shares else scale.value(reward))
        cells += [f"{fmean(r.steps for r in own):.3g}"] if acted else []
        for cost, largest in costs.items():
            told = [row.costs[cost] for row in own if cost in row.costs]
            cells.append(amount(fmean(told), largest) if told else "")
        kinds = sorted({row.failure.replace(":", " ").split()[0] for row in own if row.failure})
        if kinds:
            said = ", ".join(kinds)
            failures.append(said if len(names) == 1 else f"{name}: {said}")
    return (task.id, task.kind, *cells, "; ".join(failures))


def tell_failures(names: Sequence[str], evaluations: Sequence[Evaluation]) -> None:
    for name, evaluation in zip(names, evaluations, strict=True):
        failed = [row.failure for row in evaluation.rows if row.failure]
        if _never_ran(evaluation):
            say(f"{name} does not run: {_first(name, evaluation)}")
            say(f"  {_fate(evaluation)}")
        elif failed:
            cases = f"{len(failed)} of {len(evaluation.rows)} cases"
            say(f"{name} failed in {cases}, such as: {_first(name, evaluation)}")
            if why_stopped(evaluation.rows):
                unplayed = sum(failure.startswith(STOPPED) for failure in failed)
                say(f"  stopped after too many failures in a row: {unplayed} were not played")


def refuse_what_never_ran(
    names: Sequence[str], evaluations: Sequence[Evaluation], guide: str
) -> None:
    """An error where no design got through a single case; `guide` says where more is told."""
    if all(map(_never_ran, evaluations)):
        said = "; ".join(
            f"{name} does not run: {_first(name, evaluation)}"
            for name, evaluation in zip(names, evaluations, strict=True)
        )
        hint = f"{_fate(evaluations[0])}; {guide}"
        raise DesignFailure(said, hint=hint)


def _fate(evaluation: Evaluation) -> str:
    cases = len(evaluation.rows)
    tried = sum(not row.failure.startswith(STOPPED) for row in evaluation.rows)
    return f"stopped after {tried} cases; all {cases} count as failed"


def _never_ran(evaluation: Evaluation) -> bool:
    return all(row.failure for row in evaluation.rows)


def _first(name: str, evaluation: Evaluation) -> str:
    """What really happened, rather than that the design was then stopped."""
    failures = [row.failure for row in evaluation.rows if row.failure]
    return _placed(name, next((f for f in failures if not f.startswith(STOPPED)), failures[0]))


def _placed(name: str, failure: str) -> str:
    """A failure with the file as its owner calls it: in the jail every design has one name."""
    from metamem.designs.inside import FILENAME  # with all that a design may use

    return (
        failure.replace(f"({FILENAME}, ", f"({Path(name).name}, ")
        if name.endswith(".py")
        else failure
    )
