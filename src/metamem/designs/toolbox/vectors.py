"""Search by meaning: exact cosine similarity over embeddings held in memory."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metamem.designs.toolbox.hit import Hit

Embed = Callable[[Sequence[str]], Awaitable[NDArray[np.float32]]]


class Vectors:
    """Texts found by meaning; equal scores keep insertion order.

    New texts are embedded together, at the next search or when the update ends, whichever is
    first: one question to the host in place of one for each text.
    """

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self._entries: list[tuple[str, Any]] = []
        self._matrix: NDArray[np.float32] | None = None  # rows with room to grow
        self._embedded = 0  # how many entries have their row
        self._removals = 0  # so that an embedding that was under way knows its rows moved

    def __len__(self) -> int:
        return len(self._entries)

    async def add(self, text: str, payload: Any = None) -> None:
        if not isinstance(text, str):
            raise TypeError(f"a text is needed, not {type(text).__name__}")
        self._entries.append((text, payload))

    async def search(self, text: str, k: int = 5, floor: float = 0.0) -> list[Hit]:
        """The k entries most like the text, none below the floor."""
        if k <= 0 or not self._entries:
            return []
        await self.flush()
        assert self._matrix is not None
        query = (await self._embed([text]))[0]
        # Rounded, so that the order of equal texts never hangs on the last bit of a sum.
        scores = np.round((self._matrix[: self._embedded] @ query).astype(np.float64), 6)
        order = np.argsort(-scores, kind="stable")[:k]
        return [Hit(float(scores[i]), *self._entries[i]) for i in order if scores[i] >= floor]

    def remove(self, predicate: Callable[[Hit], Any]) -> int:
        """Drop the entries for which the predicate holds (its score is 0); returns how many."""
        keep = [
            i
            for i, (text, payload) in enumerate(self._entries)
            if not predicate(Hit(0.0, text, payload))
        ]
        gone = len(self._entries) - len(keep)
        if gone:
            self._removals += 1
            self._entries = [self._entries[i] for i in keep]
            rows = [i for i in keep if i < self._embedded]
            if self._matrix is not None:
                self._matrix = self._matrix[rows]
            self._embedded = len(rows)
        return gone

    async def flush(self) -> None:
        """Embed what has been added since the last time."""
        while self._embedded < len(self._entries):
            start, removals = self._embedded, self._removals
            rows = await self._embed([text for text, _ in self._entries[start:]])
            if (start, removals) != (self._embedded, self._removals):
                continue  # something else ran while this one waited: look again
            self._reserve(start + len(rows), rows.shape[1])
            assert self._matrix is not None
            self._matrix[start : start + len(rows)] = rows
            self._embedded = start + len(rows)

    def _reserve(self, rows: int, width: int) -> None:
        have = 0 if self._matrix is None else len(self._matrix)
        if have < rows:
            grown = np.zeros((max(rows, 2 * have, 16), width), dtype=np.float32)
            if self._matrix is not None:
                grown[: self._embedded] = self._matrix[: self._embedded]
            self._matrix = grown
