"""What every part of the archive shares: the engine, and how to write once."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

from metamem.core.errors import Erased, StoreError, UsageError
from metamem.store.engine import Engine, Execute, Value
from metamem.store.schema import Component

AT_ONCE = 800  # values of one statement
MOST = 2**63 - 1  # entries: SQLite knows no offset without a limit


class Part:
    """Some of the archive's methods. The components are those that this program brings."""

    def __init__(self, engine: Engine, components: Sequence[Component]) -> None:
        self._engine = engine
        self._components = tuple(components)


def insert(execute: Execute, table: str, columns: Mapping[str, Value]) -> None:
    marks = ", ".join("?" * len(columns))
    execute(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", tuple(columns.values()))


def insert_all(
    execute: Execute, table: str, names: Sequence[str], rows: Sequence[Sequence[Value]]
) -> None:
    """Insert rows, many with each statement."""
    row, most = f"({', '.join('?' * len(names))})", max(1, AT_ONCE // len(names))
    for start in range(0, len(rows), most):
        some = rows[start : start + most]
        marks = ", ".join([row] * len(some))
        values = list(chain.from_iterable(some))
        execute(f"INSERT INTO {table} ({', '.join(names)}) VALUES {marks}", values)


def insert_new(execute: Execute, table: str, columns: Mapping[str, Value]) -> bool:
    """Insert, unless a unique key of it is taken; whether it was inserted."""
    marks = ", ".join("?" * len(columns))
    statement = (
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"
        " ON CONFLICT DO NOTHING RETURNING 1"
    )
    return bool(execute(statement, tuple(columns.values())))


def insert_once(
    execute: Execute,
    table: str,
    key: Mapping[str, Value],
    content: Mapping[str, Value],
    what: str,
    same: Callable[[Any, Any], bool] = lambda there, given: bool(there == given),
) -> bool:
    """Insert, or find the same content under that key (False), or refuse another content."""
    if insert_new(execute, table, {**key, **content}):
        return True
    where = " AND ".join(f"{name} = ?" for name in key)
    found = execute(f"SELECT {', '.join(content)} FROM {table} WHERE {where}", tuple(key.values()))
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


def page(table: str, after: str | None, limit: int | None) -> tuple[str, str, list[Value]]:
    """The condition, the end of the query, and their values, for a part of a list in its order."""
    if limit is not None and limit < 0:
        raise UsageError(f"a list of {limit} entries cannot be given")
    values: list[Value] = []
    where, end = "1 = 1", f"ORDER BY {table}.seq"
    if after is not None:
        where = f"{table}.seq > (SELECT seq FROM {table} WHERE id = ?)"
        values.append(after)
    if limit is not None:
        end += " LIMIT ?"
        values.append(limit)
    return where, end, values


def is_erased(execute: Execute, kind: str, identifier: str) -> bool:
    return bool(execute("SELECT 1 FROM erased WHERE kind = ? AND id = ?", (kind, identifier)))


def refuse_erased(execute: Execute, kind: str, identifier: str) -> None:
    """What was erased cannot be read or written again."""
    found = execute(
        "SELECT at, decided_by FROM erased JOIN erasures ON seq = erasure"
        " WHERE kind = ? AND id = ?",
        (kind, identifier),
    )
    for at, decided_by in found:
        raise Erased(
            f"the content of the {kind} {identifier} was erased on {at[:10]} by {decided_by}",
            hint="what was made from it keeps its scores, but cannot be played again",
        )


def portion(skip: int, limit: int | None) -> tuple[str, list[Value]]:
    """The end of a query for a part of a ledger, and its values. What is in a ledger stays where it
    is, so entries can be counted off."""
    if skip < 0 or (limit is not None and limit < 0):
        raise UsageError(f"a list of {limit} entries after {skip} cannot be given")
    return " LIMIT ? OFFSET ?", [MOST if limit is None else limit, skip]
