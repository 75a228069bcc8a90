"""Whose data is in what, and its erasure: the content goes, a note that it went stays."""

from typing import Any

from metamem.core.errors import UsageError
from metamem.store.engine import Execute
from metamem.store.records import ERASABLE_KINDS, ErasableKind, ErasureRecord, Origin, utc_now
from metamem.store.sql.base import Part, insert, insert_new, one_of
from metamem.store.sql.calls import delete_calls

_CONTENT = {
    "collection": "DELETE FROM collections WHERE id = ?",
    "blob": "DELETE FROM blobs WHERE id = ?",
    "evaluation": "DELETE FROM traces WHERE evaluation_id = ?",
}
_CALL = "call"  # erased with its run


class Erasures(Part):
    def add_origin(self, origin: Origin) -> bool:
        one_of(origin.kind, ERASABLE_KINDS, "kind of erasable content")
        columns = {"scope": origin.scope, "kind": origin.kind, "id": origin.id}
        with self._engine.writing() as execute:
            return insert_new(execute, "origins", columns)

    def origins(self, scope: str) -> list[Origin]:
        with self._engine.reading() as execute:
            return _origins(execute, scope)

    def erase(self, scope: str, *, decided_by: str, reason: str) -> ErasureRecord:
        if not decided_by or not reason.strip():
            raise UsageError("an erasure needs to say who decided it, and why")
        at = utc_now()
        with self._engine.writing() as execute:
            self._engine.alone(execute, f"scope {scope}")
            ((number,),) = execute(
                "INSERT INTO erasures (scope, decided_by, reason, at) VALUES (?, ?, ?, ?)"
                " RETURNING seq",
                (scope, decided_by, reason, at),
            )
            gone = [
                (origin.kind, origin.id)
                for origin in _origins(execute, scope)
                if _erase(execute, number, origin.kind, origin.id)
            ]
        self._engine.scrub()
        return ErasureRecord(scope, decided_by, reason, at, tuple(sorted(gone)))

    def erasure(self, kind: ErasableKind, identifier: str) -> ErasureRecord | None:
        one_of(kind, ERASABLE_KINDS, "kind of erasable content")
        with self._engine.reading() as execute:
            found = _erasures(
                execute,
                "WHERE seq = (SELECT erasure FROM erased WHERE kind = ? AND id = ?)",
                kind,
                identifier,
            )
        return found[0] if found else None

    def erasures(self) -> list[ErasureRecord]:
        with self._engine.reading() as execute:
            return _erasures(execute)


def _origins(execute: Execute, scope: str) -> list[Origin]:
    found = execute("SELECT scope, kind, id FROM origins WHERE scope = ? ORDER BY seq", (scope,))
    return [Origin(*columns) for columns in found]


def _erase(execute: Execute, erasure: int, kind: ErasableKind, identifier: str) -> bool:
    """Whether it had not been erased before."""
    calls: list[str] = []
    if kind == "run":
        calls = delete_calls(execute, identifier)
    else:
        execute(_CONTENT[kind], (identifier,))
    for call in calls:
        insert(execute, "erased", {"erasure": erasure, "kind": _CALL, "id": call})
    return insert_new(execute, "erased", {"erasure": erasure, "kind": kind, "id": identifier})


def _erasures(execute: Execute, where: str = "", *values: str) -> list[ErasureRecord]:
    found = execute(
        f"SELECT seq, scope, decided_by, reason, at FROM erasures {where} ORDER BY seq", values
    )
    erased = "SELECT kind, id FROM erased WHERE erasure = ? AND kind <> ?"
    return [
        ErasureRecord(
            scope,
            decided_by,
            reason,
            at,
            tuple(sorted(map(_thing, execute(erased, (number, _CALL))))),
        )
        for number, scope, decided_by, reason, at in found
    ]


def _thing(columns: tuple[Any, ...]) -> tuple[ErasableKind, str]:
    kind, identifier = columns
    return kind, identifier
