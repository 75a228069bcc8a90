"""Texts come back again and again (goals, observations): embed each once."""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from metamem.core.errors import UsageError
from metamem.core.protocols import Embedder

DEFAULT_SIZE = 16384  # about 16 MB of 256-dimensional rows


class CachedEmbedder:
    """An embedder that remembers the last `size` texts. Same vectors, same fingerprint."""

    def __init__(self, embedder: Embedder, size: int = DEFAULT_SIZE) -> None:
        if size < 1:
            raise UsageError(f"an embedding cache holds at least one text, not {size}")
        self._embedder = embedder
        self._size = size
        self._rows: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._lock = Lock()
        self.hits = 0
        self.misses = 0

    @property
    def fingerprint(self) -> str:
        return self._embedder.fingerprint

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if isinstance(texts, str):
            raise UsageError("embed takes a list of texts, not one text")
        result = np.empty((len(texts), self.dimensions), dtype=np.float32)
        missing: dict[str, list[int]] = {}
        with self._lock:
            for i, text in enumerate(texts):
                row = self._rows.get(text)
                if row is None:
                    missing.setdefault(text, []).append(i)
                else:
                    self._rows.move_to_end(text)
                    result[i] = row
            self.hits += len(texts) - sum(map(len, missing.values()))
            self.misses += len(missing)
        if missing:
            for (text, places), row in zip(
                missing.items(), self._embedder.embed(list(missing)), strict=True
            ):
                result[places] = row
                with self._lock:
                    self._rows[text] = row.copy()  # a copy: not a view that keeps the batch alive
            with self._lock:
                while len(self._rows) > self._size:
                    self._rows.popitem(last=False)
        return result
