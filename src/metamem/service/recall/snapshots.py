"""A large scope's columns, kept as one piece, so that a new process need not read every row.

A snapshot is of one moment; what happened since is followed from there, as it is in memory. One
that cannot be followed is not used. It is made of the facts and can be deleted at any time.
"""

import json
from dataclasses import fields

import numpy as np

from metamem.service.recall.catalog import Catalog
from metamem.service.recall.changes import MOST, Moment
from metamem.service.recall.columns import Names
from metamem.store.engine import Execute

LARGE = 20_000  # facts from which a snapshot is worth its room
BEHIND = 0.1  # of the facts that may have come since
_NUMBER = 8  # bytes of the head's length
_COLUMNS = [each.name for each in fields(Catalog) if each.name != "authors"]


def is_due(execute: Execute, scope: int, now: Moment, count: int) -> bool:
    """Whether a scope that has so many facts should have a newer snapshot."""
    if count < LARGE:
        return False
    rows = execute("SELECT generation, facts FROM catalogs WHERE scope = ?", (scope,))
    return not any(
        now.generation - generation <= MOST // 2 and count - facts <= BEHIND * count
        for generation, facts in rows
    )


def keep(execute: Execute, scope: int, now: Moment, catalog: Catalog, names: Names) -> None:
    columns = {name: getattr(catalog, name) for name in _COLUMNS}
    head = json.dumps(
        {
            "authors": list(names.authors),
            "sessions": list(names.sessions),
            "columns": [[name, column.dtype.str] for name, column in columns.items()],
        }
    ).encode()
    body = b"".join(
        (
            len(head).to_bytes(_NUMBER, "little"),
            head,
            *(column.tobytes() for column in columns.values()),
        )
    )
    execute("DELETE FROM catalogs WHERE scope = ?", (scope,))
    execute(
        "INSERT INTO catalogs (scope, generation, seq, last, facts, body)"
        " SELECT number, ?, ?, ?, ?, ? FROM scopes WHERE number = ? AND erased_at IS NULL"
        " AND generation <= ?",  # not what was erased meanwhile
        (now.generation, now.seq, now.last, catalog.count, body, scope, now.generation + MOST),
    )


def read(execute: Execute, scope: int, now: Moment) -> tuple[Moment, Catalog, Names] | None:
    """The snapshot of a scope, if it is from before this moment and can be followed from there."""
    rows = execute(
        "SELECT generation, seq, last, facts, body FROM catalogs WHERE scope = ?"
        " AND generation <= ? AND generation >= ? AND seq <= ?",
        (scope, now.generation, now.generation - MOST, now.seq),
    )
    for generation, seq, last, count, body in rows:
        size = int.from_bytes(body[:_NUMBER], "little")
        head = json.loads(body[_NUMBER : _NUMBER + size])
        if [name for name, _ in head["columns"]] != _COLUMNS:
            return None  # of another version
        names = Names(_numbered(head["authors"]), _numbered(head["sessions"]))
        columns, start = {}, _NUMBER + size
        for name, kind in head["columns"]:
            columns[name] = np.frombuffer(body, kind, count, start)
            start += columns[name].nbytes
        catalog = Catalog(**columns, authors=tuple(names.authors))
        return Moment(generation, seq, last), catalog, names
    return None


def _numbered(names: list[str]) -> dict[str, int]:
    return {name: n for n, name in enumerate(names)}
