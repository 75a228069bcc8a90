"""One connection to SQLite, whose errors come out in metamem's words."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from metamem.core.errors import DataError, UsageError
from metamem.store.engine import Execute, Value, escape, unescape
from metamem.store.sqlite_errors import damaged, meaning


class Connection:
    """Statements and transactions on one file. One transaction at a time, by whoever's turn it is.

    `mode` is SQLite's: `rwc` makes the file, `rw` does not, `ro` leaves it as it is.
    """

    def __init__(self, path: Path, mode: str, *, wait: float, reads_only: bool = False) -> None:
        self._path = path
        self._reads_only = reads_only
        try:
            self._raw = sqlite3.connect(
                f"{path.as_uri()}?mode={mode}",
                uri=True,
                timeout=wait,
                isolation_level=None,  # transactions are begun and ended here, in plain sight
                check_same_thread=False,
            )
        except sqlite3.Error as error:
            raise meaning(error, path) from error
        self._raw.text_factory = lambda text: unescape(text.decode())
        if reads_only:
            self.execute("PRAGMA query_only = ON")

    @property
    def in_transaction(self) -> bool:
        return self._raw.in_transaction

    def execute(self, statement: str, values: Sequence[Value] = ()) -> list[tuple[Any, ...]]:
        # Nearly all text is its own escape, and a call for each value would be felt.
        safe = [
            escape(value) if isinstance(value, str) and not value.isprintable() else value
            for value in values
        ]
        try:
            return self._raw.execute(statement, safe).fetchall()
        except sqlite3.Error as error:
            name = getattr(error, "sqlite_errorname", "")
            if self._reads_only and name == "SQLITE_READONLY":
                raise UsageError(
                    "a block that reads cannot write", hint="write in a block of `writing()`"
                ) from error
            raise meaning(error, self._path) from error
        except OverflowError as error:
            raise DataError(f"a number is too large to be kept ({error})") from error
        except UnicodeDecodeError as error:
            raise damaged(self._path, error) from error

    @contextmanager
    def transaction(self, begin: str) -> Iterator[Execute]:
        """All of the block, or nothing. What the block itself raises goes through as it is."""
        self.execute(begin)
        block = _Block(self)
        try:
            yield block
            self.execute("COMMIT")
        except BaseException:
            if self.in_transaction:  # a full disk has rolled back already
                self.execute("ROLLBACK")
            raise
        finally:
            block.ended = True

    def close(self) -> None:
        try:
            self._raw.close()
        except sqlite3.Error as error:
            raise meaning(error, self._path) from error


class _Block:
    """What a block may run, until it ends: after that its connection is someone else's."""

    __slots__ = ("_connection", "ended")

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.ended = False

    def __call__(self, statement: str, values: Sequence[Value] = ()) -> list[tuple[Any, ...]]:
        if self.ended:
            raise UsageError(
                "this block of the database has ended",
                hint="read all that is needed inside of it; a generator reads when it is asked",
            )
        return self._connection.execute(statement, values)
