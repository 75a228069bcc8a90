"""Archives of experiments that may hold what scopes of this memory said: learned from, or served from.

Each is entered by its path when it first has to do with this memory, so that an erasure finds it
wherever it is begun. Archives that were moved since are not found; those that were deleted hold
nothing.
"""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from metamem.core.access import Scope
from metamem.service.database import Database
from metamem.service.erasers import ArchiveEraser, DesignEraser, HandoffEraser, ReportEraser
from metamem.store.sqlite import SqliteArchive

FILE = "archive.db"
_KNOWN = "archive:"  # before the path, among the settings


def note_archive(database: Database, path: Path) -> None:
    """Enter that an archive may hold what is remembered here."""
    name = f"{_KNOWN}{path.absolute()}"
    with database.reading() as execute:
        if execute("SELECT 1 FROM service_settings WHERE name = ?", (name,)):
            return
    with database.writing() as execute:
        execute(
            "INSERT INTO service_settings (name, value) VALUES (?, '')"
            " ON CONFLICT (name) DO NOTHING",
            (name,),
        )


class ArchivesEraser:
    """All that known archives keep of a scope, and what lies beside them: dossiers and reports."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def erase(self, scope: Scope, person: str, texts: Sequence[str]) -> Mapping[str, int]:
        counts: Counter[str] = Counter()
        for path in self.paths():
            folder = path.parent
            with SqliteArchive(path, create=False) as archive:
                # The archive last: the others ask it which runs there were.
                for eraser in (
                    HandoffEraser(folder, archive),
                    ReportEraser(folder, archive),
                    DesignEraser(archive),
                    ArchiveEraser(archive),
                ):
                    counts.update(eraser.erase(scope, person, texts))
        return counts

    def paths(self) -> list[Path]:
        """Those that are there. One that lies where this happens to run may be another memory's: it
        counts only where METAMEM_HOME says so."""
        with self._database.reading() as execute:
            rows = execute(
                "SELECT name FROM service_settings WHERE name LIKE ? ORDER BY name", (f"{_KNOWN}%",)
            )
        known = [Path(name[len(_KNOWN) :]) for (name,) in rows]
        if home := os.environ.get("METAMEM_HOME"):
            known.append((Path(home) / FILE).absolute())
        return [path for path in dict.fromkeys(known) if path.is_file()]
