"""What a search gives back."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing found: the higher its score, the better it fits."""

    score: float
    text: str
    payload: Any = None
