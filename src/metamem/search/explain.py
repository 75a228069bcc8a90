"""What a learned design's gain is made of: each part, and each step on the way to it.

Played on the tasks of valid, which no design was bred on. Nothing is chosen by these figures, so
they need not pay for the luck of the chosen.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from metamem.core.types import Design, Evaluation
from metamem.evaluation.statistics import paired_comparison
from metamem.search.ablation import Variant, variants

PURPOSE = "explanation"
LONGEST_LINE = 12  # ancestors that are played, the nearest first

Play = Callable[[Sequence[Design]], Awaitable[Mapping[str, Evaluation]]]  # on valid, by design


@dataclass(frozen=True, slots=True)
class Worth:
    """What something is worth in reward: with it minus without it, paired by task."""

    what: str
    design: str  # with it (a step), or without it (a part)
    gain: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Explanation:
    tasks: int
    parts: tuple[Worth, ...]  # of the design, the most valuable first
    steps: tuple[Worth, ...]  # from its eldest known ancestor to itself

    def to_json(self) -> dict[str, Any]:
        data = asdict(self)
        return {**data, "parts": list(data["parts"]), "steps": list(data["steps"])}


async def explain(
    learned: Design, line: Sequence[Design], advices: Sequence[str], play: Play
) -> Explanation:
    """`line` are its ancestors, nearest first; `advices` are some that it gave."""
    family = [learned, *line[:LONGEST_LINE]]
    taken_apart = variants(learned, advices)
    played = await play([*family, *(variant.design for variant in taken_apart)])
    rewards = {design_id: evaluation.by_task() for design_id, evaluation in played.items()}
    whole = rewards[learned.id]
    parts = [_part(v, whole, rewards[v.design.id]) for v in taken_apart]
    steps = [
        _worth("", child.id, rewards[child.id], rewards[parent.id])
        for parent, child in zip(family[:0:-1], family[-2::-1], strict=True)
    ]
    return Explanation(len(whole), tuple(sorted(parts, key=lambda p: -p.gain)), tuple(steps))


def _part(variant: Variant, whole: Mapping[str, float], less: Mapping[str, float]) -> Worth:
    return _worth(variant.left_out, variant.design.id, whole, less)


def _worth(what: str, design: str, ours: Mapping[str, float], theirs: Mapping[str, float]) -> Worth:
    found = paired_comparison(ours, theirs)
    return Worth(what, design, found.gain, found.low, found.high)
