"""Choose a parent by what became of it: the performance of its whole clade.

A design's own score says little about what can be made of it; the scores of its descendants say
more (the idea of the Huxley-Gödel machine). Thompson sampling turns the doubt about a clade into
exploration: a design with few descendants has a wide posterior and is tried now and then.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metamem.core.errors import UsageError
from metamem.search.selectors.candidate import Candidate, generator, in_order


@dataclass(frozen=True, slots=True)
class CladeSelector:
    """Give it the whole archive: a lineage breaks where a design in its midst is left out."""

    least_spread: float = 0.05  # two designs are taken to differ by this much, whatever they show

    def __post_init__(self) -> None:
        if not self.least_spread > 0.0:
            raise UsageError("least_spread is above 0: without doubt there is no exploration")

    def posterior(self, candidates: Sequence[Candidate]) -> dict[str, tuple[float, float]]:
        """Mean and standard deviation of what each design's clade is worth.

        Members count by their precision, which allows for designs of one clade to differ; the
        prior is the average design, so that a clade of one lucky design is drawn towards it.
        """
        archive = in_order(candidates, 1)
        means = np.array([c.mean for c in archive])
        centre = float(means.mean())
        spread = max(self.least_spread, float(means.std()))
        precisions = 1.0 / (np.array([c.se for c in archive]) ** 2 + spread**2)
        prior = 1.0 / spread**2
        found: dict[str, tuple[float, float]] = {}
        for candidate, clade in zip(archive, _clades(archive), strict=True):
            weight = prior + float(precisions[clade].sum())
            pull = float((precisions[clade] * (means[clade] - centre)).sum())
            found[candidate.id] = (centre + pull / weight, 1.0 / math.sqrt(weight))
        return found

    def select(
        self, candidates: Sequence[Candidate], k: int, *, reference: float, seed: int
    ) -> list[str]:
        archive = in_order(candidates, k)
        beliefs = self.posterior(archive)
        names = [c.id for c in archive]
        centres = np.array([beliefs[name][0] for name in names])
        doubts = np.array([beliefs[name][1] for name in names])
        random = generator("clade", seed)
        chosen: list[int] = []
        while len(chosen) < min(k, len(archive)):
            draw = random.normal(centres, doubts)  # a fresh belief for each parent
            draw[chosen] = -math.inf
            chosen.append(int(draw.argmax()))
        return [names[i] for i in chosen]


def _clades(archive: Sequence[Candidate]) -> list[list[int]]:
    """For each candidate the positions of itself and all its descendants, each once."""
    position = {c.id: i for i, c in enumerate(archive)}
    children: list[list[int]] = [[] for _ in archive]
    for i, candidate in enumerate(archive):
        for parent in dict.fromkeys(candidate.parents):
            if parent in position:
                children[position[parent]].append(i)
    clades = []
    for start in range(len(archive)):
        seen, front = {start}, [start]
        while front:
            for child in children[front.pop()]:
                if child not in seen:
                    seen.add(child)
                    front.append(child)
        clades.append(sorted(seen))
    return clades
