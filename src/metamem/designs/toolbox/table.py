"""Rows as dicts, in the order they were added."""

from collections.abc import Callable
from typing import Any

Row = dict[str, Any]


class Table:
    """A small table. Every row carries its `id`; what is returned is a copy."""

    def __init__(self) -> None:
        self._rows: dict[int, Row] = {}
        self._next = 1

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, **row: Any) -> int:
        if "id" in row:
            raise ValueError("a row's id is given by the table: leave `id` out")
        identifier = self._next
        self._next += 1
        self._rows[identifier] = {"id": identifier, **row}
        return identifier

    def all(self) -> list[Row]:
        return [dict(row) for row in self._rows.values()]

    def where(self, **equal: Any) -> list[Row]:
        """The rows whose columns equal every value given; a missing column equals nothing."""
        return [
            dict(row)
            for row in self._rows.values()
            if all(column in row and row[column] == value for column, value in equal.items())
        ]

    def update(self, row_id: int, /, **changes: Any) -> None:
        if row_id not in self._rows:
            raise KeyError(f"the table has no row {row_id}")
        if "id" in changes:
            raise ValueError("a row's id cannot be changed")
        self._rows[row_id].update(changes)

    def remove(self, predicate: Callable[[Row], Any]) -> int:
        """Drop the rows for which the predicate holds; returns how many."""
        gone = [identifier for identifier, row in self._rows.items() if predicate(dict(row))]
        for identifier in gone:
            del self._rows[identifier]
        return len(gone)
