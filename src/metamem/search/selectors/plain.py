"""The two simplest selectors: always the best, and anyone."""

from collections.abc import Sequence
from dataclasses import dataclass

from metamem.core.errors import UsageError
from metamem.search.selectors.candidate import Candidate, generator, in_order


@dataclass(frozen=True, slots=True)
class GreedySelector:
    """The k highest rewards.

    Of equals, the one that needs fewer actions: many changes leave the reward as it is, and speed
    tells which of them go the right way. Then the one that was less often a parent. `most` bounds how
    many different ones become parents at a time.
    """

    most: int = 0  # 0: as many as are asked for

    def __post_init__(self) -> None:
        if self.most < 0:
            raise UsageError(f"at most {self.most} parents are none", hint="0 means any number")

    def select(
        self, candidates: Sequence[Candidate], k: int, *, reference: float, seed: int
    ) -> list[str]:
        ranked = sorted(in_order(candidates, k), key=lambda c: (-c.mean, c.steps, c.visits))
        return [c.id for c in ranked[: min(k, self.most or k)]]


@dataclass(frozen=True, slots=True)
class UniformSelector:
    """Any k, with equal chances: the control that other selectors are compared with."""

    def select(
        self, candidates: Sequence[Candidate], k: int, *, reference: float, seed: int
    ) -> list[str]:
        archive = in_order(candidates, k)
        return [archive[i].id for i in generator("uniform", seed).permutation(len(archive))[:k]]
