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
        """The only writer until the block ends: then all of it is committed, or none."""
        ...

    def tables(self, execute: Execute) -> set[str]: ...

    def guard(self, tables: Sequence[str]) -> list[str]:
        """Statements after which the database itself refuses to change or delete rows."""
        ...

    def unguard(self, execute: Execute) -> list[str]:
        """Statements that take off every guard there is."""
        ...

    def lock_run(self, run_id: str) -> AbstractContextManager[None]: ...

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
