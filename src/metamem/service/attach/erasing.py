"""Pointers that hooks left, out of the spool: what a session of an erased scope said is not read."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from metamem.core.access import Scope
from metamem.core.errors import MetamemError
from metamem.service.attach.hidden import Hidden
from metamem.service.attach.places import Meeting
from metamem.service.attach.spool import Pointer, Spool
from metamem.service.database import Database
from metamem.service.importing.keeping import scope_of
from metamem.service.importing.sources import peek
from metamem.service.writing.fields import identifier


class SpoolEraser:
    """It cannot tell persons apart: a pointer means all of a session."""

    def __init__(self, folder: Path, database: Database) -> None:
        self._spool, self._database = Spool(Meeting(folder).spool), database

    def erase(self, scope: Scope, person: str, texts: Sequence[str]) -> Mapping[str, int]:
        count = 0
        for waiting in self._spool.looked_at():
            if waiting.pointer is not None and self._is_of(waiting.pointer, scope):
                waiting.done()
                count += 1
        return {"pointers": count}

    def _is_of(self, pointer: Pointer, scope: Scope) -> bool:
        if pointer.hides:
            return self._may_be_of(pointer, scope)
        if pointer.folder and scope_of(pointer.folder, scope.tenant) == scope:
            return True
        with self._database.reading() as execute:
            return bool(
                execute(
                    "SELECT 1 FROM import_places WHERE host = ? AND session = ? AND scope = ?",
                    (pointer.host, identifier(pointer.session), str(scope)),
                )
            )

    def _may_be_of(self, pointer: Pointer, scope: Scope) -> bool:
        """Of one that says less, what its transcript says; where that cannot be found, it goes: what it
        means comes back with the next hook of its session."""
        try:
            folders = [peek(source).folder for source in pointer.sources(Hidden())]
        except (MetamemError, OSError):
            folders = []
        return not folders or any(f and scope_of(f, scope.tenant) == scope for f in folders)
