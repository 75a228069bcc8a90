"""Copies of a database file that are kept beside it before its schema moves on."""

import os
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from metamem.core.errors import StoreError

# NAME-VERSION of each component that moves on: files of other people's are not taken for copies.
_LABEL = r"[a-z][a-z_]*-\d+(-[a-z][a-z_]*-\d+)*"


def keep_copy(path: Path, label: str) -> None:
    """It is whole under its name, or not there."""
    copy = path.with_name(f"{path.name}.{label}.backup")
    draft = copy.with_name(f"{copy.name}.part")
    try:
        draft.unlink(missing_ok=True)
        draft.touch(mode=0o600)
        # A connection of its own: the engine's is in the transaction that is about to change it.
        with closing(sqlite3.connect(path)) as there, closing(sqlite3.connect(draft)) as to:
            there.backup(to)
        shutil.copymode(path, draft)  # whoever may not read the one may not read the other
        with draft.open("rb") as written:
            os.fsync(written.fileno())
        draft.replace(copy)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(
            f"{path} needs a newer schema, and the copy to be kept of it failed: {error}",
            hint=f"make room for {copy}; the archive is as it was",
        ) from error


def copies(path: Path) -> list[Path]:
    """Those that are there, and what is left of one that was not finished."""
    form = re.compile(re.escape(path.name) + rf"\.{_LABEL}\.backup(\.part)?")
    try:
        return sorted(file for file in path.parent.iterdir() if form.fullmatch(file.name))
    except OSError as error:
        raise StoreError(f"the folder {path.parent} cannot be read: {error.strerror}") from error


def remove_copies(path: Path) -> None:
    for copy in copies(path):
        try:
            copy.unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(
                f"{copy} may hold what was erased and cannot be removed: {error}",
                hint="remove it yourself",
            ) from error
