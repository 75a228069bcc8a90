"""What a learned design's parts, and the steps to it, are worth: as it is kept and told."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from metamem.core.stored import restored


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

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Explanation":
        parts, steps = (
            tuple(restored(Worth, worth) for worth in data.get(name, ()))
            for name in ("parts", "steps")
        )
        return restored(Explanation, data, parts=parts, steps=steps)
