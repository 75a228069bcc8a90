"""The records that an archive keeps, as small frozen types."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from metamem.core.types import Case, Design, Episode

RunState = Literal["created", "running", "stopped", "finished", "failed"]
ProposalStatus = Literal["accepted", "rejected", "duplicate"]
SubjectKind = Literal["design", "parameters", "policy", "tool"]
PlaceKind = Literal["domain", "scope"]
Decision = Literal["promoted", "refused", "approved", "rejected", "undone"]
Risk = Literal["code", "policy", "sharing", "deletion", "parameters"]

RUN_STATES: tuple[RunState, ...] = get_args(RunState)
PROPOSAL_STATUSES: tuple[ProposalStatus, ...] = get_args(ProposalStatus)
SUBJECT_KINDS: tuple[SubjectKind, ...] = get_args(SubjectKind)
PLACE_KINDS: tuple[PlaceKind, ...] = get_args(PlaceKind)
DECISIONS: tuple[Decision, ...] = get_args(Decision)
RISKS: tuple[Risk, ...] = get_args(Risk)


def utc_now() -> str:
    """The time as every record writes it: ISO 8601, UTC, to the microsecond."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


@dataclass(frozen=True, slots=True)
class DesignRecord:
    """A design as lists show it, and how it came into the archive. Its source is asked for apart."""

    id: str
    kind: str
    name: str
    created_by: str = ""
    created_at: str = field(default="", compare=False)

    @classmethod
    def of(cls, design: Design, created_by: str = "") -> "DesignRecord":
        return cls(design.id, design.kind, design.name, created_by)


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run as it stands: its config never changes, its newest state counts."""

    id: str
    config: Mapping[str, Any]
    state: RunState
    summary: Mapping[str, Any]
    created_at: str = field(default="", compare=False)
    changed_at: str = field(default="", compare=False)  # when it entered its state


@dataclass(frozen=True, slots=True)
class ProposalRecord:
    """One attempted child: an entry of a run's journal."""

    run_id: str
    ordinal: int  # its place in the run's fixed order, from 0
    design_id: str | None  # None where no design came of it
    parents: tuple[str, ...]
    proposer: str
    operator: str
    note: str
    status: ProposalStatus
    reason: str = ""  # why it was rejected, in words
    evidence: Mapping[str, Any] = field(default_factory=dict)  # what the proposer was shown
    evaluation_id: str | None = None
    estimate: Mapping[str, Any] | None = None  # what the selector may believe about it


@dataclass(frozen=True, slots=True)
class Trace:
    """How one case was played."""

    case: Case
    episode: Episode


@dataclass(frozen=True, slots=True)
class Subject:
    """What a decision is about: one version of something that has a name of its own.

    A domain has one memory and one set of parameters, so those need no name; tools and policies
    have one, and each name has its own version in use.
    """

    kind: SubjectKind
    id: str  # of the version; empty only where nothing was there to promote
    name: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is in use."""

    kind: PlaceKind
    name: str

    def __str__(self) -> str:
        return self.name if self.kind == "domain" else f"{self.kind}:{self.name}"


@dataclass(frozen=True, slots=True)
class PromotionRecord:
    """One decision about what is in use somewhere; `metamem.promotion` tells what follows of it."""

    subject: Subject
    place: Place
    ordinal: int  # in the history of this kind and name of subject in this place, from 0
    decision: Decision
    decided_by: str
    reason: str
    evidence: Mapping[str, Any]
    at: str  # see `utc_now`
    run_id: str | None = None  # None where it was decided outside of any run
    risk: Risk = "code"
    waits: bool = False  # what was promoted is not in use until a person approves


@dataclass(frozen=True, slots=True)
class ReadRecord:
    """One look at a split that the search must not see."""

    at: str
    run_id: str | None
    split: str
    design_id: str
    evaluation_id: str
    purpose: str


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose data is in something: a scope is a person, a team, or whatever owns data.

    Of experiments there are `collection`, `blob`, `evaluation` (how its cases were played) and
    `run` (what models were asked in it); other components bring kinds of their own.
    """

    scope: str
    kind: str
    id: str


@dataclass(frozen=True, slots=True)
class ErasureRecord:
    """That a scope's data was erased, and on whose word."""

    scope: str
    decided_by: str
    reason: str
    at: str
    erased: tuple[tuple[str, str], ...]  # kinds and ids of what lost its content by it
    # Copies of all that was there, which were removed for it; told once, to whoever erased.
    copies: tuple[str, ...] = field(default=(), compare=False)
