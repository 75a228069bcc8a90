"""What a search looks at: the postings of all terms and all vectors, as arrays mapped from files.

A snapshot is made of one state of the database and named after it; a newer one takes its place. It
can be made anew at any time.
"""

import json
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metamem.core.errors import StoreError
from metamem.knowledge.database import Database, unpacked_terms, unpacked_vectors
from metamem.knowledge.pieces import KINDS
from metamem.knowledge.words import FIELDS

FORMAT = 1  # a change of it, or of what stands below, makes every snapshot anew
_PREFIX = "search-"
# How much a word counts in each field, and how much a long field makes it count less.
WEIGHTS = np.array([5.0, 2.0, 2.0, 1.0, 1.2, 1.0, 2.0], np.float32)
SHORTENS = np.array([0.3, 0.3, 0.5, 0.7, 0.7, 0.7, 0.7], np.float32)
SATURATES = np.float32(1.5)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Pieces are rows; the postings of term t are from starts[t] to starts[t + 1]."""

    ids: NDArray[np.int64]
    files: NDArray[np.int64]
    kinds: NDArray[np.uint8]
    lengths: NDArray[np.float32]  # words in each field of each piece
    starts: NDArray[np.int64]
    rows: NDArray[np.uint32]
    weights: NDArray[np.float16]  # what an occurrence is worth, before the rarity of its term
    fields: NDArray[np.uint8]  # a bit for each field in which it stands
    vectors: NDArray[np.float32]  # of all pieces, or of none
    embedder: str

    def __len__(self) -> int:
        return len(self.ids)


def opened(folder: Path, database: Database) -> Snapshot:
    """The snapshot of a database as it is now; made, and kept where that is possible."""
    generation = database.generation
    place = folder / f"{_PREFIX}{FORMAT}-{generation}"
    if not place.is_dir():
        made, generation = _made(database)
        place = folder / f"{_PREFIX}{FORMAT}-{generation}"
        try:
            _kept(made, folder, place)
        except (
            OSError
        ):  # not ours to write to, or the disk is full: this search has it all the same
            return made
    try:
        return _mapped(place)
    except (OSError, ValueError, KeyError) as error:
        shutil.rmtree(place, ignore_errors=True)
        raise StoreError(
            f"{place} was damaged ({error}) and is removed", hint="ask again: it is made anew"
        ) from error


def _mapped(place: Path) -> Snapshot:
    about = json.loads((place / "about.json").read_text(encoding="utf-8"))
    arrays: dict[str, Any] = {
        name: np.load(place / f"{name}.npy", mmap_mode="r") for name in about["arrays"]
    }
    return Snapshot(**arrays, embedder=about["embedder"])


def _kept(made: Snapshot, folder: Path, place: Path) -> None:
    fresh = Path(tempfile.mkdtemp(prefix=f".{_PREFIX}", dir=folder))
    try:
        names = [name for name in Snapshot.__slots__ if name != "embedder"]
        for name in names:
            np.save(fresh / f"{name}.npy", getattr(made, name))
        about = {"arrays": names, "embedder": made.embedder}
        (fresh / "about.json").write_text(json.dumps(about), encoding="utf-8")
        fresh.rename(place)
    except OSError:
        shutil.rmtree(fresh, ignore_errors=True)
        if not place.is_dir():  # else another process was as quick
            raise
    for old in [*folder.glob(f"{_PREFIX}*"), *folder.glob(f".{_PREFIX}*")]:
        if old != place:
            shutil.rmtree(old, ignore_errors=True)


def _made(database: Database) -> tuple[Snapshot, int]:
    with database.reading() as execute:
        generation = database.generation
        embedder = database.about("embedder")
        pieces = execute("SELECT p.id, p.file, p.kind FROM pieces p ORDER BY p.file, p.number")
        last = execute("SELECT coalesce(max(id), 0) FROM terms")[0][0]
        ids = np.array([p[0] for p in pieces], np.int64)
        files = np.array([p[1] for p in pieces], np.int64)
        kinds = np.array([KINDS.index(p[2]) for p in pieces], np.uint8)
        del pieces
        numbers, firsts = np.unique(files, return_index=True)
        first = dict(zip(numbers.tolist(), firsts.tolist(), strict=True))
        keys, rows, times = _occurrences(execute, first)
        vectors = _vectors(execute, first, len(ids)) if embedder else np.zeros((0, 0), np.float32)
    terms, field = keys >> np.uint32(3), (keys & np.uint32(7)).astype(np.uint8)
    lengths = np.zeros((len(ids), len(FIELDS)), np.float32)
    np.add.at(lengths, (rows, field), times.astype(np.float32))
    mean = lengths.sum(0) / np.maximum((lengths > 0).sum(0), 1)
    norm = 1 - SHORTENS[field] + SHORTENS[field] * lengths[rows, field] / np.maximum(mean[field], 1)
    worth = (WEIGHTS[field] * times / norm).astype(np.float32)
    # One posting for a term in a piece, whatever the fields.
    order = np.lexsort((rows, terms))
    terms, rows, worth, field = terms[order], rows[order], worth[order], field[order]
    new = np.ones(len(terms), np.bool_)
    new[1:] = (terms[1:] != terms[:-1]) | (rows[1:] != rows[:-1])
    at = np.flatnonzero(new)
    if len(at):
        worth = np.add.reduceat(worth, at)
        bits = np.bitwise_or.reduceat(np.left_shift(np.uint8(1), field), at)
    else:
        worth, bits = worth[:0], field[:0]
    starts = np.searchsorted(terms[at], np.arange(last + 2)).astype(np.int64)
    made = Snapshot(
        ids=ids,
        files=files,
        kinds=kinds,
        lengths=lengths,
        starts=starts,
        rows=rows[at].astype(np.uint32),
        weights=(worth / (SATURATES + worth)).astype(np.float16),
        fields=bits.astype(np.uint8),
        vectors=vectors,
        embedder=embedder if len(vectors) else "",
    )
    return made, generation


def _occurrences(
    execute: Any, first: dict[int, int]
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint8]]:
    keys, rows, times = [np.zeros(0, np.uint32)], [np.zeros(0, np.uint32)], [np.zeros(0, np.uint8)]
    for file, packed in _column(execute, "terms"):
        if file in first:
            found = unpacked_terms(packed)
            keys.append(found.terms)
            rows.append(found.places + np.uint32(first[file]))
            times.append(found.times)
    return np.concatenate(keys), np.concatenate(rows), np.concatenate(times)


def _vectors(execute: Any, first: dict[int, int], count: int) -> NDArray[np.float32]:
    """A row for each piece; none at all while some are still to be made."""
    made, seen = np.zeros((0, 0), np.float32), 0
    for file, packed in _column(execute, "vectors"):
        if file in first:
            rows = unpacked_vectors(packed)
            if not seen:
                made = np.zeros((count, rows.shape[1]), np.float32)
            made[first[file] : first[file] + len(rows)] = rows
            seen += len(rows)
    return made if seen == count else made[:0]


def _column(execute: Any, column: str) -> Iterator[tuple[int, bytes]]:
    """A column of all files, some at a time."""
    after = 0
    while True:
        found = execute(
            f"SELECT id, {column} FROM files WHERE id > ? AND {column} IS NOT NULL ORDER BY id LIMIT 256",
            (after,),
        )
        if not found:
            return
        yield from found
        after = found[-1][0]
