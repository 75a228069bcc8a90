"""ALMA's parent selection, with a seed that is really used."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metamem.core.errors import UsageError
from metamem.search.selectors.candidate import Candidate, generator, in_order


def _sigmoid(x: float) -> float:
    return 0.5 * (1.0 + math.tanh(0.5 * x))  # this form cannot overflow


@dataclass(frozen=True, slots=True)
class AlmaSelector:
    """Softmax over reward above the reference, less a penalty for earlier visits.

    With ALMA's settings this is close to "least visited first": the whole range of rewards is
    worth a factor of 1.6, one earlier visit a factor of 2.
    """

    slope: float = 1.0  # lambda in ALMA
    alpha: float = 0.5
    tau: float = 0.5

    def __post_init__(self) -> None:
        if not self.tau > 0.0:
            raise UsageError(f"tau is a temperature above 0, not {self.tau}")

    def score(self, candidate: Candidate, reference: float) -> float:
        normalised = _sigmoid(self.slope * (candidate.mean - reference))
        return normalised - self.alpha * math.log1p(candidate.visits)

    def _logits(self, archive: list[Candidate], reference: float) -> npt.NDArray[np.float64]:
        return np.array([self.score(c, reference) / self.tau for c in archive])

    def chances(self, candidates: Sequence[Candidate], reference: float) -> dict[str, float]:
        """The chance of each design to be drawn first."""
        archive = in_order(candidates, 1)
        logits = self._logits(archive, reference)
        weights = np.exp(logits - logits.max())
        return dict(zip((c.id for c in archive), (weights / weights.sum()).tolist(), strict=True))

    def select(
        self, candidates: Sequence[Candidate], k: int, *, reference: float, seed: int
    ) -> list[str]:
        archive = in_order(candidates, k)
        logits = self._logits(archive, reference)
        # The k largest of logits + Gumbel noise are k softmax draws without replacement.
        noisy = logits + generator("alma", seed).gumbel(size=logits.size)
        return [archive[i].id for i in np.argsort(-noisy, kind="stable")[:k]]
