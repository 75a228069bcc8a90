"""The words of served designs, as small frozen types."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from metamem.core.waiting import NEVER, Wait
from metamem.service.marks import fenced

Against = Literal["nothing", "former"]
Verdict = Literal["not enough data yet", "better", "worse", "no difference shown"]


@dataclass(frozen=True, slots=True)
class Advised:
    """What memory said at one moment. Whoever tells what came of it names the moment."""

    moment: str
    text: str = ""  # within the token budget; empty where there is no advice
    tokens: int = 0
    truncated: bool = False
    design: str = ""  # the id of the design that was asked; empty: none
    held_back: bool = False  # this session gets no advice, or the former design's, to compare
    note: str = ""  # why there is no advice, where there should be some
    fenced: str = ""  # the text as an agent reads it: marked as data
    wait: Wait = NEVER  # what should have come before it is asked again about the same task

    def __post_init__(self) -> None:
        if self.text and not self.fenced:
            object.__setattr__(self, "fenced", fenced(self.text, "advice", self.moment))


@dataclass(frozen=True, slots=True)
class Experienced:
    """That an experience is in the log for good; and whether the memory in use took it in."""

    position: int
    redacted: tuple[str, ...] = ()  # kinds of secrets that were taken out
    note: str = ""


@dataclass(frozen=True, slots=True)
class Trial:
    """A live comparison in a scope: a share of sessions is held back from a design."""

    id: str = ""  # also what chance is drawn by: another comparison, another draw
    design: str = ""
    share: float = 0.0  # of sessions that are held back
    against: Against = "nothing"  # what those get
    former: str = ""  # the design that was in use when it began
    began: int = 0


@dataclass(frozen=True, slots=True)
class Arm:
    """What came of the sessions of one side."""

    sessions: int = 0  # with an outcome: the unit that chance was drawn for
    asked: int = 0  # sessions, with an outcome or without
    mean: float = 0.0
    interval: tuple[float, float] | None = None  # 95 %


@dataclass(frozen=True, slots=True)
class Back:
    """How much came back of what was asked in a scope."""

    moments: int = 0
    advised: int = 0
    outcomes: int = 0
    warning: str = ""  # where nothing can be learned of it


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both sides of a live comparison, in outcomes of sessions."""

    scope: str
    trial: Trial
    given: Arm
    held_back: Arm
    difference: float | None = None  # given less held back
    interval: tuple[float, float] | None = None  # of it, 95 % however often one looks
    detectable: float | None = None  # what would likely be seen with so many sessions
    verdict: Verdict = "not enough data yet"
    notes: tuple[str, ...] = field(default=())

    def evidence(self) -> Mapping[str, Any]:
        """For the ledger: ids and figures alone."""
        return {
            "id": self.trial.id,
            "design": self.trial.design,
            "against": self.trial.former if self.trial.against == "former" else "nothing",
            "share": self.trial.share,
            "sessions": [self.given.sessions, self.held_back.sessions],
            "means": [self.given.mean, self.held_back.mean],
            "difference": self.difference,
            "interval": list(self.interval) if self.interval else None,
            "verdict": self.verdict,
        }


@dataclass(frozen=True, slots=True)
class Standing:
    """How designs do in a scope: the live comparison, and how much came back at all."""

    comparison: Comparison
    back: Back
