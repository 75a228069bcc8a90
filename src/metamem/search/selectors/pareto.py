"""Keep every good compromise between reward, advice tokens and model calls in play.

Only exact columns count: a clock's readings differ from run to run and would make the choice of
parents a matter of the machine.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from metamem.search.selectors.candidate import Candidate, generator, in_order


def costs(candidates: Sequence[Candidate]) -> npt.NDArray[np.float64]:
    """A row for each candidate: what to make small."""
    return np.array([(-c.mean, c.advice_tokens, c.model_calls) for c in candidates])


def fronts(candidates: Sequence[Candidate]) -> Iterator[list[Candidate]]:
    """Those that no other dominates (nowhere worse, somewhere better); then, without these, again."""
    left = list(candidates)
    while left:
        table = costs(left)
        dominated = [
            bool(((table <= row).all(axis=1) & (table < row).any(axis=1)).any()) for row in table
        ]
        yield [c for c, worse in zip(left, dominated, strict=True) if not worse]
        left = [c for c, worse in zip(left, dominated, strict=True) if worse]


def crowding(front: Sequence[Candidate]) -> list[float]:
    """How far apart each one's neighbours are; infinite at either end of a column."""
    table = costs(front)
    distance = np.zeros(len(front))
    for column in table.T:
        span = float(column.max() - column.min())
        if span == 0.0:
            continue
        ranked = np.argsort(column, kind="stable")
        distance[ranked[[0, -1]]] = math.inf
        distance[ranked[1:-1]] += (column[ranked[2:]] - column[ranked[:-2]]) / span
    return [float(d) for d in distance]


@dataclass(frozen=True, slots=True)
class ParetoSelector:
    """Any of the best compromises with equal chances; then the next best, least crowded first.

    A design that was raced out has only an estimate, so it waits until the complete ones are used
    up.
    """

    def select(
        self, candidates: Sequence[Candidate], k: int, *, reference: float, seed: int
    ) -> list[str]:
        archive = in_order(candidates, k)
        random = generator("pareto", seed)
        chosen: list[Candidate] = []
        ranked = chain(
            fronts([c for c in archive if c.complete]),
            fronts([c for c in archive if not c.complete]),
        )
        for rank, front in enumerate(ranked):
            shuffled = [front[i] for i in random.permutation(len(front))]
            if rank > 0:  # stable: equally crowded ones keep their random order
                room = dict(zip((c.id for c in shuffled), crowding(shuffled), strict=True))
                shuffled.sort(key=lambda c: -room[c.id])
            chosen += shuffled
            if len(chosen) >= k:
                break
        return [c.id for c in chosen[:k]]
