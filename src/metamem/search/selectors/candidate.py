"""What a selector sees of a design, and what it must do."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from metamem.core.errors import UsageError
from metamem.core.ids import derive_seed


@dataclass(frozen=True, slots=True)
class Candidate:
    """One design of the archive, as the search knows it from train."""

    id: str
    parents: tuple[str, ...]
    mean: float  # reward: of all tasks, or an unbiased estimate where the design was raced out
    se: float
    visits: int  # how often it was chosen as a parent
    order: int  # when it entered the archive
    advice_tokens: float
    model_calls: float
    complete: bool
    steps: float = 0.0  # actions a case took, on average
    doubt: float = 0.0  # as `se`, without what makes tasks easy or hard for all designs alike
    # Mean reward and tasks played, by what kind of task they are reported under.
    by_kind: Mapping[str, tuple[float, int]] = field(default_factory=dict)


class Selector(Protocol):
    """Chooses parents. A pure function of its input and the seed: nothing is kept in between."""

    def select(
        self, candidates: Sequence[Candidate], k: int, *, reference: float, seed: int
    ) -> list[str]:
        """Ids of up to k different designs. `reference` is the reward without memory."""
        ...


def in_order(candidates: Sequence[Candidate], k: int) -> list[Candidate]:
    """The candidates in archive order, whatever order they came in; refuses what cannot be used."""
    if not candidates:
        raise UsageError("there is no design to select from", hint="the archive is empty")
    if k < 1:
        raise UsageError(f"a selector is asked for at least 1 design, not {k}")
    if len({c.id for c in candidates}) != len(candidates):
        raise UsageError("a design is among the candidates twice")
    for candidate in candidates:
        if not (math.isfinite(candidate.mean) and math.isfinite(candidate.se)):
            raise UsageError(f"design {candidate.id} has no score", hint="evaluate it first")
        if candidate.se < 0.0 or candidate.doubt < 0.0 or candidate.visits < 0:
            raise UsageError(f"design {candidate.id} has a negative error or visit count")
    return sorted(candidates, key=lambda c: (c.order, c.id))


def generator(name: str, seed: int) -> np.random.Generator:
    return np.random.default_rng(derive_seed("selector", name, seed))
