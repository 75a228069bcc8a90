"""Whose data is in what, and its erasure: the content goes, a note that it went stays."""

from collections.abc import Mapping, Sequence

from metamem.core.access import Scope
from metamem.core.errors import StoreError, UnknownName, UsageError
from metamem.store.engine import Engine, Execute
from metamem.store.records import ErasureRecord, Origin, utc_now
from metamem.store.schema import Component, Eraser
from metamem.store.sql.base import Part, insert_new, is_erased, one_of

_KIND = "kind of erasable content"


class Erasures(Part):
    def __init__(self, engine: Engine, components: Sequence[Component]) -> None:
        super().__init__(engine, components)
        self._erasers = _erasers(components)

    def add_origin(self, origin: Origin) -> bool:
        one_of(origin.kind, tuple(self._erasers), _KIND)
        columns = {"scope": str(origin.scope), "kind": origin.kind, "id": origin.id}
        with self._engine.writing() as execute:
            return insert_new(execute, "origins", columns)

    def origins(self, scope: Scope | str) -> list[Origin]:
        with self._engine.reading() as execute:
            return _origins(execute, str(scope))

    def erase(self, scope: Scope | str, *, decided_by: str, reason: str) -> ErasureRecord:
        if not decided_by or not reason.strip():
            raise UsageError("an erasure needs to say who decided it, and why")
        name, at = str(scope), utc_now()
        with self._engine.writing() as execute:
            self._engine.alone(execute, f"scope {name}")
            origins = _origins(execute, name)
            if not origins:
                raise UnknownName(
                    f"nothing in the archive is known to hold data of {name!r}",
                    hint="check the name; what was never entered as its data is not found by it",
                )
            ((number,),) = execute(
                "INSERT INTO erasures (scope, decided_by, reason, at) VALUES (?, ?, ?, ?)"
                " RETURNING seq",
                (name, decided_by, reason, at),
            )
            gone = [
                (origin.kind, origin.id)
                for origin in origins
                if self._erase(execute, number, origin)
            ]
        copies = tuple(map(str, self._engine.copies()))
        self._engine.scrub()
        return ErasureRecord(name, decided_by, reason, at, tuple(sorted(gone)), copies)

    def scrub(self) -> None:
        self._engine.scrub()

    def erasure(self, kind: str, identifier: str) -> ErasureRecord | None:
        one_of(kind, tuple(self._erasers), _KIND)
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

    def _erase(self, execute: Execute, erasure: int, origin: Origin) -> bool:
        """Whether it had not been erased before."""
        if origin.kind not in self._erasers:
            if is_erased(execute, origin.kind, origin.id):
                return False
            raise StoreError(
                f"{origin.scope} has data in a {origin.kind}, which this program cannot erase:"
                " nothing was erased",
                hint="erase with the program that wrote it, or a newer one",
            )
        for kind, identifier in self._erasers[origin.kind](execute, origin.id):
            insert_new(execute, "erased", {"erasure": erasure, "kind": kind, "id": identifier})
        return insert_new(
            execute, "erased", {"erasure": erasure, "kind": origin.kind, "id": origin.id}
        )


def _erasers(components: Sequence[Component]) -> Mapping[str, Eraser]:
    found: dict[str, Eraser] = {}
    for component in components:
        for kind, eraser in component.erasers.items():
            if kind in found:
                raise UsageError(f"two components say how to erase a {kind}")
            found[kind] = eraser
    return found


def _origins(execute: Execute, scope: str) -> list[Origin]:
    found = execute("SELECT scope, kind, id FROM origins WHERE scope = ? ORDER BY seq", (scope,))
    return [Origin(*columns) for columns in found]


def _erasures(execute: Execute, where: str = "", *values: str) -> list[ErasureRecord]:
    found = execute(
        f"SELECT seq, scope, decided_by, reason, at FROM erasures {where} ORDER BY seq", values
    )
    # What was erased along with a thing has no origin of its own, and is not told of.
    erased = (
        "SELECT erased.kind, erased.id FROM erased JOIN origins"
        " ON origins.kind = erased.kind AND origins.id = erased.id"
        " WHERE erasure = ? AND scope = ?"
    )
    return [
        ErasureRecord(
            scope,
            decided_by,
            reason,
            at,
            tuple(sorted((kind, name) for kind, name in execute(erased, (number, scope)))),
        )
        for number, scope, decided_by, reason, at in found
    ]
