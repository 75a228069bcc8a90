"""What an archive is: the records it keeps, and its contract.

The contract, for every engine; `metamem.store.conformance` checks each sentence of it.

*Append-only.* There is no method that changes or deletes. What was added stays as it was
added, in the order it was added. Adding the same thing again is no error and changes nothing,
so whoever was interrupted may simply add again; adding something *different* under a name that
is taken is a `StoreError`. The ledgers (promotions, reads, attempts at model calls) have no
names: every call of `add_promotion`, `record_read` and `begin_attempt` is a new entry.

*All or nothing.* Each method is one transaction. When it returns, what it wrote survives the
death of the process; when it raises, nothing of it was written.

*Exact.* What is read equals what was written: floats to the last bit (but -0.0 is 0.0), any
text whatever. Mappings must be plain JSON; numbers must be finite and fit 64 bits. Anything
else is refused with a `DataError`, never bent. Tuples inside mappings come back as lists.

*Copies.* What is returned belongs to the caller, who may change it without any effect on the
archive.

*Sharing.* An archive object may be used by all threads of the process that opened it, and by
no process forked from that one. Any number of processes may open the same archive; they see
each other's commits at once, and writers wait for one another. `lock_run` is how a process
makes sure that it alone works on a run; the other methods do not ask for that lock.

*Order.* Designs, runs and evaluations come in the order they were added, proposals by
ordinal, ledger entries by age, rows and traces by task and then repeat.

*Names.* Whoever asks for a design or run that is not there gets `UnknownName`; evaluations,
collections and blobs are asked for to find out whether they are there, and give `None`; what
belongs to something that is not there (proposals, traces) is an empty list. Whoever writes
something that refers to what is not there gets a `StoreError`.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Literal, Protocol, Self, get_args

from metamem.core.calls import AttemptEnd, AttemptRecord, CallRecord, Spending
from metamem.core.types import Case, CaseResult, Design, Episode, Evaluation, Fingerprint

RunState = Literal["created", "running", "stopped", "finished", "failed"]
ProposalStatus = Literal["accepted", "rejected", "duplicate"]
Decision = Literal["promoted", "refused", "undone"]

RUN_STATES: tuple[RunState, ...] = get_args(RunState)
PROPOSAL_STATUSES: tuple[ProposalStatus, ...] = get_args(ProposalStatus)
DECISIONS: tuple[Decision, ...] = get_args(Decision)


def utc_now() -> str:
    """The time as every record writes it: ISO 8601, UTC, to the microsecond."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


@dataclass(frozen=True, slots=True)
class DesignRecord:
    """A design and how it came into the archive."""

    design: Design
    created_by: str = ""
    created_at: str = field(default="", compare=False)

    @property
    def id(self) -> str:
        return self.design.id


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
class PromotionRecord:
    """One decision about what is in use in a domain."""

    run_id: str | None  # None where it was decided outside of any run
    design_id: str | None  # None only where nothing was there to promote: a refusal
    decided_by: str
    decision: Decision
    reason: str
    evidence: Mapping[str, Any]
    at: str  # see `utc_now`
    domain: str


@dataclass(frozen=True, slots=True)
class ReadRecord:
    """One look at a split that the search must not see."""

    at: str
    run_id: str | None
    split: str
    design_id: str
    evaluation_id: str
    purpose: str


KILLED = "killed"


def state_now(archive: "Archive", run: RunRecord) -> str:
    """A run's state, or that it was killed: it says that it runs, and no process holds it."""
    killed = run.state == "running" and not archive.run_is_held(run.id)
    return KILLED if killed else run.state


