"""Evaluations, their rows, and how their cases were played."""

from collections.abc import Mapping, Sequence

from metamem.core.errors import DataError, StoreError, UsageError
from metamem.core.types import Case, CaseResult, Episode, Evaluation, Fingerprint
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
from metamem.store.records import Trace
from metamem.store.sql.base import (
    Part,
    insert,
    insert_new,
    insert_once,
    page,
    refuse_erased,
    require,
)

_ROW = ", ".join([f"r.{name}" for name in RESULTS] + [f"m.{name}" for name in MEASUREMENTS])
_ROWS = (
    f"SELECT r.evaluation_id, {_ROW} FROM results r"
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
            self._engine.alone(execute, f"evaluation {evaluation_id}")  # its rows are counted
            new = sum(_add_row(execute, evaluation_id, row) for row in rows)
            _check_plan(execute, evaluation_id)
            for case, episode in (traces or {}).items():
                _add_trace(execute, evaluation_id, case, episode)
            return new

    def evaluation(self, evaluation_id: str) -> Evaluation | None:
        with self._engine.reading() as execute:
            found = _evaluations(execute, "id = ?", "", evaluation_id)
        return found[0] if found else None

    def evaluations(
        self,
        design_id: str | None = None,
        split: str | None = None,
        conditions: str | None = None,
        *,
        after: str | None = None,
        limit: int | None = None,
    ) -> list[Evaluation]:
        given = {"design_id": design_id, "split": split, "conditions": conditions}
        given = {name: value for name, value in given.items() if value is not None}
        where, end, values = page("evaluations", after, limit)
        where = " AND ".join([*(f"{name} = ?" for name in given), where])
        with self._engine.reading() as execute:
            if after is not None:
                require(execute, "evaluations", after, "evaluation")
            return _evaluations(execute, where, end, *given.values(), *values)

    def add_trace(self, evaluation_id: str, case: Case, episode: Episode) -> bool:
        with self._engine.writing() as execute:
            return _add_trace(execute, evaluation_id, case, episode)

    def traces(self, evaluation_id: str) -> list[Trace]:
        with self._engine.reading() as execute:
            refuse_erased(execute, "evaluation", evaluation_id)
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
    if insert_new(execute, "results", key | result):
        insert(execute, "measurements", key | measurement_columns(row))
        return True
    found = execute(
        f"{_ROWS} WHERE r.evaluation_id = ? AND r.task_id = ? AND r.repeat = ?", [*key.values()]
    )
    there = row_from_columns(found[0][1:])
    if row != there:
        raise _other_result(evaluation_id, there, row)
    return False


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
    refuse_erased(execute, "evaluation", evaluation_id)
    content: dict[str, Value] = {"episode": pack([episode], what)}
    return insert_once(execute, "traces", key, content, what, same_packed)


def _evaluations(execute: Execute, where: str, end: str, *values: Value) -> list[Evaluation]:
    chosen = f"SELECT id, fingerprint, planned FROM evaluations WHERE {where} {end}"
    found = execute(chosen, values)
    rows: dict[str, list[CaseResult]] = {}
    for evaluation_id, *columns in execute(
        f"{_ROWS} WHERE r.evaluation_id IN (SELECT id FROM ({chosen}) AS chosen)", values
    ):
        rows.setdefault(evaluation_id, []).append(row_from_columns(columns))
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
