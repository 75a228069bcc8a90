"""One index as a database: files, pieces, terms and vectors. A file is in it whole or not at all."""

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from metamem.core.errors import DataError
from metamem.knowledge.place import FILE
from metamem.knowledge.reading import Read
from metamem.store.engine import Execute
from metamem.store.sqlite_connection import Connection
from metamem.store.sqlite_errors import BUSY_SECONDS

FORMAT = 1
_AT_ONCE = 500  # rows in one statement
_APART = "\0"  # between the texts of a file's pieces
_TABLES = """
CREATE TABLE IF NOT EXISTS about (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS roots (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS files (
    id INTEGER PRIMARY KEY, root INTEGER NOT NULL, path TEXT NOT NULL, size INTEGER NOT NULL,
    changed INTEGER NOT NULL, digest BLOB NOT NULL, left_out TEXT NOT NULL, language TEXT NOT NULL,
    secrets INTEGER NOT NULL, lines INTEGER NOT NULL, texts BLOB, terms BLOB, vectors BLOB,
    UNIQUE (root, path));
CREATE TABLE IF NOT EXISTS pieces (
    id INTEGER PRIMARY KEY AUTOINCREMENT, file INTEGER NOT NULL, number INTEGER NOT NULL,
    kind TEXT NOT NULL, name TEXT NOT NULL, within TEXT NOT NULL, line INTEGER NOT NULL,
    until INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS pieces_of ON pieces (file, number);
CREATE INDEX IF NOT EXISTS pieces_named ON pieces (name COLLATE NOCASE);
CREATE TABLE IF NOT EXISTS terms (id INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE);
"""
Numbers = NDArray[np.uint32]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Known:
    """A file as it is indexed."""

    id: int
    size: int
    changed: int
    digest: bytes


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Which terms stand in which fields of a file's pieces: a row each."""

    terms: Numbers  # number of the term * 8 + field
    places: Numbers  # of the piece in the file
    times: NDArray[np.uint8]


