"""What came of judging a tool: it was replayed on recorded cases that it was not written from."""

from dataclasses import dataclass
from typing import Literal

from metamem.foundry.tools.tool import Tool

# `none`: no tool can be written of the workflow. `waits`: too few cases to tell. The others are the gate's.
Decided = Literal["none", "waits", "refused", "promoted"]


@dataclass(frozen=True, slots=True)
class Replayed:
    """One held-out case: done once as it was recorded and once by the tool, in trees that began alike."""

    case: str  # the id of a `Case`
    equal: bool | None  # None where it cannot be replayed
    why: str = ""  # it differs, or cannot be replayed


@dataclass(frozen=True, slots=True)
class Verdict:
    workflow: str  # the id under which it is kept
    decided: Decided
    why: str
    tool: Tool | None = None
    replays: tuple[Replayed, ...] = ()
    lower: float = 0.0  # the exact lower bound of the share of equal effects
    asked: bool = False  # somebody was asked for the tool who has not answered

    @property
    def replayable(self) -> float:
        """The share of held-out cases that could be replayed."""
        known = sum(replay.equal is not None for replay in self.replays)
        return known / len(self.replays) if self.replays else 0.0
