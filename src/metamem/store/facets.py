"""The archive in parts. Whoever uses it asks for the parts it needs, and no more.

The contract that holds for all of them is the docstring of `metamem.store.archive`.

Lists are long: those that take `after` and `limit` give the entries that follow the one named, at
most so many; `after` must be in the archive. Entries of ledgers have no names: `skip` of the oldest
are left out.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from metamem.core.access import Scope
from metamem.core.calls import AttemptEnd, AttemptRecord, CallRecord, Spending
from metamem.core.types import Case, CaseResult, Design, Episode, Evaluation, Fingerprint
from metamem.store.records import (
    DesignRecord,
    ErasureRecord,
    Origin,
    Place,
    PromotionRecord,
    ProposalRecord,
    ReadRecord,
    RunRecord,
    RunState,
    Subject,
    Trace,
)


class Designs(Protocol):
    def add_design(self, design: Design, *, created_by: str = "") -> bool:
        """Keep a design; False when it was there already. The first name given to it stays."""
        ...

    def find(self, prefix: str) -> str:
        """The id that begins with `prefix`; `UnknownName` for none, `UsageError` for several."""
        ...

    def design(self, prefix: str) -> Design:
        """The design whose id is, or alone begins with, `prefix`; errors as for `find`."""
        ...

    def designs(
        self, *, after: str | None = None, limit: int | None = None
    ) -> list[DesignRecord]: ...


class Runs(Protocol):
    def create_run(self, run_id: str, config: Mapping[str, Any]) -> bool:
        """Keep a run, in state `created`; False when it was there with an equal config."""
        ...

    def run(self, run_id: str) -> RunRecord: ...

    def runs(self, *, after: str | None = None, limit: int | None = None) -> list[RunRecord]: ...

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


class Journal(Protocol):
    def add_proposal(self, proposal: ProposalRecord) -> bool:
        """Write one entry of a run's journal; False when the same entry was there already.

        Its run, designs and evaluation must be in the archive before.
        """
        ...

    def proposals(self, run_id: str) -> list[ProposalRecord]: ...


class Evaluations(Protocol):
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
        *,
        after: str | None = None,
        limit: int | None = None,
    ) -> list[Evaluation]:
        """Every evaluation that fits all of what is given."""
        ...

    def add_trace(self, evaluation_id: str, case: Case, episode: Episode) -> bool:
        """Keep how a case was played whose row is there; False when it was there already."""
        ...

    def traces(self, evaluation_id: str) -> list[Trace]: ...


class Collections(Protocol):
    def put_collection(self, collection_id: str, episodes: Sequence[Episode]) -> bool:
        """Keep episodes, in order; False when the same were there already."""
        ...

    def collection(self, collection_id: str) -> list[Episode] | None: ...

    def collections(self) -> list[str]:
        """The id of every collection."""
        ...


class Blobs(Protocol):
    def put_blob(self, blob_id: str, content: bytes) -> bool:
        """Keep bytes; False when the same were there already."""
        ...

    def blob(self, blob_id: str) -> bytes | None: ...


class Calls(Protocol):
    """Questions to models."""

    def begin_attempt(self, attempt: AttemptRecord) -> int:
        """Enter a sending before it is made, and get its number."""
        ...

    def end_attempt(self, number: int, end: AttemptEnd, call: CallRecord | None = None) -> None:
        """Enter what became of an attempt, once, and with it the call that it finished."""
        ...

    def call(self, key: str) -> CallRecord | None: ...

    def calls(
        self,
        design_id: str | None = None,
        *,
        after: str | None = None,
        limit: int | None = None,
    ) -> list[CallRecord]:
        """Every finished call, or those on behalf of a design ("" for those on behalf of none)."""
        ...

    def spending(self, run_id: str | None = None, *, by_task: bool = False) -> list[Spending]:
        """What was spent, by run, role, model, design (and task), in the order of first use."""
        ...


class Promotions(Protocol):
    """The ledger of decisions. What may follow on what is `metamem.promotion`'s to know."""

    def add_promotion(self, promotion: PromotionRecord) -> bool:
        """Enter a decision; False when the same was there already.

        `Conflict` where its place in the history is taken by another, or is not the next.
        """
        ...

    def promotions(
        self,
        run_id: str | None = None,
        *,
        of: tuple[Subject, Place] | None = None,
        skip: int = 0,
        limit: int | None = None,
    ) -> list[PromotionRecord]:
        """Every decision; those of one run; those of one history, which is that of all subjects
        of the same kind and name in the place."""
        ...


class Reads(Protocol):
    """The ledger of looks at what the search must not see."""

    def record_read(self, read: ReadRecord) -> None:
        """Enter a read, before it is made: its run, design and evaluation need not exist yet."""
        ...

    def reads(
        self, run_id: str | None = None, *, skip: int = 0, limit: int | None = None
    ) -> list[ReadRecord]:
        """Every read, or those of a run."""
        ...


class Erasures(Protocol):
    def add_origin(self, origin: Origin) -> bool:
        """Enter, before it is written, that something holds a scope's data; False when known.

        One thing can hold the data of several scopes; it is erased with the first of them.
        """
        ...

    def origins(self, scope: Scope | str) -> list[Origin]: ...

    def erase(self, scope: Scope | str, *, decided_by: str, reason: str) -> ErasureRecord:
        """Delete the content of all that holds the scope's data: collections, blobs, how the
        cases of evaluations were played, what models were asked in runs and what they said, and
        what else the archive's components keep of it.

        Ids, digests, scores and costs stay. What lost its content cannot be played again: whoever
        asks for it, or writes it again, gets `Erased`. Erasing again erases what came since.

        A scope that nothing is known of is an `UnknownName`, and what this program cannot erase
        a `StoreError`; nothing is erased then. `ScrubDue` where it was erased, and the storage
        still holds it for somebody who reads: `scrub` later.
        """
        ...

    def scrub(self) -> None:
        """Make sure that the storage does not hold what was erased; `ScrubDue` as for `erase`."""
        ...

    def erasure(self, kind: str, identifier: str) -> ErasureRecord | None:
        """The erasure by which something lost its content, if it did."""
        ...

    def erasures(self) -> list[ErasureRecord]: ...
