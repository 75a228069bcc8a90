"""What one database must offer so that the rest of the store need not know which it is."""

import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, get_args

Value = str | int | float | bytes | None
Action = Literal["UPDATE", "DELETE"]

ACTIONS: tuple[Action, ...] = get_args(Action)
FIRST = "experiments"  # the component that was alone once: what names no component is its


class Execute(Protocol):
    """Run one statement, with `?` for its values, and fetch all it gives."""

    def __call__(self, statement: str, values: Sequence[Value] = ()) -> list[tuple[Any, ...]]: ...


@dataclass(frozen=True, slots=True)
class Guard:
    """That the database itself refuses an action on every row of a table, for a component."""

    component: str
    table: str
    action: Action


class Engine(Protocol):
    """Transactions on one database. Errors come out as `StoreError` or `DataError`: a unique key
    that is taken as `Conflict`, what a guard refuses as `Guarded`. What a block raises by itself
    goes through as it is.

    Threads may share an engine, and each has one block at a time: a block inside of another, or
    one that is begun while another waits in the same thread for something to be awaited, is a
    `UsageError`, and so is a statement after its block has ended.
    """

    @property
    def place(self) -> str:
        """Where the data is, for people."""
        ...

    @property
    def dialect(self) -> str:
        """Which SQL it speaks, where a step of a schema has to differ: `sqlite`, `postgresql`."""
        ...

    @property
    def types(self) -> Mapping[str, str]:
        """This engine's words for the types that the schema leaves open."""
        ...

    def reading(self) -> AbstractContextManager[Execute]:
        """One moment of the database, that of the first statement, whatever others write
        meanwhile. Nobody waits for it, it waits for no writer, and writing in it is a
        `UsageError`."""
        ...

    def writing(self, *, durable: bool = False) -> AbstractContextManager[Execute]:
        """All of the block is committed, or none of it.

        Others may write meanwhile: what the block found missing may be there when it inserts.
        So whoever writes relies on unique keys, or asks to be `alone`.

        What was committed outlives the process. If it is `durable`, then also a power cut, and
        all that was committed before it with it; that takes as long as the disk takes.
        """
        ...

    def alone(self, execute: Execute, name: str) -> None:
        """Inside `writing`: until its end, whoever else asks for the same name waits."""
        ...

    def tables(self, execute: Execute) -> set[str]: ...

    def guards(self, execute: Execute) -> set[Guard]:
        """All that are on, also those of components that this program does not know."""
        ...

    def put_on(self, execute: Execute, guard: Guard) -> None: ...

    def take_off(self, execute: Execute, guard: Guard) -> None: ...

    def keep_copy(self, label: str) -> None:
        """Inside `writing`, before the schema moves on: a copy of everything as it was. An engine
        whose database is backed up by other means may do nothing."""
        ...

    def copies(self) -> list[Path]:
        """The copies that were kept and are still there."""
        ...

    def scrub(self) -> None:
        """After rows were deleted: make sure that the storage does not hold them any more. The
        copies that were kept are removed. `ScrubDue` where somebody still reads what was there
        before: try again when they are done. Others can read and write meanwhile."""
        ...

    def lock_run(self, run_id: str) -> AbstractContextManager[None]:
        """Nobody else holds the run until the block or this process ends, or `Busy`."""
        ...

    def run_is_held(self, run_id: str) -> bool: ...

    def close(self) -> None:
        """Waits for the blocks of other threads."""
        ...


# Databases differ in what text they hold: NUL and lone surrogates are the ones that fail. Those,
# and the escape character itself (DLE, which real text does not use), are written as DLE + hex.
_UNSAFE = re.compile("[\x00\x10\ud800-\udfff]")
_ESCAPED = re.compile("\x10([0-9a-f]{4})")


def escape(text: str) -> str:
    """Text that any database holds. Ordinary text is its own escape."""
    if text.isprintable():  # what is unsafe is not
        return text
    return _UNSAFE.sub(lambda found: f"\x10{ord(found.group()):04x}", text)


def unescape(text: str) -> str:
    if "\x10" not in text:
        return text
    return _ESCAPED.sub(lambda found: chr(int(found.group(1), 16)), text)
