"""Connections that read beside the one that writes."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from metamem.store.sqlite_connection import Connection
from metamem.store.sqlite_errors import closed


class Readers:
    """Connections that read, for several threads at once; each is made when it is first needed.

    Whoever finds all of them in use waits for one.
    """

    def __init__(self, path: Path, *, most: int, wait: float, mode: str) -> None:
        self._path = path
        self._most = most
        self._wait = wait
        self._mode = mode
        self._idle: list[Connection] = []
        self._in_use = 0
        self._closed = False
        self._changed = threading.Condition()

    @contextmanager
    def one(self) -> Iterator[Connection]:
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._in_use < self._most)
            if self._closed:
                raise closed(self._path)
            self._in_use += 1
            connection = self._idle.pop() if self._idle else None
        try:
            if connection is None:
                connection = Connection(self._path, self._mode, wait=self._wait, reads_only=True)
            yield connection
        finally:
            with self._changed:
                self._in_use -= 1
                self._changed.notify_all()
                if connection is not None and connection.in_transaction:
                    connection.close()  # its end failed: the next reader is not to see its moment
                elif connection is not None:
                    self._idle.append(connection)

    def close(self) -> None:
        """Waits for those in use."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._in_use == 0)
            while self._idle:
                self._idle.pop().close()