class Database:
    """The file of an index. Readers see one state of it for as long as a block lasts."""

    def __init__(self, folder: Path, *, create: bool = False) -> None:
        self._connection = Connection(
            folder / FILE, "rwc" if create else "rw", wait=BUSY_SECONDS, reads_only=not create
        )
        self._numbers: dict[str, int] = {}
        try:
            self._begin(folder, create)
        except DataError as error:
            self.close()
            raise DataError(
                f"the index {folder.name} cannot be read ({error.message})",
                hint=f"metamem knowledge forget {folder.name}, and index anew",
            ) from error
        except BaseException:
            self.close()
            raise

    def _begin(self, folder: Path, create: bool) -> None:
        if create:
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            for statement in _TABLES.split(";"):
                if statement.strip():
                    self._connection.execute(statement)
            (folder / FILE).chmod(0o600)
            with self.writing() as execute:
                execute("INSERT OR IGNORE INTO about VALUES ('format', ?)", (str(FORMAT),))
        if self.about("format") != str(FORMAT):
            raise DataError("another version of metamem made it")

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> "Database":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def about(self, key: str, otherwise: str = "") -> str:
        found = self._connection.execute("SELECT value FROM about WHERE key = ?", (key,))
        return str(found[0][0]) if found else otherwise

    @property
    def generation(self) -> int:
        """Grows with every change."""
        return int(self.about("generation", "0"))

    def execute(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._connection.execute(statement, values)

    @contextmanager
    def reading(self) -> Iterator[Execute]:
        with self._connection.transaction("BEGIN") as execute:
            yield execute

    @contextmanager
    def writing(self) -> Iterator[Execute]:
        """All of the block or nothing."""
        with self._connection.transaction("BEGIN IMMEDIATE") as execute:
            yield execute
            _set(execute, "generation", str(self.generation + 1))

    # --- files -------------------------------------------------------------------------------

    def roots(self) -> dict[int, Path]:
        found = self.execute("SELECT id, path FROM roots ORDER BY id")
        return {number: Path(path) for number, path in found}

    def known(self, root: int) -> dict[str, Known]:
        found = self.execute(
            "SELECT path, id, size, changed, digest FROM files WHERE root = ?", (root,)
        )
        return {path: Known(*rest) for path, *rest in found}

    def put(self, root: int, files: Iterable[Read]) -> None:
        """Take files as they were read, in the place of what was known of them."""
        taken = list(files)
        try:
            with self.writing() as execute:
                self._number(execute, taken)
                for file in taken:
                    self._drop(execute, root, file.path)
                    self._add(execute, root, file)
        except BaseException:
            self._numbers.clear()  # some were given in what is undone now
            raise

    def touch(self, root: int, files: Iterable[Read]) -> None:
        """Files that were written to and are the same all the same."""
        with self.writing() as execute:
            for file in files:
                execute(
                    "UPDATE files SET size = ?, changed = ? WHERE root = ? AND path = ?",
                    (file.size, file.changed, root, file.path),
                )

    def drop(self, root: int, paths: Iterable[str]) -> None:
        with self.writing() as execute:
            for path in paths:
                self._drop(execute, root, path)

    def _drop(self, execute: Execute, root: int, path: str) -> None:
        for (number,) in execute("SELECT id FROM files WHERE root = ? AND path = ?", (root, path)):
            execute("DELETE FROM pieces WHERE file = ?", (number,))
            execute("DELETE FROM files WHERE id = ?", (number,))

    def _add(self, execute: Execute, root: int, file: Read) -> None:
        texts = zlib.compress(
            _APART.join(p.text.replace(_APART, " ") for p in file.pieces).encode(
                "utf-8", "replace"
            ),
            1,
        )
        local = np.frombuffer(file.terms, np.uint32)
        numbers = np.array([self._numbers[term] for term in file.vocabulary], np.uint32)
        terms = numbers[local >> 3] * 8 + (local & 7) if len(local) else local
        packed = zlib.compress(terms.astype(np.uint32).tobytes() + file.places + file.times, 1)
        rows = execute(
            "INSERT INTO files (root, path, size, changed, digest, left_out, language, secrets, lines,"
            " texts, terms, vectors) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
            (
                *(root, file.path, file.size, file.changed, file.digest, file.left),
                *(file.language, file.secrets, max((p.end for p in file.pieces), default=0)),
                *(texts, packed, file.vectors or None),
            ),
        )
        for part in _parts(enumerate(file.pieces)):
            execute(
                "INSERT INTO pieces (file, number, kind, name, within, line, until)"
                f" VALUES {', '.join(['(?, ?, ?, ?, ?, ?, ?)'] * len(part))}",
                [
                    value
                    for number, p in part
                    for value in (rows[0][0], number, p.kind, p.name, p.within, p.line, p.end)
                ],
            )

    def _number(self, execute: Execute, files: Iterable[Read]) -> None:
        """Know the numbers of all terms of some files; those that are new get one."""
        unknown = {t: None for f in files for t in f.vocabulary if t not in self._numbers}
        for part in _parts(unknown):
            marks = ", ".join("?" * len(part))
            self._numbers |= execute(f"SELECT term, id FROM terms WHERE term IN ({marks})", part)
            fresh = [term for term in part if term not in self._numbers]
            if fresh:
                marks = ", ".join(["(?)"] * len(fresh))
                self._numbers |= execute(
                    f"INSERT INTO terms (term) VALUES {marks} RETURNING term, id", fresh
                )

    # --- what was taken ----------------------------------------------------------------------

    def numbers(self, terms: Iterable[str]) -> dict[str, int]:
        """The numbers of those terms that stand anywhere."""
        found = {}
        for term in terms:
            rows = self.execute("SELECT id FROM terms WHERE term = ?", (term,))
            if rows:
                found[term] = int(rows[0][0])
        return found

    def texts(self, file: int) -> list[str]:
        rows = self.execute("SELECT texts FROM files WHERE id = ?", (file,))
        return unpacked_texts(rows[0][0]) if rows else []


def _parts(rows: Iterable[T]) -> Iterator[list[T]]:
    """As many as one statement takes at once."""
    left = iter(rows)
    while part := list(islice(left, _AT_ONCE)):
        yield part


def unpacked_texts(packed: bytes) -> list[str]:
    try:
        return zlib.decompress(packed).decode().split(_APART)
    except (zlib.error, UnicodeDecodeError) as error:
        raise DataError(f"a text of the index is damaged: {error}", hint="index anew") from error


def unpacked_terms(packed: bytes) -> Occurrences:
    try:
        content = zlib.decompress(packed)
    except zlib.error as error:
        raise DataError(f"the terms of a file are damaged: {error}", hint="index anew") from error
    rows = len(content) // 9
    return Occurrences(
        np.frombuffer(content, np.uint32, rows),
        np.frombuffer(content, np.uint32, rows, 4 * rows),
        np.frombuffer(content, np.uint8, rows, 8 * rows),
    )


def packed_vectors(rows: NDArray[np.float32]) -> bytes:
    """A row a piece, after how many numbers each has; half as precise, which no search can tell."""
    return np.uint32(rows.shape[1]).tobytes() + rows.astype(np.float16).tobytes()


def unpacked_vectors(packed: bytes) -> NDArray[np.float32]:
    dimensions = int(np.frombuffer(packed, np.uint32, 1)[0])
    rows = np.frombuffer(packed, np.float16, offset=4).reshape(-1, max(dimensions, 1))
    return rows.astype(np.float32)


def _set(execute: Execute, key: str, value: str) -> None:
    execute("INSERT OR REPLACE INTO about (key, value) VALUES (?, ?)", (key, value))


def set_about(execute: Execute, values: Mapping[str, str]) -> None:
    for key, value in values.items():
        _set(execute, key, value)
