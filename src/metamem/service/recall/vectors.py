"""Vectors as they are kept (a byte for each dimension), and all of a scope's in memory, searched.

A large scope is searched in two steps where the embedder allows it: its first dimensions decide
which facts are looked at, and whole vectors decide how near those are.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metamem.service.recall.catalog import Flags, Floats, Ints

Bytes = NDArray[np.int8]

LEVELS = 127
WHOLE = 16_384  # facts up to which whole vectors are compared with all of them
FIRST = 64  # dimensions of the first step
LOOKED_AT = 512  # facts that the second step compares
PORTION = 4096  # rows that are multiplied at a time
TRAINED_FOR_CUTTING = ("wordllama",)  # embedders whose first dimensions are vectors of their own


def packed(rows: Floats) -> list[bytes]:
    """Each row as its scale and a byte for each dimension."""
    scales = np.abs(rows).max(axis=1, initial=0).astype("<f4")
    levels = np.rint(rows * (LEVELS / np.where(scales > 0, scales, 1))[:, None]).astype(np.int8)
    return [scale.tobytes() + level.tobytes() for scale, level in zip(scales, levels, strict=True)]


def unpacked(blobs: Sequence[bytes], dimensions: int) -> tuple[Floats, Bytes]:
    """Scales and levels of rows that were packed."""
    table = np.frombuffer(b"".join(blobs), np.uint8).reshape(len(blobs), 4 + dimensions)
    scales = np.ascontiguousarray(table[:, :4]).view("<f4").reshape(-1) / LEVELS
    return scales.astype(np.float32), table[:, 4:].view(np.int8)


class Vectors:
    """The vectors of a scope's facts by their local indices; some may be missing.

    Rows are only added or filled in, so that a search may go on meanwhile.
    """

    def __init__(self, fingerprint: str, dimensions: int) -> None:
        self.dimensions = dimensions
        self._cut = fingerprint.startswith(TRAINED_FOR_CUTTING) and dimensions > 2 * FIRST
        self._levels: Bytes = np.zeros((0, dimensions), np.int8)
        self._scales: Floats = np.zeros(0, np.float32)
        self._there: Flags = np.zeros(0, np.bool_)
        self._first: Floats | None = None
        self._count = 0

    @property
    def size(self) -> int:
        """In bytes."""
        first = 0 if self._first is None else self._first.nbytes
        return self._levels.nbytes + self._scales.nbytes + self._there.nbytes + first

    def missing(self) -> Ints:
        return np.flatnonzero(~self._there[: self._count]).astype(np.int32)

    def grow(self, count: int) -> None:
        """Make room for so many facts, whose vectors are missing at first."""
        if count > len(self._scales):
            room = max(count, len(self._scales) * 5 // 4, 64)
            self._levels = _enlarged(self._levels, room)
            self._scales = _enlarged(self._scales, room)
            self._there = _enlarged(self._there, room)
            if self._first is not None:
                self._first = _enlarged(self._first, room)
        self._count = max(self._count, count)
        if self._first is None and self._cut and self._count > WHOLE:
            self._first = np.zeros((len(self._scales), FIRST), np.float32)
            self._fill_first(np.flatnonzero(self._there).astype(np.int32))

    def fill(self, places: Ints, scales: Floats, levels: Bytes) -> None:
        self._levels[places] = levels
        self._scales[places] = scales
        if self._first is not None:
            self._fill_first(places)
        self._there[places] = True

    def forget(self, places: Ints) -> None:
        """These facts have other texts now, or are gone."""
        self._there[places] = False
        self._scales[places] = 0
        if self._first is not None:
            self._first[places] = 0

    def near(self, asked: Floats, count: int) -> Floats:
        """How near each of the first `count` facts is to a unit vector: exactly for the nearest,
        and for others not above those. Zero where the vector is missing."""
        if self._first is None or count <= WHOLE:
            return self._all(asked, count)
        start = asked[:FIRST]
        length = float(np.sqrt(np.square(start).sum())) or 1.0
        near = _products(self._first, start / np.float32(length), count)
        best = np.argpartition(near, count - LOOKED_AT)[count - LOOKED_AT :].astype(np.int32)
        exact = self.exactly(asked, best)
        np.minimum(near, exact.min(), out=near)
        near[best] = exact
        return near

    def exactly(self, asked: Floats, places: Ints) -> Floats:
        """How near these facts are."""
        near: Floats = self._levels[places].astype(np.float32) @ asked
        return near * self._scales[places]

    def _all(self, asked: Floats, count: int) -> Floats:
        return _products(self._levels, asked, count) * self._scales[:count]

    def _fill_first(self, places: Ints) -> None:
        """Unit rows of the first dimensions."""
        assert self._first is not None
        for start in range(0, len(places), PORTION):
            some = places[start : start + PORTION]
            rows = self._levels[some, :FIRST].astype(np.float32)
            lengths = np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
            self._first[some] = rows / np.where(lengths > 0, lengths, 1)


def _products(rows: Floats | Bytes, asked: Floats, count: int) -> Floats:
    """The product of each row with a vector; in portions, which spares memory and is several times
    as quick as one large product that is shared out to threads."""
    products = np.empty(count, np.float32)
    for start in range(0, count, PORTION):
        end = min(start + PORTION, count)
        products[start:end] = rows[start:end].astype(np.float32, copy=False) @ asked
    return products


def _enlarged(array: NDArray[Any], room: int) -> NDArray[Any]:
    larger = np.zeros((room, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger
