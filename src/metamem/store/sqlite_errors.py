"""What SQLite's errors are to the person who sees them."""

import sqlite3
from pathlib import Path

from metamem.core.errors import Conflict, DataError, Guarded, MetamemError, StoreError

BUSY_SECONDS = 30.0  # how long a writer waits for another
GUARDED = "the archive is append-only"  # what a guard says
_TAKEN = ("SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY", "SQLITE_CONSTRAINT_ROWID")


def meaning(error: sqlite3.Error, path: Path) -> MetamemError:
    """What SQLite's error is to the person who sees it."""
    name = getattr(error, "sqlite_errorname", "")
    if name == "SQLITE_FULL":
        return StoreError(
            f"the disk is full: nothing of the last write to {path} was kept",
            hint="free some space and go on; what was written before is intact",
        )
    if name.startswith("SQLITE_IOERR"):
        return StoreError(
            f"the disk refused a read or write of {path} ({name})",
            hint="it may be full, over a quota or failing; what was written before is intact",
        )
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StoreError(
            f"another process has held {path} for {BUSY_SECONDS:.0f} seconds",
            hint="find out whether it hangs; this write can be repeated",
        )
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH")):
        return StoreError(
            f"{path} cannot be opened for writing ({error})",
            hint="check that the file and its folder exist, belong to you and can be written to",
        )
    if name == "SQLITE_NOTADB":
        return DataError(f"{path} is not an archive", hint="name another file")
    if name.startswith("SQLITE_CORRUPT"):
        return damaged(path, error)
    if name in _TAKEN:
        return Conflict(
            f"{path}: what was about to be written is taken ({error})",
            hint="look at what is there, and decide again",
        )
    if name == "SQLITE_CONSTRAINT_TRIGGER" and str(error) == GUARDED:
        return Guarded(
            f"{path}: {error}", hint="add what is new beside what is there, or have it erased"
        )
    return StoreError(f"{path}: {error}")


def damaged(path: Path, error: object) -> DataError:
    return DataError(f"{path} is damaged ({error})", hint="restore a backup")


def closed(path: Path) -> StoreError:
    return StoreError(f"{path} is closed", hint="open it again")
