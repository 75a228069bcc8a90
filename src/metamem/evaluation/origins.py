"""Whose data something in an archive holds, entered before it is written."""

from pathlib import Path
from typing import Any

from metamem.store.facets import Erasures
from metamem.store.records import Origin
from metamem.store.sqlite import SqliteArchive


def enter_origin(archive: Erasures, domain: Any, kind: str, identifier: str) -> None:
    """Where the domain's data are a scope's: the archive knows what it holds of it, and the scope's
    memory, by `kept_in`, which archive that is. Whoever erases finds both."""
    if not (origin := getattr(domain, "origin", "")):
        return
    kept_in = getattr(domain, "kept_in", None)
    if kept_in is not None and isinstance(archive, SqliteArchive):
        kept_in(Path(archive.place))
    archive.add_origin(Origin(origin, kind, identifier))
