"""Sums of many small decision trees, trained elsewhere and kept as plain numbers.

The trees lie as flat arrays, so that nothing but numpy is needed. All rows go down all trees at
once, a level at a time.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Trees:
    """Nodes of all trees in one row; a leaf leads to itself, so that short ways end there."""

    roots: Ints
    feature: Ints
    threshold: Floats  # a row goes left where its value is not above it
    left: Ints
    right: Ints
    value: Floats  # of a leaf
    depth: int

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> "Trees":
        return cls(
            np.array(content["roots"], np.int32),
            np.array(content["feature"], np.int32),
            np.array(content["threshold"], np.float32),
            np.array(content["left"], np.int32),
            np.array(content["right"], np.int32),
            np.array(content["value"], np.float32),
            int(content["depth"]),
        )

    def sum(self, rows: Floats) -> Floats:
        flat, start = rows.ravel(), np.arange(len(rows))[:, None] * rows.shape[1]
        at = np.repeat(self.roots[None, :], len(rows), axis=0)
        for _ in range(self.depth):
            values = flat.take(start + self.feature.take(at))
            left = values <= self.threshold.take(at)
            at = np.where(left, self.left.take(at), self.right.take(at))
        summed: Floats = self.value.take(at).sum(axis=1, dtype=np.float64).astype(np.float32)
        return summed
