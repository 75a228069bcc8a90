"""Evaluations, their rows, and how their cases were played."""

from collections.abc import Mapping, Sequence

from metamem.core.errors import DataError, StoreError, UsageError
from metamem.core.types import Case, CaseResult, Episode, Evaluation, Fingerprint
from metamem.store.archive import Trace
from metamem.store.codec import (
    MEASUREMENTS,
    RESULTS,
    dump_fingerprint,
    load_fingerprint,
    measurement_columns,
    pack,
    result_columns,
    row_from_columns,
    same_packed,
    unpack,
)
from metamem.store.engine import Execute, Value
from metamem.store.sql.base import Part, insert, insert_once, require

_ROW = ", ".join([f"r.{name}" for name in RESULTS] + [f"m.{name}" for name in MEASUREMENTS])
_ROWS = (
    f"SELECT r.evaluation_id, {_ROW} FROM evaluations e"
    " JOIN results r ON r.evaluation_id = e.id"
    " JOIN measurements m ON m.evaluation_id = r.evaluation_id"
    " AND m.task_id = r.task_id AND m.repeat = r.repeat"
)


class Evaluations(Part):
    def open_evaluation(self, fingerprint: Fingerprint, planned: int) -> str:
        if planned < 0:
            raise UsageError(f"{planned} cases cannot be planned")
        try:
            identifier = fingerprint.id
        except (TypeError, ValueError) as error:
            raise DataError(f"the fingerprint is not plain JSON: {error}") from error
        content: dict[str, Value] = {
            "design_id": fingerprint.design,
            "domain": fingerprint.domain,
            "split": fingerprint.split,
            "conditions": fingerprint.conditions,
            "fingerprint": dump_fingerprint(fingerprint),
            "planned": planned,
        }
        with self._engine.writing() as execute:
            require(execute, "designs", fingerprint.design, "design")
            what = f"the evaluation {identifier}"
            insert_once(execute, "evaluations", {"id": identifier}, content, what)
        return identifier

    def add_rows(
        self,
        evaluation_id: str,
        rows: Sequence[CaseResult],
        traces: Mapping[Case, Episode] | None = None,
    ) -> int:
        with self._engine.writing() as execute:
            require(execute, "evaluations", evaluation_id, "evaluation")
            new = sum(_add_row(execute, evaluation_id, row) for row in rows)
            _check_plan(execute, evaluation_id)
            for case, episode in (traces or {}).items():
                _add_trace(execute, evaluation_id, case, episode)
            return new

    def evaluation(self, evaluation_id: str) -> Evaluation | None:
        with self._engine.reading() as execute:
            found = _evaluations(execute, {"e.id": evaluation_id})
        return found[0] if found else None

    def evaluations(
        self,
        design_id: str | None = None,
        split: str | None = None,
        conditions: str | None = None,
    ) -> list[Evaluation]:
        given = {"e.design_id": design_id, "e.split": split, "e.conditions": conditions}
        with self._engine.reading() as execute:
            return _evaluations(
                execute, {name: value for name, value in given.items() if value is not None}
            )

    def add_trace(self, evaluation_id: str, case: Case, episode: Episode) -> bool:
        with self._engine.writing() as execute:
            return _add_trace(execute, evaluation_id, case, episode)

    def traces(self, evaluation_id: str) -> list[Trace]:
        with self._engine.reading() as execute:
            found = execute(
                "SELECT task_id, repeat, episode FROM traces WHERE evaluation_id = ?",
                (evaluation_id,),
            )
        traces = []
        for task_id, repeat, packed in sorted(found):
            (episode,) = unpack(packed, f"the trace of {task_id!r} × {repeat}")
            traces.append(Trace(Case(task_id, repeat), episode))
        return traces


def _add_row(execute: Execute, evaluation_id: str, row: CaseResult) -> bool:
    result = result_columns(row)
    key: dict[str, Value] = {
        "evaluation_id": evaluation_id,
        "task_id": result["task_id"],
        "repeat": result["repeat"],
    }
    found = execute(f"{_ROWS} WHERE e.id = ? AND r.task_id = ? AND r.repeat = ?", [*key.values()])
    if found:
        there = row_from_columns(found[0][1:])
        if row != there:
            raise _other_result(evaluation_id, there, row)
        return False
    insert(execute, "results", key | result)
    insert(execute, "measurements", key | measurement_columns(row))
    return True


def _check_plan(execute: Execute, evaluation_id: str) -> None:
    ((planned, rows),) = execute(
        "SELECT planned, (SELECT COUNT(*) FROM results WHERE evaluation_id = e.id)"
        " FROM evaluations e WHERE id = ?",
        (evaluation_id,),
    )
    if rows > planned:
        raise StoreError(
            f"evaluation {evaluation_id} would have {rows} rows of {planned} planned",
            hint="another plan needs another fingerprint",
        )


def _add_trace(execute: Execute, evaluation_id: str, case: Case, episode: Episode) -> bool:
    what = f"the trace of {case.task_id!r} × {case.repeat} in evaluation {evaluation_id}"
    key: dict[str, Value] = {
        "evaluation_id": evaluation_id,
        "task_id": case.task_id,
        "repeat": case.repeat,
    }
    # A trace without a row would be one of a case that is played again after an interruption,
    # perhaps otherwise.
    if not execute(
        "SELECT 1 FROM results WHERE evaluation_id = ? AND task_id = ? AND repeat = ?",
        [*key.values()],
    ):
        raise StoreError(f"{what} has no row", hint="add the row first, or both with add_rows")
    content: dict[str, Value] = {"episode": pack([episode], what)}
    return insert_once(execute, "traces", key, content, what, same_packed)


def _where(given: Mapping[str, str]) -> str:
    return " WHERE " + " AND ".join(f"{name} = ?" for name in given) if given else ""


def _evaluations(execute: Execute, given: Mapping[str, str]) -> list[Evaluation]:
    values = tuple(given.values())
    rows: dict[str, list[CaseResult]] = {}
    for evaluation_id, *columns in execute(_ROWS + _where(given), values):
        rows.setdefault(evaluation_id, []).append(row_from_columns(columns))
    found = execute(
        f"SELECT id, fingerprint, planned FROM evaluations e{_where(given)} ORDER BY seq", values
    )
    return [
        # Sorted here and not by the database: engines order text by different rules.
        Evaluation(
            load_fingerprint(fingerprint, evaluation_id),
            tuple(sorted(rows.get(evaluation_id, ()), key=lambda r: (r.task_id, r.repeat))),
            planned,
        )
        for evaluation_id, fingerprint, planned in found
    ]


def _other_result(evaluation_id: str, there: CaseResult, given: CaseResult) -> StoreError:
    changed = [name for name in RESULTS if getattr(there, name) != getattr(given, name)]
    said = ", ".join(f"{n}: {getattr(there, n)!r} ≠ {getattr(given, n)!r}" for n in changed)
    return StoreError(
        f"case {given.task_id!r} × {given.repeat} of evaluation {evaluation_id} has another result"
        f" already ({said})",
        hint="something that decides the score is missing from the fingerprint, or is not seeded",
    )
