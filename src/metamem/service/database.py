"""The service's database: where it is opened, clocks and ids."""

import secrets
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from metamem.core.errors import StoreError
from metamem.routing.tables import ROUTING
from metamem.service.importing.tables import IMPORTING
from metamem.service.tables import SERVICE
from metamem.store.engine import Execute
from metamem.store.schema import Component, upgrade
from metamem.store.sqlite import SqliteEngine

FILE = "memory.db"
COMPONENTS = (SERVICE, IMPORTING, ROUTING)


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def new_id(prefix: str) -> str:
    """An id that sorts by time and cannot be guessed."""
    return f"{prefix}{now_ms():011x}{secrets.token_hex(8)}"


class Database:
    """One file that several processes may open. Blocks keep the contract of a store's engine."""

    def __init__(self, path: Path, *, create: bool = True, also: Sequence[Component] = ()) -> None:
        """`also` are components of other parts, whose tables are beside the service's."""
        self.path = path.absolute()
        self._engine = SqliteEngine(self.path, create=create)
        try:
            make_private(self.path)
            upgrade(self._engine, (*COMPONENTS, *also))
        except BaseException:
            self._engine.close()
            raise

    def grow(self, components: Sequence[Component]) -> None:
        """Tables of another part, beside those that are there."""
        upgrade(self._engine, components)

    def reading(self) -> AbstractContextManager[Execute]:
        """One moment of the database. Readers do not wait for the writer."""
        return self._engine.reading()

    def writing(self, *, durable: bool = False) -> AbstractContextManager[Execute]:
        """All of the block is committed, or none of it; if it is durable, on the disk."""
        return self._engine.writing(durable=durable)

    def alone(self, execute: Execute, name: str) -> None:
        """Inside `writing`: until its end, whoever else asks for the same name waits."""
        self._engine.alone(execute, name)

    def scrub(self) -> None:
        """After an erasure: nothing of it stays in the file or beside it, or `ScrubDue`."""
        self._engine.scrub()

    def close(self) -> None:
        self._engine.close()


def make_private(path: Path) -> None:
    """Make it its owner's, whatever the umask: the file, and what SQLite keeps beside it."""
    try:
        for end in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):  # whoever closed it last has removed them
                path.with_name(path.name + end).chmod(0o600)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be kept from others' eyes: {error}", hint="it should belong to you"
        ) from error
