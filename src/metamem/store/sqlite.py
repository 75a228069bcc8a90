"""Everything that is peculiar to SQLite: opening, transactions, guards, and its errors."""

import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from metamem.core.errors import ScrubDue, StoreError, UsageError
from metamem.store import sqlite_copies, sqlite_guards
from metamem.store.engine import Execute, Guard
from metamem.store.experiments import EXPERIMENTS
from metamem.store.runlock import is_held, lock_file
from metamem.store.schema import Component, upgrade
from metamem.store.sql import SqlArchive
from metamem.store.sqlite_connection import Connection
from metamem.store.sqlite_errors import BUSY_SECONDS, closed
from metamem.store.sqlite_readers import Readers

READERS = 4  # blocks that read at the same time
SCRUB_SECONDS = 1.0  # writers wait while a scrub does, so that it is not to wait for long


class SqliteArchive(SqlArchive):
    """An archive in one file (and, while it is open, SQLite's two helper files beside it).

    Without `create` one that cannot be written to (another's, a mounted copy) can still be looked at.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        create: bool = True,
        components: Sequence[Component] = (),
    ) -> None:
        engine = SqliteEngine(Path(path).absolute(), create=create)
        try:
            super().__init__(engine, (EXPERIMENTS, *components))
            upgrade(engine, (EXPERIMENTS, *components))
        except BaseException:
            engine.close()
            raise


class SqliteEngine:
    """One connection that writes, which threads share one at a time, and some that read."""

    dialect = "sqlite"
    types: Mapping[str, str] = {
        "bytes": "BLOB",
        "sequence": "INTEGER PRIMARY KEY",
        "clustered": "WITHOUT ROWID",
    }

    def __init__(self, path: Path, *, create: bool = True, read_only: bool = False) -> None:
        self.path = path
        self._process = os.getpid()
        self._turn = threading.Lock()
        self._blocks: dict[int, str] = {}  # by thread
        self._closed = False
        if create:
            _make_folder(path.parent)
        elif not path.exists():
            raise StoreError(f"there is no archive at {path}", hint="check the path")
        self._withheld = not create and not read_only and not _writable(path)
        read_only = read_only or self._withheld
        self._writer = None if read_only else _writer(path, "rwc" if create else "rw")
        self._readers = Readers(
            path, most=READERS, wait=BUSY_SECONDS, mode=_looking(path) if read_only else "rw"
        )

    @property
    def place(self) -> str:
        return str(self.path)

    @contextmanager
    def reading(self) -> Iterator[Execute]:
        with (
            self._block("reads"),
            self._readers.one() as reader,
            reader.transaction("BEGIN") as execute,
        ):
            yield execute

    @contextmanager
    def writing(self, *, durable: bool = False) -> Iterator[Execute]:
        with self._block("writes"), self._turn:
            if self._closed:
                raise closed(self.path)
            if self._withheld:
                raise StoreError(
                    f"{self.path} can be read here, and not written to",
                    hint="check that the file and its folder belong to you and can be written to",
                )
            if self._writer is None:
                raise UsageError(f"{self.path} was opened for reading alone")
            # In WAL mode NORMAL leaves syncing to checkpoints. A committed transaction is then in
            # the kernel's hands: the death of the process cannot lose it. A power cut may lose the
            # last commits, but never tears one and never damages the file. FULL syncs the log with
            # every commit.
            if durable:
                self._writer.execute("PRAGMA synchronous = FULL")
            try:
                # IMMEDIATE: a transaction that reads first and is then refused the right to write
                # could not be waited for, only repeated.
                with self._writer.transaction("BEGIN IMMEDIATE") as execute:
                    yield execute
            finally:
                if durable:
                    self._writer.execute("PRAGMA synchronous = NORMAL")

    def tables(self, execute: Execute) -> set[str]:
        found = execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return {name for (name,) in found if not name.startswith("sqlite_")}

    def alone(self, execute: Execute, name: str) -> None:
        """Nothing to do: SQLite has one writer at a time."""

    def guards(self, execute: Execute) -> set[Guard]:
        return sqlite_guards.guards(execute)

    def put_on(self, execute: Execute, guard: Guard) -> None:
        execute(sqlite_guards.put_on(guard))

    def take_off(self, execute: Execute, guard: Guard) -> None:
        execute(sqlite_guards.take_off(guard))

    def keep_copy(self, label: str) -> None:
        sqlite_copies.keep_copy(self.path, label)

    def copies(self) -> list[Path]:
        return sqlite_copies.copies(self.path)

    def scrub(self) -> None:
        """The file is written anew, of what is still in it: `secure_delete` overwrites deleted rows,
        but not copies that SQLite leaves behind when it moves rows from page to page. What is left
        of them lies in copies and in the log of changes, which is emptied here."""
        with self._block("scrubs"):
            sqlite_copies.remove_copies(self.path)
            connection = Connection(self.path, "rw", wait=SCRUB_SECONDS)
            try:
                connection.execute("VACUUM")
                ((busy, _, _),) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            finally:
                connection.close()
        if busy:
            raise ScrubDue(
                f"what was erased is still in the log of {self.path}: others are reading it",
                hint="erase again, or scrub, when they are done",
            )

    def lock_run(self, run_id: str) -> AbstractContextManager[None]:
        return lock_file(self._locks, run_id)

    def run_is_held(self, run_id: str) -> bool:
        return is_held(self._locks, run_id)

    @property
    def _locks(self) -> Path:
        return self.path.with_name(self.path.name + ".locks")

    def close(self) -> None:
        if os.getpid() != self._process:
            return
        with self._block("closes"), self._turn:
            if not self._closed:
                self._closed = True
                self._readers.close()
                if self._writer is not None:
                    self._writer.close()

    @contextmanager
    def _block(self, what: str) -> Iterator[None]:
        """One block a thread. The thread is noted by its number: the block may end in another."""
        if os.getpid() != self._process:
            raise StoreError(
                "this archive was opened by another process",
                hint="open it again in the process that was forked",
            )
        thread = threading.get_ident()
        if thread in self._blocks:
            raise UsageError(
                f"a block of {self.path} that {self._blocks[thread]} is open in this thread, and"
                f" another that {what} was begun",
                hint="end the one before the other, and await nothing inside of a block",
            )
        self._blocks[thread] = what
        try:
            yield
        finally:
            del self._blocks[thread]


def _writer(path: Path, mode: str) -> Connection:
    connection = Connection(path, mode, wait=BUSY_SECONDS)
    try:
        _use_wal(connection, path)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def _looking(path: Path) -> str:
    """How to open a file that is to stay as it is."""
    log = path.with_name(path.name + "-wal")
    if log.exists() and (log.stat().st_size or _writable(path)):
        return "ro"
    return "ro&immutable=1"  # all is in the file, so that nothing need be made beside it


def _writable(path: Path) -> bool:
    """Whether SQLite could write there: it also makes files beside the one it writes."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"the folder {folder} cannot be made: {error.strerror}") from error


def _use_wal(connection: Connection, path: Path) -> None:
    """Readers and a writer side by side.

    The switch is written into the file once; while another process makes it, SQLite refuses
    at once instead of waiting, so the waiting is done here.
    """
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            ((mode,),) = connection.execute("PRAGMA journal_mode = WAL")
            break
        except StoreError as error:
            refused = error.__cause__
            busy = (
                isinstance(refused, sqlite3.OperationalError)
                and refused.sqlite_errorcode == sqlite3.SQLITE_BUSY
            )
            if not busy or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
    if mode != "wal":
        raise StoreError(
            f"the file system of {path} cannot hold an archive that several processes share",
            hint="put it on a local disk",
        )
