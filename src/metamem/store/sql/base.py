"""What every part of the archive shares: the engine, and how to write once."""

from collections.abc import Callable, Mapping
from typing import Any

from metamem.core.errors import StoreError, UsageError
from metamem.store.engine import Engine, Execute, Value


class Part:
    """Some of the archive's methods."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine


def insert(execute: Execute, table: str, columns: Mapping[str, Value]) -> None:
    marks = ", ".join("?" * len(columns))
    execute(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", tuple(columns.values()))


def insert_once(
    execute: Execute,
    table: str,
    key: Mapping[str, Value],
    content: Mapping[str, Value],
    what: str,
    same: Callable[[Any, Any], bool] = lambda there, given: bool(there == given),
) -> bool:
    """Insert, or find the same content under that key (False), or refuse another content."""
    where = " AND ".join(f"{name} = ?" for name in key)
    found = execute(f"SELECT {', '.join(content)} FROM {table} WHERE {where}", tuple(key.values()))
    if not found:
        insert(execute, table, {**key, **content})
        return True
    for name, there in zip(content, found[0], strict=True):
        if not same(there, content[name]):
            raise StoreError(
                f"{what} is in the archive already, with another {name}",
                hint="what was written once is never changed",
            )
    return False


def require(execute: Execute, table: str, identifier: str | None, what: str) -> None:
    """Refuse a reference to what is not there, in better words than the database has."""
    if identifier is not None and not execute(f"SELECT 1 FROM {table} WHERE id = ?", (identifier,)):
        raise StoreError(f"there is no {what} {identifier!r} in the archive", hint="add it first")


def one_of(value: str, allowed: tuple[str, ...], what: str) -> None:
    if value not in allowed:
        raise UsageError(f"no {what} is called {value!r}", hint=f"known: {', '.join(allowed)}")
