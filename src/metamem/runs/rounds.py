"""Rounds of a run: what the best memory so far sees, all designs learn from in the next."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from metamem.core.figures import Scale, percent
from metamem.core.ids import short
from metamem.core.stored import restored
from metamem.core.types import Episode


@dataclass(frozen=True, slots=True)
class Round:
    """What one round came to. Its collection is that of the search; others play the same tasks."""

    number: int
    collector: str  # the design that advised who collected; empty: nobody did
    episodes: int  # that this round added to the collection
    won: float  # the share of them that brought all there is to win
    best: str  # the best design on train at its end
    score: float  # of that

    def told(self, scale: Scale) -> str:
        """In a sentence."""
        memory = f"with {short(self.collector)}" if self.collector else "without memory"
        return (
            f"Round {self.number}: {self.episodes} episodes collected {memory},"
            f" {percent(self.won)} % of them won; best on train {short(self.best)},"
            f" {scale.value(self.score)}{scale.unit}."
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Round":
        return restored(Round, data)


def share_won(episodes: Sequence[Episode], most: float) -> float:
    """Of these episodes those that brought all there is to win."""
    return sum(e.reward >= most for e in episodes) / len(episodes) if episodes else 0.0
