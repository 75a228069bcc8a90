"""What an archive is: the records it keeps, and its contract.

The contract, for every engine; `metamem.store.conformance` checks each sentence of it.

*Append-only.* There is no method that changes, and one that deletes: `erase`. What was added
stays as it was added, in the order it was added. Adding the same thing again is no error and
changes nothing, so whoever was interrupted may simply add again; adding something *different*
under a name that is taken is a `StoreError`. Two ledgers (reads, attempts at model calls) have no
names: every call of `record_read` and `begin_attempt` is a new entry.

*Erasable.* What can come from a person's data (collections, blobs, how cases were played, what
models were asked and said) can be erased, on someone's word, which is kept. What is left are ids,
digests, scores and costs. Asking for what was erased, or writing it again, is an `Erased`. A scope
that nothing is known of is not erased but told of, and what cannot be erased whole is not erased.

*All or nothing.* Each method is one transaction. When it returns, what it wrote survives the
death of the process; when it raises, nothing of it was written.

*Exact.* What is read equals what was written: floats to the last bit (but -0.0 is 0.0), any
text whatever. Mappings must be plain JSON; numbers must be finite and fit 64 bits. Anything
else is refused with a `DataError`, never bent. Tuples inside mappings come back as lists.

*Copies.* What is returned belongs to the caller, who may change it without any effect on the
archive.

*Sharing.* An archive object may be used by all threads of the process that opened it, and by
no process forked from that one. Any number of processes may open the same archive and write at
the same time; they see each other's commits at once. Of several who add the same thing at once,
one is told that it was new; of several who add different things under one name, one succeeds.
`lock_run` is how a process makes sure that it alone works on a run; the other methods do not ask
for that lock.

*Waiting.* Every method may have to wait for a disk or a server. Code that runs in an event loop
calls them through `metamem.core.aside`.

*Order.* Designs, runs and evaluations come in the order they were added, proposals by
ordinal, ledger entries by age, rows and traces by task and then repeat.

*Names.* Whoever asks for a design or run that is not there gets `UnknownName`; evaluations,
collections and blobs are asked for to find out whether they are there, and give `None`; what
belongs to something that is not there (proposals, traces) is an empty list. Whoever writes
something that refers to what is not there gets a `StoreError`.
"""

from collections.abc import Mapping
from types import TracebackType
from typing import Protocol, Self

from metamem.store.facets import (
    Blobs,
    Calls,
    Collections,
    Designs,
    Erasures,
    Evaluations,
    Journal,
    Promotions,
    Reads,
    Runs,
)
from metamem.store.records import (
    DesignRecord,
    PromotionRecord,
    ProposalRecord,
    ProposalStatus,
    ReadRecord,
    RunRecord,
    Trace,
    utc_now,
)

__all__ = [
    "KILLED",
    "Archive",
    "DesignRecord",
    "PromotionRecord",
    "ProposalRecord",
    "ProposalStatus",
    "ReadRecord",
    "RunRecord",
    "Trace",
    "state_now",
    "utc_now",
]


KILLED = "killed"


def state_now(archive: Runs, run: RunRecord) -> str:
    """A run's state, or that it was killed: it says that it runs, and no process holds it."""
    killed = run.state == "running" and not archive.run_is_held(run.id)
    return KILLED if killed else run.state


class Archive(
    Designs,
    Runs,
    Journal,
    Evaluations,
    Collections,
    Blobs,
    Calls,
    Promotions,
    Reads,
    Erasures,
    Protocol,
):
    """All parts together. The module's docstring is the contract."""

    def components(self) -> Mapping[str, int]:
        """The schema's version of every component in the storage, by name; those that this
        program does not know are among them."""
        ...

    @property
    def place(self) -> str:
        """Where it is kept, for people and for whoever must find it again."""
        ...

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
