"""What a memory service can do, for one caller: in this process or over the network, alike.

The command line, MCP, hooks and importers are written against this alone.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from metamem.service.words import (
    Ask,
    Briefing,
    CallsKept,
    Change,
    Draft,
    Fact,
    Ingested,
    Listing,
    Page,
    Recall,
    Session,
    Tombstone,
    ToolCall,
    Verdict,
    Version,
    Written,
)


class Memories(Protocol):
    """All verbs. Whoever may not do something gets `Denied`; what cannot be seen is unknown."""

    def remember(self, scope: str, drafts: Sequence[Draft]) -> list[Written]:
        """Keep drafts; one result for each, in order. What was refused says why."""
        ...

    def ingest(self, scope: str, session: Session) -> Ingested:
        """Keep a conversation's turns as evidence. The same turns again add nothing."""
        ...

    def keep_calls(
        self,
        scope: str,
        session: Session,
        calls: Sequence[ToolCall],
        rewound: Sequence[str] = (),
    ) -> CallsKept:
        """Keep what an agent did with its tools in a session, of which no turns are looked at. The
        same calls again add nothing; halves of one call are joined. `rewound` are the ids of turns
        that the user took back, with the calls that served them."""
        ...

    def recall(self, ask: Ask) -> Recall:
        """What memory has to say to a question: the best facts, or none."""
        ...

    def briefing(self, scopes: Sequence[str] = (), tokens: int = 1500) -> Briefing:
        """What a new conversation should begin with."""
        ...

    def get(self, fact: str) -> Fact: ...

    def browse(self, listing: Listing) -> Page:
        """Facts in the order of their coming, page by page."""
        ...

    def history(self, fact: str) -> list[Version]: ...

    def edit(self, fact: str, change: Change) -> Fact: ...

    def forget(self, fact: str, reason: str = "") -> Fact:
        """Archive a fact: it is in no recall any more, and can be restored."""
        ...

    def restore(self, fact: str, reason: str = "") -> Fact: ...

    def feedback(self, recall: str, fact: str, verdict: Verdict, note: str = "") -> None:
        """Whether a fact that a recall showed was of use."""
        ...

    def why(self, subject: str) -> dict[str, Any]:
        """Why a recall (by its id) showed what it did, or why a fact is as it is."""
        ...

    def export(self, scopes: Sequence[str] = (), form: str = "jsonl") -> Iterator[str]:
        """All that is kept, losslessly as JSON lines or readably as Markdown."""
        ...

    def erase(self, scope: str, reason: str, person: str = "") -> Tombstone:
        """Delete a scope's content, or what one person said there, everywhere and for good."""
        ...

    def counts(self) -> dict[str, Any]:
        """How much is kept, by scope, type and lifecycle, and what still waits to be done."""
        ...
