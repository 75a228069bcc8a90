"""What a learned design's gain is made of: each part, and each step on the way to it.

Played on the tasks of valid, which no design was bred on. Nothing is chosen by these figures, so
they need not pay for the luck of the chosen.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from metamem.core.types import Design, Evaluation
from metamem.evaluation.statistics import paired_comparison
from metamem.runs.explanation import Explanation, Worth
from metamem.search.ablation import Variant

PURPOSE = "explanation"
LONGEST_LINE = 12  # ancestors that are played, the nearest first

Play = Callable[[Sequence[Design]], Awaitable[Mapping[str, Evaluation]]]  # on valid, by design


async def explain(
    learned: Design, line: Sequence[Design], taken_apart: Sequence[Variant], play: Play
) -> Explanation:
    """`line` are its ancestors, nearest first; `taken_apart` is it without this or that."""
    family = [learned, *line[:LONGEST_LINE]]
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
