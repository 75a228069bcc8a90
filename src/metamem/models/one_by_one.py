"""What the embedders with a network inside have in common."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from metamem.core.errors import UsageError

CHARACTERS = 8000  # of a text that are embedded: time grows with length


class OneByOne(ABC):
    """Embeds each text alone: in a batch, the last bits of a row would depend on its neighbours."""

    dimensions: int

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if isinstance(texts, str):
            raise UsageError("embed takes a list of texts, not one text")
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            whole = text[:CHARACTERS].encode("utf-8", "replace").decode("utf-8")  # lone surrogates
            if whole.strip():
                found = self._vector(whole).astype(np.float64)
                row[:] = found / np.linalg.norm(found)
        return rows

    @abstractmethod
    def _vector(self, text: str) -> NDArray[np.float32]:
        """The vector of a text that is not empty, of any length but zero."""
