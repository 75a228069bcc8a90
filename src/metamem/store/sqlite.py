"""Everything that is peculiar to SQLite: opening, transactions, guards, and its errors."""

import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any

from metamem.core.errors import DataError, StoreError
from metamem.store.engine import Execute, Value, escape, unescape
from metamem.store.experiments import EXPERIMENTS
from metamem.store.runlock import is_held, lock_file
from metamem.store.schema import upgrade
from metamem.store.sql import SqlArchive
from metamem.store.sqlite_errors import BUSY_SECONDS, damaged, meaning

GUARD = "append_only"


class SqliteArchive(SqlArchive):
    """An archive in one file (and, while it is open, SQLite's two helper files beside it)."""

    def __init__(self, path: str | os.PathLike[str], *, create: bool = True) -> None:
        engine = SqliteEngine(Path(path).absolute(), create=create)
        try:
            upgrade(engine, [EXPERIMENTS])
        except BaseException:
            engine.close()
            raise
        super().__init__(engine)


class SqliteEngine:
    """One connection that all threads of a process share, one at a time."""

    types: Mapping[str, str] = {"bytes": "BLOB", "sequence": "INTEGER PRIMARY KEY"}

    def __init__(self, path: Path, *, create: bool = True, read_only: bool = False) -> None:
        self.path = path
        self._process = os.getpid()
        self._turn = threading.RLock()
        if create:
            _make_folder(path.parent)
        elif not path.exists():
            raise StoreError(f"there is no archive at {path}", hint="check the path")
        how = "mode=ro" if read_only else f"mode={'rwc' if create else 'rw'}"
        if read_only and not path.with_name(path.name + "-wal").exists():
            how += "&immutable=1"  # nobody has it open, so that nothing need be made beside it
        with self._translated():
            self._connection = sqlite3.connect(
                f"{path.as_uri()}?{how}",
                uri=True,
                timeout=BUSY_SECONDS,
                isolation_level=None,  # transactions are begun and ended here, in plain sight
                check_same_thread=False,
            )
            try:
                self._configure(read_only)
            except BaseException:
                self._connection.close()
                raise

    @property
    def place(self) -> str:
        return str(self.path)

    def reading(self) -> AbstractContextManager[Execute]:
        return self._transaction("BEGIN")

    def writing(self) -> AbstractContextManager[Execute]:
        # IMMEDIATE: a transaction that reads first and is then refused the right to write
        # could not be waited for, only repeated.
        return self._transaction("BEGIN IMMEDIATE")

    def tables(self, execute: Execute) -> set[str]:
        return table_names(execute)

    def alone(self, execute: Execute, name: str) -> None:
        """Nothing to do: SQLite has one writer at a time."""

    def guard(self, *, append_only: Sequence[str], erasable: Sequence[str]) -> list[str]:
        guarded = [(table, "UPDATE") for table in (*append_only, *erasable)]
        guarded += [(table, "DELETE") for table in append_only]
        return [
            f"CREATE TRIGGER {GUARD}_{table}_{action} BEFORE {action} ON {table}"
            " BEGIN SELECT RAISE(ABORT, 'the archive is append-only'); END"
            for table, action in guarded
        ]

    def unguard(self, execute: Execute, tables: Sequence[str]) -> list[str]:
        found = execute("SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger'")
        return [
            f"DROP TRIGGER {name}"
            for name, table in found
            if name.startswith(GUARD) and table in tables
        ]

    def keep_copy(self, label: str) -> None:
        """Beside the file. It is whole under its name, or not there."""
        copy = self.path.with_name(f"{self.path.name}.{label}.backup")
        draft = copy.with_name(f"{copy.name}.part")
        try:
            draft.unlink(missing_ok=True)
            # A connection of its own: this one is in the transaction that is about to change it.
            with (
                closing(sqlite3.connect(self.path)) as there,
                closing(sqlite3.connect(draft)) as to,
            ):
                there.backup(to)
            with draft.open("rb") as written:
                os.fsync(written.fileno())
            draft.replace(copy)
        except (OSError, sqlite3.Error) as error:
            raise StoreError(
                f"{self.path} needs a newer schema, and the copy to be kept of it failed: {error}",
                hint=f"make room for {copy}; the archive is as it was",
            ) from error

    def scrub(self) -> None:
        """Deleted rows are overwritten at once (`secure_delete`); what is left of them lies in the
        log of changes, which is emptied here."""
        with self._turn, self._translated():
            ((busy, _, _),) = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        if busy:
            raise StoreError(
                f"what was erased is still in the log of {self.path}: others are reading it",
                hint="erase again when they are done",
            )

    def lock_run(self, run_id: str) -> AbstractContextManager[None]:
        return lock_file(self._locks, run_id)

    def run_is_held(self, run_id: str) -> bool:
        return is_held(self._locks, run_id)

    @property
    def _locks(self) -> Path:
        return self.path.with_name(self.path.name + ".locks")

    def close(self) -> None:
        if os.getpid() == self._process:
            with self._turn:
                self._connection.close()

    def _configure(self, read_only: bool) -> None:
        connection = self._connection
        connection.text_factory = lambda raw: unescape(raw.decode())
        if read_only:
            return
        _use_wal(connection, self.path)
        # In WAL mode NORMAL leaves syncing to checkpoints. A committed transaction is then in
        # the kernel's hands: the death of the process cannot lose it. A power cut may lose the
        # last commits, but never tears one and never damages the file.
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Execute]:
        if os.getpid() != self._process:
            raise StoreError(
                "this archive was opened by another process",
                hint="open it again in the process that was forked",
            )
        with self._turn, self._translated():
            self._connection.execute(begin)
            try:
                yield self._execute
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # a full disk has rolled back already
                    self._connection.execute("ROLLBACK")
                raise

    def _execute(self, statement: str, values: Sequence[Value] = ()) -> list[tuple[Any, ...]]:
        safe = [escape(value) if isinstance(value, str) else value for value in values]
        return self._connection.execute(statement, safe).fetchall()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise meaning(error, self.path) from error
        except OverflowError as error:
            raise DataError(f"a number is too large to be kept ({error})") from error
        except UnicodeDecodeError as error:
            raise damaged(self.path, error) from error


def table_names(execute: Execute) -> set[str]:
    found = execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    return {name for (name,) in found if not name.startswith("sqlite_")}


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"the folder {folder} cannot be made: {error}") from error


def _use_wal(connection: sqlite3.Connection, path: Path) -> None:
    """Readers and a writer side by side.

    The switch is written into the file once; while another process makes it, SQLite refuses
    at once instead of waiting, so the waiting is done here.
    """
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            ((mode,),) = connection.execute("PRAGMA journal_mode = WAL").fetchall()
            break
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
    if mode != "wal":
        raise StoreError(
            f"the file system of {path} cannot hold an archive that several processes share",
            hint="put it on a local disk",
        )
