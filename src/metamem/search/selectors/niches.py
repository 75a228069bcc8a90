"""Parents by what is believed of them, and the best of each kind of task.

A design is believed to be worth what its parent is worth, give or take a step, until its own tasks
say otherwise: so a lucky child of a mediocre family is drawn towards its family, and one good child
speaks for the others. The doubt that is left decides how often a design gets another chance
(Thompson sampling). Every second parent is the best at some kind of task where the best of all
falls short: its parts are what the best of all lacks.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metamem.core.errors import UsageError
from metamem.search.selectors.candidate import Candidate, generator, in_order

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class NichesSelector:
    """Give it the whole archive: a lineage breaks where a design in its midst is left out."""

    root: float = 0.2  # how far designs without a parent are apart
    step: float = 0.07  # how far a child typically is from its parent
    few: float = 8.0  # tasks of a kind that prove as much as all that is believed of a design

    def __post_init__(self) -> None:
        if not (self.root > 0.0 and self.step > 0.0 and self.few > 0.0):
            raise UsageError(
                "root, step and few are above 0: without doubt there is no exploration"
            )

    def beliefs(self, archive: Sequence[Candidate]) -> tuple[Floats, Floats]:
        """What each design is worth in mean, and how these beliefs vary together."""
        means = np.array([c.mean for c in archive])
        # A design whose tasks all ended alike still is one that few tasks were played with.
        noise = np.array([max(c.doubt, 0.01) ** 2 for c in archive])
        centre = float(means.mean())
        alike = self._kinship(archive)
        gain = np.linalg.solve(alike + np.diag(noise), alike).T
        believed = centre + gain @ (means - centre)
        return believed, alike - gain @ alike

    def select(
        self, candidates: Sequence[Candidate], k: int, *, reference: float, seed: int
    ) -> list[str]:
        archive = in_order(candidates, k)
        believed, doubt = self.beliefs(archive)
        random = generator("niches", seed)
        # The eigenvectors of another method differ between machines; the small addition is for
        # beliefs that differ by less than a computer can tell.
        factor = np.linalg.cholesky(doubt + 1e-9 * np.eye(len(archive)))
        draws = believed + random.normal(size=(k, len(archive))) @ factor.T
        chosen: list[int] = []
        rooms = self._rooms(archive, believed)
        for number in range(min(k, len(archive))):
            left = {elite: room for elite, room in rooms.items() if elite not in chosen}
            if number % 2 and left:
                weights = np.array(list(left.values()))
                chosen.append(int(random.choice(list(left), p=weights / weights.sum())))
                continue
            draw = draws[number].copy()
            draw[chosen] = -math.inf
            chosen.append(int(draw.argmax()))
        return [archive[i].id for i in chosen]

    def _rooms(self, archive: Sequence[Candidate], believed: Floats) -> dict[int, float]:
        """The best at some kind, by how much the best of all could gain of them."""
        best = int(believed.argmax())
        tasks: dict[str, int] = {}
        for candidate in archive:
            for kind, (_, played) in candidate.by_kind.items():
                tasks[kind] = max(tasks.get(kind, 0), played)
        rooms: dict[int, float] = {}
        for kind, number in sorted(tasks.items()):
            worth = [
                self._at(kind, c, own) for c, own in zip(archive, believed.tolist(), strict=True)
            ]
            elite = max(range(len(worth)), key=lambda i: (worth[i], -i))
            room = number * (worth[elite] - worth[best])
            if room > 0.0:
                rooms[elite] = rooms.get(elite, 0.0) + room
        return rooms

    def _at(self, kind: str, candidate: Candidate, believed: float) -> float:
        """A mean over few tasks is drawn towards what is believed of the design as a whole."""
        mean, played = candidate.by_kind.get(kind, (0.0, 0))
        return (played * mean + self.few * believed) / (played + self.few)

    def _kinship(self, archive: Sequence[Candidate]) -> Floats:
        """How much two designs share: their root, and each step down to where they part."""
        lines = _lines(archive)
        alike = np.zeros((len(archive), len(archive)))
        for i, ours in enumerate(lines):
            for j, theirs in enumerate(lines[: i + 1]):
                shared = sum(a == b for a, b in zip(ours, theirs, strict=False))
                if shared:
                    alike[i, j] = alike[j, i] = self.root**2 + (shared - 1) * self.step**2
        return alike


def _lines(archive: Sequence[Candidate]) -> list[tuple[str, ...]]:
    """For each candidate its first parents from the root on, itself last."""
    found: dict[str, tuple[str, ...]] = {}
    for candidate in archive:  # in order: parents come first
        parent = found.get(candidate.parents[0], ()) if candidate.parents else ()
        found[candidate.id] = (*parent, candidate.id)
    return [found[c.id] for c in archive]
