"""Whether an archive is sound, without touching it: nothing is made, upgraded or written."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from metamem.core.errors import DataError
from metamem.store.engine import Value
from metamem.store.schema import STEPS, read_version
from metamem.store.sqlite import damaged, meaning, table_names


def examine(path: Path) -> str:
    """What the archive at a path is, in words; an error that says what is wrong with it."""
    try:
        return _examined(path)
    except sqlite3.Error as error:
        raise meaning(error, path) from error
    except UnicodeDecodeError as error:
        raise damaged(path, error) from error


def _examined(path: Path) -> str:
    # Even a reader makes SQLite's helper files, and a reader cannot remove them. Where there are
    # none, nobody has the archive open, and it can be read as a file that does not change.
    if _in_use(path):
        return _read(path, "mode=ro")
    try:
        return _read(path, "mode=ro&immutable=1")
    except (sqlite3.Error, DataError):
        if _in_use(path):  # somebody has opened it meanwhile: it did change
            return _read(path, "mode=ro")
        raise


def _in_use(path: Path) -> bool:
    return path.with_name(path.name + "-wal").exists()


def _read(path: Path, how: str) -> str:
    with closing(sqlite3.connect(f"{path.as_uri()}?{how}", uri=True)) as connection:

        def execute(statement: str, values: Sequence[Value] = ()) -> list[tuple[Any, ...]]:
            return connection.execute(statement, values).fetchall()

        version = read_version(str(path), table_names(execute), execute)
        ((verdict,),) = execute("PRAGMA integrity_check(1)")
        if verdict != "ok":
            raise damaged(path, verdict.replace("\n", " "))
    older = f", brought to {len(STEPS)} when it is next opened" if version < len(STEPS) else ""
    return f"{path}, {path.stat().st_size / (1 << 20):.1f} MiB, schema version {version}{older}"
