"""What one database must offer so that the rest of the store need not know which it is."""

import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

Value = str | int | float | bytes | None


class Execute(Protocol):
    """Run one statement, with `?` for its values, and fetch all it gives."""

    def __call__(self, statement: str, values: Sequence[Value] = ()) -> list[tuple[Any, ...]]: ...


class Engine(Protocol):
    """Transactions on one database. Errors come out as `StoreError` or `DataError`."""

    @property
    def place(self) -> str:
        """Where the data is, for people."""
        ...

    @property
    def types(self) -> Mapping[str, str]:
        """This engine's words for the types that the schema leaves open."""
        ...

    def reading(self) -> AbstractContextManager[Execute]:
        """One moment of the database, whatever others write meanwhile."""
        ...

    def writing(self) -> AbstractContextManager[Execute]:
        """All of the block is committed, or none of it.

        Others may write meanwhile: what the block found missing may be there when it inserts.
        So whoever writes relies on unique keys, or asks to be `alone`.
        """
        ...

    def alone(self, execute: Execute, name: str) -> None:
        """Inside `writing`: until its end, whoever else asks for the same name waits."""
        ...

    def tables(self, execute: Execute) -> set[str]: ...

    def guard(self, *, append_only: Sequence[str], erasable: Sequence[str]) -> list[str]:
        """Statements after which the database itself refuses to change rows of these tables, and
        to delete those of the append-only ones."""
        ...

    def unguard(self, execute: Execute, tables: Sequence[str]) -> list[str]:
        """Statements that take off every guard of these tables."""
        ...

    def keep_copy(self, label: str) -> None:
        """Inside `writing`, before the schema moves on: a copy of everything as it was. An engine
        whose database is backed up by other means may do nothing."""
        ...

    def scrub(self) -> None:
        """After rows were deleted: make sure that the storage does not hold them any more."""
        ...

    def lock_run(self, run_id: str) -> AbstractContextManager[None]:
        """Nobody else holds the run until the block or this process ends, or `Busy`."""
        ...

    def run_is_held(self, run_id: str) -> bool: ...

    def close(self) -> None: ...


# Databases differ in what text they hold: NUL and lone surrogates are the ones that fail. Those,
# and the escape character itself (DLE, which real text does not use), are written as DLE + hex.
_UNSAFE = re.compile("[\x00\x10\ud800-\udfff]")
_ESCAPED = re.compile("\x10([0-9a-f]{4})")


def escape(text: str) -> str:
    """Text that any database holds. Ordinary text is its own escape."""
    return _UNSAFE.sub(lambda found: f"\x10{ord(found.group()):04x}", text)


def unescape(text: str) -> str:
    if "\x10" not in text:
        return text
    return _ESCAPED.sub(lambda found: chr(int(found.group(1), 16)), text)
