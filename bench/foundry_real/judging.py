"""Samples to be judged by hand, and what the judgements say.

A file of judgements holds `id,verdict,reason` a line; `right` and `wrong` are the verdicts. Ids come of the
place in the recorded sessions and of what was found there: what is found again keeps its judgement.
"""

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from metamem.evaluation.statistics.binomial import binomial_lower_bound


@dataclass(frozen=True, slots=True)
class Precision:
    """How many of those that were judged are right, with the exact interval of 95 %."""

    right: int
    judged: int

    @property
    def interval(self) -> tuple[float, float]:
        wrong = self.judged - self.right
        low = binomial_lower_bound(self.right, self.judged, 0.025)
        return low, 1.0 - binomial_lower_bound(wrong, self.judged, 0.025)

    @property
    def text(self) -> str:
        if not self.judged:
            return "none judged"
        low, high = self.interval
        share = self.right / self.judged
        return f"{self.right} of {self.judged} right: {share:.2f} [{low:.2f}, {high:.2f}]"


def sampled(ids: Iterable[str], seed: int, most: int = 50) -> list[str]:
    """So many of them by chance, the same ones for one seed."""
    known = sorted(set(ids))
    return Random(seed).sample(known, min(most, len(known)))


def read_judged(path: Path) -> dict[str, tuple[str, str]]:
    with path.open(newline="") as file:
        return {row["id"]: (row["verdict"], row["reason"]) for row in csv.DictReader(file)}


def precision(ids: Sequence[str], judged: dict[str, tuple[str, str]]) -> Precision:
    verdicts = [judged[one][0] for one in ids if one in judged]
    return Precision(verdicts.count("right"), len(verdicts))


def reasons(ids: Sequence[str], judged: dict[str, tuple[str, str]]) -> Counter[str]:
    """Why those that are wrong are so."""
    return Counter(judged[one][1] for one in ids if one in judged and judged[one][0] == "wrong")
