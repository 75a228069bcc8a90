"""What is kept of questions to models: every sending, what became of it, and the replies."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal, get_args

from metamem.core.chat import Usage
from metamem.core.stored import restored

AttemptOutcome = Literal["answered", "failed", "uncertain"]
ATTEMPT_OUTCOMES: tuple[AttemptOutcome, ...] = get_args(AttemptOutcome)


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One finished question to a model and its reply: what a resumed run need not pay again."""

    key: str
    role: str
    model: str  # the fingerprint of the model that answered
    design_id: str  # "" where it was asked on behalf of no design
    task_id: str
    turns: tuple[tuple[str, str], ...]  # who spoke, and what
    reply: str
    usage: Usage = field(default=Usage())


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """One sending of a question: entered before it goes out, so that none is ever forgotten."""

    key: str
    run_id: str  # "" where it belongs to no run
    role: str
    model: str
    design_id: str
    task_id: str
    reserved: int  # tokens that it can cost at most
    reserved_money: float | None  # None: the price is not known
    at: str


@dataclass(frozen=True, slots=True)
class AttemptEnd:
    """What became of an attempt. `uncertain`: sent, and maybe billed, but never answered."""

    outcome: AttemptOutcome
    usage: Usage = field(default=Usage())
    money: float | None = 0.0  # None: the price is not known
    detail: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Spending:
    """What attempts cost, summed up over equal run, role, model and design (and task)."""

    run_id: str
    role: str
    model: str
    design_id: str
    task_id: str  # "" unless summed up by task
    attempts: int
    answered: int
    failed: int
    uncertain: int  # may have been billed: counted at what they can cost at most
    in_flight: int  # begun and never ended: under way now, or lost with a killed process
    usage: Usage
    reserved: int  # tokens of those in flight and uncertain, at most
    money: float  # of those with a known price; uncertain ones and those in flight at most
    unpriced: int  # ended attempts whose price is not known
    seconds: float

    def __add__(self, other: "Spending") -> "Spending":
        """Both together, under the names of the first."""
        sums = {
            f.name: getattr(self, f.name) + getattr(other, f.name)
            for f in fields(self)
            if f.name not in ("run_id", "role", "model", "design_id", "task_id")
        }
        return replace(self, **sums)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Spending":
        task = data.get("task_id", "")  # there were none once
        return restored(Spending, data, task_id=task, usage=restored(Usage, data.get("usage", {})))
