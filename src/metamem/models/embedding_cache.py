"""Texts come back again and again (goals, observations): embed each once."""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from metamem.core.errors import UsageError
from metamem.core.protocols import Embedder

DEFAULT_SIZE = 16384  # about 16 MB of 256-dimensional rows


class RowCache:
    """The rows of the last `size` texts. Safe to share between threads."""

    def __init__(self, size: int) -> None:
        if size < 1:
            raise UsageError(f"an embedding cache holds at least one text, not {size}")
        self._size = size
        self._rows: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._lock = Lock()
        self.hits = 0
        self.misses = 0

    def known(self, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The rows that are here; they are now the most recent."""
        found = {}
        with self._lock:
            for text in texts:
                row = self._rows.get(text)
                if row is not None:
                    self._rows.move_to_end(text)
                    self.hits += 1
                    found[text] = row
            if len(found) < len(texts):
                self.misses += len(set(texts)) - len(found)
        return found

    def keep(self, texts: Sequence[str], rows: NDArray[np.float32]) -> None:
        with self._lock:
            for text, row in zip(texts, rows, strict=True):
                self._rows[text] = row.copy()  # a copy: not a view that keeps the batch alive
            while len(self._rows) > self._size:
                self._rows.popitem(last=False)


def in_order(texts: Sequence[str], rows: dict[str, NDArray[np.float32]]) -> NDArray[np.float32]:
    """One array of copies, a row for each text. There is at least one text."""
    result = np.empty((len(texts), len(rows[texts[0]])), dtype=np.float32)
    for i, text in enumerate(texts):
        result[i] = rows[text]
    return result


class CachedEmbedder:
    """An embedder that remembers the last `size` texts. Same vectors, same fingerprint."""

    def __init__(self, embedder: Embedder, size: int = DEFAULT_SIZE) -> None:
        self._embedder = embedder
        self._cache = RowCache(size)

    @property
    def fingerprint(self) -> str:
        return self._embedder.fingerprint

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    @property
    def hits(self) -> int:
        return self._cache.hits

    @property
    def misses(self) -> int:
        return self._cache.misses

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if isinstance(texts, str):
            raise UsageError("embed takes a list of texts, not one text")
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        rows = self._cache.known(texts)
        missing = [text for text in dict.fromkeys(texts) if text not in rows]
        if missing:
            made = self._embedder.embed(missing)
            self._cache.keep(missing, made)
            rows |= dict(zip(missing, made, strict=True))
        return in_order(texts, rows)
