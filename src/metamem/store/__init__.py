"""The archive: every design, run, evaluation and decision, kept for good."""

import os
from collections.abc import Sequence

from metamem.store.archive import Archive
from metamem.store.checkup import Checkup, check_file
from metamem.store.export import export_archive
from metamem.store.records import (
    DesignRecord,
    ErasureRecord,
    Origin,
    Place,
    PromotionRecord,
    ProposalRecord,
    ReadRecord,
    RunRecord,
    Subject,
    Trace,
    utc_now,
)
from metamem.store.schema import Component
from metamem.store.sqlite import SqliteArchive

__all__ = [
    "Archive",
    "Checkup",
    "Component",
    "DesignRecord",
    "ErasureRecord",
    "Origin",
    "Place",
    "PromotionRecord",
    "ProposalRecord",
    "ReadRecord",
    "RunRecord",
    "SqliteArchive",
    "Subject",
    "Trace",
    "check_file",
    "export_archive",
    "open_archive",
    "utc_now",
]


def open_archive(
    path: str | os.PathLike[str], *, create: bool = True, components: Sequence[Component] = ()
) -> Archive:
    """Open the archive at a path; made if it is not there, unless `create` is False.

    Components beside experiments are brought forward with it, and erased from with it.
    """
    return SqliteArchive(path, create=create, components=components)