class Archive(Protocol):
    """Every design, its parents, its evaluations. The module's docstring is the contract."""

    # --- designs

    def add_design(self, design: Design, *, created_by: str = "") -> bool:
        """Keep a design; False when it was there already. The first name given to it stays."""
        ...

    def find(self, prefix: str) -> str:
        """The id that begins with `prefix`; `UnknownName` for none, `UsageError` for several."""
        ...

    def design(self, prefix: str) -> Design:
        """The design whose id is, or alone begins with, `prefix`; errors as for `find`."""
        ...

    def designs(self) -> list[DesignRecord]: ...

    # --- runs

    def create_run(self, run_id: str, config: Mapping[str, Any]) -> bool:
        """Keep a run, in state `created`; False when it was there with an equal config."""
        ...

    def run(self, run_id: str) -> RunRecord: ...

    def runs(self) -> list[RunRecord]: ...

    def set_run_state(
        self, run_id: str, state: RunState, summary: Mapping[str, Any] | None = None
    ) -> None:
        """Enter a state (`created` cannot be entered again); no summary keeps the last one."""
        ...

    def lock_run(self, run_id: str) -> AbstractContextManager[None]:
        """Hold a run for this process, or raise `Busy`, which names the process that holds it.

        The run need not exist yet. The lock ends with the block, or with the process however
        it dies. It is not handed on to forked children.
        """
        ...

    def run_is_held(self, run_id: str) -> bool:
        """Whether some process, this one included, holds the run now."""
        ...

    # --- proposals

    def add_proposal(self, proposal: ProposalRecord) -> bool:
        """Write one entry of a run's journal; False when the same entry was there already.

        Its run, designs and evaluation must be in the archive before.
        """
        ...

    def proposals(self, run_id: str) -> list[ProposalRecord]: ...

    # --- evaluations

    def open_evaluation(self, fingerprint: Fingerprint, planned: int) -> str:
        """Announce an evaluation and get its id; the design must be in the archive before.

        Opening it again is how one resumes; `planned` must then be the same.
        """
        ...

    def add_rows(
        self,
        evaluation_id: str,
        rows: Sequence[CaseResult],
        traces: Mapping[Case, Episode] | None = None,
    ) -> int:
        """Keep rows, and with them their traces; returns how many rows were new.

        A case that is there already must have the same result. Measurements are not compared:
        those that came first stay. There can be no more rows than were planned.
        """
        ...

    def evaluation(self, evaluation_id: str) -> Evaluation | None: ...

    def evaluations(
        self,
        design_id: str | None = None,
        split: str | None = None,
        conditions: str | None = None,
    ) -> list[Evaluation]:
        """Every evaluation that fits all of what is given."""
        ...

    # --- how cases were played

    def add_trace(self, evaluation_id: str, case: Case, episode: Episode) -> bool:
        """Keep the trace of a case whose row is there; False when it was there already."""
        ...

    def traces(self, evaluation_id: str) -> list[Trace]: ...

    # --- collected episodes and recorded content

    def put_collection(self, collection_id: str, episodes: Sequence[Episode]) -> bool:
        """Keep episodes, in order; False when the same were there already."""
        ...

    def collection(self, collection_id: str) -> list[Episode] | None: ...

    def collections(self) -> list[str]:
        """The id of every collection."""
        ...

    def put_blob(self, blob_id: str, content: bytes) -> bool:
        """Keep bytes; False when the same were there already."""
        ...

    def blob(self, blob_id: str) -> bytes | None: ...

    # --- questions to models

    def begin_attempt(self, attempt: AttemptRecord) -> int:
        """Enter a sending before it is made, and get its number."""
        ...

    def end_attempt(self, number: int, end: AttemptEnd, call: CallRecord | None = None) -> None:
        """Enter what became of an attempt, once, and with it the call that it finished."""
        ...

    def call(self, key: str) -> CallRecord | None: ...

    def calls(self, design_id: str | None = None) -> list[CallRecord]:
        """Every finished call, or those on behalf of a design ("" for those on behalf of none)."""
        ...

    def spending(self, run_id: str | None = None, *, by_task: bool = False) -> list[Spending]:
        """What was spent, by run, role, model, design (and task), in the order of first use."""
        ...

    # --- ledgers

    def add_promotion(self, promotion: PromotionRecord) -> None:
        """Enter a decision. Only a design that stands promoted in the domain can be undone."""
        ...

    def promotions(self, run_id: str | None = None) -> list[PromotionRecord]:
        """Every decision, or those of one run."""
        ...

    def current_promotion(self, domain: str) -> PromotionRecord | None:
        """The newest promotion in the domain that was not undone."""
        ...

    def record_read(self, read: ReadRecord) -> None:
        """Enter a read, before it is made: its run, design and evaluation need not exist yet."""
        ...

    def reads(self) -> list[ReadRecord]: ...

    # --- the archive itself

    def close(self) -> None:
        """Let go of the archive; closing twice is fine, any other use after it is an error."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
