"""Erasers of places outside of the service's database."""

import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from metamem.core.access import Scope
from metamem.core.errors import UnknownName
from metamem.core.registry import factory, names
from metamem.promotion.ledger import Ledger
from metamem.report.place import report_path
from metamem.search.handoff.place import run_folder
from metamem.store.facets import Designs, Erasures, Promotions

BY = "erasure"  # who decides, in the ledgers of other parts
WHY = "the memories of a scope were erased"
SHORTEST = 12  # characters of a line that a design must share to hold what was erased


class Archive(Designs, Erasures, Promotions, Protocol):
    """What erasers need of an archive."""


class ArchiveEraser:
    """What an archive of experiments keeps of a scope: collections, blobs, how cases were played,
    what models were asked. It cannot tell persons apart."""

    def __init__(self, archive: Erasures) -> None:
        self._archive = archive

    def erase(self, scope: Scope, person: str, texts: Sequence[str]) -> Mapping[str, int]:
        if not self._archive.origins(str(scope)):
            return {}
        done = self._archive.erase(str(scope), decided_by=BY, reason=WHY)
        return {"archived": len(done.erased)}


class HandoffEraser:
    """Requests to coding agents: their dossiers quote what happened in the runs of a scope."""

    def __init__(self, home: Path, archive: Erasures) -> None:
        self._home, self._archive = home, archive

    def erase(self, scope: Scope, person: str, texts: Sequence[str]) -> Mapping[str, int]:
        runs = [each.id for each in self._archive.origins(str(scope)) if each.kind == "run"]
        return {"dossiers": sum(_removed(run_folder(self._home, run)) for run in runs)}


class ReportEraser:
    """Reports of the runs that learned from a scope: they show how some of its moments went."""

    def __init__(self, home: Path, archive: Erasures) -> None:
        self._home, self._archive = home, archive

    def erase(self, scope: Scope, person: str, texts: Sequence[str]) -> Mapping[str, int]:
        runs = [each.id for each in self._archive.origins(str(scope)) if each.kind == "run"]
        paths = [path for run in runs if (path := report_path(self._home, run)).exists()]
        for path in paths:
            path.unlink()
        return {"reports": len(paths)}


class FolderEraser:
    """A folder for each scope, such as the snapshots of served designs or a spool of hooks."""

    def __init__(self, name: str, folder_of: Callable[[Scope], Path]) -> None:
        self._name, self._folder_of = name, folder_of

    def erase(self, scope: Scope, person: str, texts: Sequence[str]) -> Mapping[str, int]:
        return {self._name: int(_removed(self._folder_of(scope)))}


class PartsEraser:
    """What parts above the service keep of a scope: each is registered, and loaded when it is needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder  # of the memory

    def erase(self, scope: Scope, person: str, texts: Sequence[str]) -> Mapping[str, int]:
        counts: Counter[str] = Counter()
        for name in names("erasers"):
            counts.update(factory("erasers", name)(self._folder).erase(scope, person, texts))
        return counts


class DesignEraser:
    """Designs that were learned from a scope, or whose source holds a line of what is erased, are
    withdrawn: they are in use nowhere any more. An archive keeps sources for good, so the source
    itself stays in it."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    def erase(self, scope: Scope, person: str, texts: Sequence[str]) -> Mapping[str, int]:
        ledger = Ledger(self._archive)
        lines = {line.strip() for text in texts for line in text.splitlines()}
        wanted = [line for line in lines if len(line) >= SHORTEST]
        count = 0
        for standing in ledger.all_standing():
            waiting = {(entry.subject, entry.place) for entry in standing.pending}
            used = {(entry.subject, entry.place) for entry in standing.applied}
            for subject, place in waiting | used:
                here = place.kind == "scope" and place.name == str(scope)
                if subject.kind != "design" or not (here or self._holds(subject.id, wanted)):
                    continue
                if (subject, place) in waiting:
                    ledger.reject(subject, place, by=BY, reason=WHY)
                if (subject, place) in used:
                    ledger.undo(subject, place, by=BY, reason=WHY)
                count += 1
        return {"designs": count}

    def _holds(self, design: str, lines: Sequence[str]) -> bool:
        try:
            source = self._archive.design(design).source
        except UnknownName:
            return False
        return any(line in source for line in lines)


def _removed(folder: Path) -> bool:
    if not folder.exists():
        return False
    shutil.rmtree(folder)
    return True
