"""Pointers that hooks left, out of the spool: what a session of an erased scope said is not read."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from metamem.core.access import Scope
from metamem.service.attach.places import Meeting
from metamem.service.attach.spool import Pointer, Spool
from metamem.service.database import Database
from metamem.service.importing.keeping import scope_of


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
        if pointer.folder and scope_of(pointer.folder, scope.tenant) == scope:
            return True
        with self._database.reading() as execute:
            return bool(
                execute(
                    "SELECT 1 FROM import_places WHERE host = ? AND session = ? AND scope = ?",
                    (pointer.host, pointer.session, str(scope)),
                )
            )
