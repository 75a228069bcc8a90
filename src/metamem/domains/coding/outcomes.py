"""Outcomes that were computed before: a bounded table on disk that all workers share.

What a command or a test does is a function of the tree alone, so an outcome is kept under the
hash of everything that goes into it. Losing the table costs time and nothing else.
"""

import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

MOST_ROWS = 200_000
_WAIT_SECONDS = 20.0
_TRIM_EVERY = 512


class Outcomes:
    """JSON-able values by key. Without a folder nothing is kept."""

    def __init__(self, folder: Path | None, most: int = MOST_ROWS) -> None:
        self._file = folder / "coding.sqlite" if folder else None
        self._most = most
        self._written = 0
        self.hits = 0
        self.misses = 0
        if self._file is None:
            return
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with closing(self._open()) as database:
                database.execute("PRAGMA journal_mode=WAL")
                database.execute(
                    "CREATE TABLE IF NOT EXISTS outcomes"
                    " (key TEXT PRIMARY KEY, value TEXT NOT NULL, used REAL NOT NULL)"
                )
                database.execute("CREATE INDEX IF NOT EXISTS by_use ON outcomes (used)")
        except (OSError, sqlite3.Error):
            self._file = None  # a place that cannot be written: everything is computed

    def get(self, key: str) -> Any:
        """The value kept under a key, or None."""
        found = None
        if self._file is not None:
            try:
                with closing(self._open()) as database:
                    row = database.execute(
                        "SELECT value FROM outcomes WHERE key = ?", (key,)
                    ).fetchone()
                found = _decoded(row[0]) if row else None
            except sqlite3.Error:
                found = None  # unreadable is as good as unknown
        self.hits += found is not None
        self.misses += found is None
        return found

    def put(self, key: str, value: Any) -> None:
        if self._file is None:
            return
        try:
            with closing(self._open()) as database:
                database.execute(
                    "INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?)",
                    (key, json.dumps(value), time.time()),
                )
                if self._written % _TRIM_EVERY == 0:
                    self._trim(database)
            self._written += 1
        except sqlite3.Error:
            return  # what is not kept is computed again

    def _trim(self, database: sqlite3.Connection) -> None:
        """The oldest go first. Age decides only what is kept, never what an outcome is."""
        database.execute(
            "DELETE FROM outcomes WHERE key IN (SELECT key FROM outcomes ORDER BY used DESC"
            " LIMIT -1 OFFSET ?)",
            (self._most,),
        )

    def _open(self) -> sqlite3.Connection:
        assert self._file is not None
        # One connection a call: connections must not be shared by threads or survive a fork.
        database = sqlite3.connect(self._file, timeout=_WAIT_SECONDS, isolation_level=None)
        database.execute("PRAGMA synchronous=OFF")  # what a power cut takes is computed again
        return database


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
