"""Moments cut by time: what memory may know at a moment is what came before its window began."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from metamem.service.designs.recorded import Moment

WARM_UP = 0.10  # of the moments: nobody is asked about them, what came of them is history alone
# Of each split, in the order of time: its share of the moments, and the windows that it is cut into.
# Train is halved by windows, so it has several; what is newest is where things may have changed.
CUT: Mapping[str, tuple[float, int]] = {
    "train": (0.35, 4),
    "valid": (0.25, 2),
    "test": (0.15, 2),
    "shift": (0.15, 1),
}
FEWEST = 40  # moments with something wanted: less cannot be cut so


@dataclass(frozen=True, slots=True)
class Window:
    name: str
    moments: tuple[Moment, ...]

    @property
    def begins(self) -> int:
        """The event before which everything is history."""
        return self.moments[0].event


def windows(moments: Sequence[Moment]) -> dict[str, list[Window]]:
    """By split. Every moment after the warm-up is in one window, and windows follow one another."""
    ends, done = {}, WARM_UP
    for split, (share, _) in CUT.items():
        begun, done = done, done + share
        ends[split] = (round(begun * len(moments)), round(done * len(moments)))
    return {
        split: _cut(split, moments[begin:end], CUT[split][1])
        for split, (begin, end) in ends.items()
    }


def _cut(split: str, moments: Sequence[Moment], parts: int) -> list[Window]:
    edges = [round(n * len(moments) / parts) for n in range(parts + 1)]
    cut = [moments[begin:end] for begin, end in pairwise(edges) if begin < end]
    return [Window(f"{split}-{n}", tuple(some)) for n, some in enumerate(cut)]
