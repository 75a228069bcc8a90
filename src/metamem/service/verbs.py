"""The verbs of memory as requests: `Memories`, one operation each."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from metamem.service.operation import Call, Operation
from metamem.service.reading_export import ReadIn
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
    Turn,
    Verdict,
    Version,
    Written,
)

LINES_AT_ONCE = 500  # of an export, in one request
LETTERS_AT_ONCE = 1_000_000


@dataclass(frozen=True, slots=True)
class Remember:
    scope: str
    drafts: tuple[Draft, ...]


@dataclass(frozen=True, slots=True)
class Ingest:
    scope: str
    id: str
    turns: tuple[Turn, ...]
    host: str = ""
    title: str = ""
    started_at: int | None = None
    ended_at: int | None = None


@dataclass(frozen=True, slots=True)
class KeepCalls:
    scope: str
    id: str
    calls: tuple[ToolCall, ...]
    rewound: tuple[str, ...] = ()
    host: str = ""
    title: str = ""
    started_at: int | None = None
    ended_at: int | None = None


@dataclass(frozen=True, slots=True)
class OneFact:
    fact: str


@dataclass(frozen=True, slots=True)
class Reasoned:
    fact: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Edit:
    fact: str
    text: str | None = None
    type: str | None = None
    importance: float | None = None
    pinned: bool | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Feedback:
    recall: str
    fact: str
    verdict: Verdict
    note: str = ""


@dataclass(frozen=True, slots=True)
class OneRecall:
    recall: str


@dataclass(frozen=True, slots=True)
class Brief:
    scopes: tuple[str, ...] = ()
    tokens: int = 1500


@dataclass(frozen=True, slots=True)
class Export:
    scopes: tuple[str, ...] = ()
    form: str = "jsonl"


@dataclass(frozen=True, slots=True)
class ReadExport:
    scope: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Erase:
    scope: str
    reason: str
    person: str = ""


@dataclass(frozen=True, slots=True)
class Nothing:
    """No arguments."""


def _session(given: Ingest) -> Session:
    return Session(given.id, given.turns, given.host, given.title, given.started_at, given.ended_at)


def _calls_of(given: KeepCalls) -> Session:
    return Session(given.id, (), given.host, given.title, given.started_at, given.ended_at)


def _change(given: Edit) -> Change:
    return Change(given.text, given.type, given.importance, given.pinned, given.reason)


REMEMBER = Operation(
    "remember",
    "POST",
    "/v1/facts",
    Remember,
    list[Written],
    "Keep drafts in a scope. One result for each, in order: stored, duplicate or refused with a"
    " reason; secrets that were taken out are named by their kind.",
    lambda service, given: service.remember(given.scope, given.drafts),
    writes=True,
)
BROWSE = Operation(
    "browse",
    "GET",
    "/v1/facts",
    Listing,
    Page,
    "Facts in the order of their coming. `next` of a page is `after` of the following one; it is"
    " empty at the end. `lifecycle=` with nothing after it lists all lifecycles.",
    lambda service, given: service.browse(given),
)
GET = Operation(
    "get",
    "GET",
    "/v1/facts/{fact}",
    OneFact,
    Fact,
    "One fact.",
    lambda service, given: service.get(given.fact),
)
EDIT = Operation(
    "edit",
    "PATCH",
    "/v1/facts/{fact}",
    Edit,
    Fact,
    "Change a fact; what it was stays in its history. What is left out stays as it is.",
    lambda service, given: service.edit(given.fact, _change(given)),
    writes=True,
)
FORGET = Operation(
    "forget",
    "POST",
    "/v1/facts/{fact}/forget",
    Reasoned,
    Fact,
    "Archive a fact: it is in no recall any more, and can be restored.",
    lambda service, given: service.forget(given.fact, given.reason),
    writes=True,
)
RESTORE = Operation(
    "restore",
    "POST",
    "/v1/facts/{fact}/restore",
    Reasoned,
    Fact,
    "Bring a forgotten fact back.",
    lambda service, given: service.restore(given.fact, given.reason),
    writes=True,
)
HISTORY = Operation(
    "history",
    "GET",
    "/v1/facts/{fact}/history",
    OneFact,
    list[Version],
    "All versions of a fact, the one that holds now at the end.",
    lambda service, given: service.history(given.fact),
)
WHY_FACT = Operation(
    "why_fact",
    "GET",
    "/v1/facts/{fact}/why",
    OneFact,
    dict[str, Any],
    "Why a fact is as it is: where it came from, what it replaced, how it was used.",
    lambda service, given: service.why(given.fact),
)
INGEST = Operation(
    "ingest",
    "POST",
    "/v1/sessions",
    Ingest,
    Ingested,
    "Keep a conversation's turns as evidence. The same turns again add nothing.",
    lambda service, given: service.ingest(given.scope, _session(given)),
    writes=True,
)
KEEP_CALLS = Operation(
    "keep_calls",
    "POST",
    "/v1/calls",
    KeepCalls,
    CallsKept,
    "Keep what an agent did with its tools in a session. The same calls again add nothing; what came"
    " back of a call joins what it began with. `rewound` are turns that the user took back.",
    lambda service, given: service.keep_calls(
        given.scope, _calls_of(given), given.calls, given.rewound
    ),
    writes=True,
)
RECALL = Operation(
    "recall",
    "POST",
    "/v1/recall",
    Ask,
    Recall,
    "What memory has to say to a question: the best facts, each with its reasons, or none. No"
    " scopes: all that the key may read. `text` is made for a model to read and marked as data.",
    lambda service, given: service.recall(given),
)
WHY_RECALL = Operation(
    "why_recall",
    "GET",
    "/v1/recalls/{recall}",
    OneRecall,
    dict[str, Any],
    "Why a recall or a briefing showed what it did.",
    lambda service, given: service.why(given.recall),
)
FEEDBACK = Operation(
    "feedback",
    "POST",
    "/v1/recalls/{recall}/feedback",
    Feedback,
    type(None),
    "Say whether a fact that a recall showed was of use: useful, unused or wrong.",
    lambda service, given: service.feedback(given.recall, given.fact, given.verdict, given.note),
    writes=True,
)
BRIEFING = Operation(
    "briefing",
    "GET",
    "/v1/briefing",
    Brief,
    Briefing,
    "What a new conversation should begin with: a prefix that stays the same from day to day, and"
    " what is new. Put both before the conversation, the prefix first.",
    lambda service, given: service.briefing(given.scopes, given.tokens),
)
EXPORT = Operation(
    "export",
    "GET",
    "/v1/export",
    Export,
    Iterator[str],  # type: ignore[type-abstract]
    "All that is kept: losslessly as JSON lines (`form=jsonl`) or for people (`form=markdown`).",
    lambda service, given: service.export(given.scopes, given.form),
    streams=True,
)
READ_EXPORT = Operation(
    "read_export",
    "POST",
    "/v1/import",
    ReadExport,
    ReadIn,
    "Read lines of an export into a scope, with their history; what it holds already stays. Each"
    " request begins with the export's first line; links come after the facts that they join.",
    lambda service, given: service.read_export(given.scope, given.lines),
    writes=True,
)
ERASE = Operation(
    "erase",
    "POST",
    "/v1/erase",
    Erase,
    Tombstone,
    "Delete a scope's content, or what one person said there, everywhere and for good.",
    lambda service, given: service.erase(given.scope, given.reason, given.person),
    writes=True,
)
COUNTS = Operation(
    "counts",
    "GET",
    "/v1/counts",
    Nothing,
    dict[str, Any],
    "How much is kept in the scopes that the key may read, and what still waits to be done.",
    lambda service, given: service.counts(),
)

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    REMEMBER,
    BROWSE,
    GET,
    EDIT,
    FORGET,
    RESTORE,
    HISTORY,
    WHY_FACT,
    INGEST,
    KEEP_CALLS,
    RECALL,
    WHY_RECALL,
    FEEDBACK,
    BRIEFING,
    EXPORT,
    READ_EXPORT,
    ERASE,
    COUNTS,
)


def remember(scope: str, drafts: Sequence[Draft]) -> Call[list[Written]]:
    return REMEMBER(Remember(scope, tuple(drafts)))


def ingest(scope: str, session: Session) -> Call[Ingested]:
    return INGEST(
        Ingest(
            scope,
            session.id,
            session.turns,
            session.host,
            session.title,
            session.started_at,
            session.ended_at,
        )
    )


def keep_calls(
    scope: str, session: Session, calls: Sequence[ToolCall], rewound: Sequence[str] = ()
) -> Call[CallsKept]:
    return KEEP_CALLS(
        KeepCalls(
            scope,
            session.id,
            tuple(calls),
            tuple(rewound),
            session.host,
            session.title,
            session.started_at,
            session.ended_at,
        )
    )


def recall(ask: Ask) -> Call[Recall]:
    return RECALL(ask)


def briefing(scopes: Sequence[str] = (), tokens: int = 1500) -> Call[Briefing]:
    return BRIEFING(Brief(tuple(scopes), tokens))


def get(fact: str) -> Call[Fact]:
    return GET(OneFact(fact))


def browse(listing: Listing) -> Call[Page]:
    return BROWSE(listing)


def history(fact: str) -> Call[list[Version]]:
    return HISTORY(OneFact(fact))


def edit(fact: str, change: Change) -> Call[Fact]:
    return EDIT(
        Edit(fact, change.text, change.type, change.importance, change.pinned, change.reason)
    )


def forget(fact: str, reason: str = "") -> Call[Fact]:
    return FORGET(Reasoned(fact, reason))


def restore(fact: str, reason: str = "") -> Call[Fact]:
    return RESTORE(Reasoned(fact, reason))


def feedback(recall: str, fact: str, verdict: Verdict, note: str = "") -> Call[None]:
    return FEEDBACK(Feedback(recall, fact, verdict, note))


def why(subject: str) -> Call[dict[str, Any]]:
    """Recalls are told apart by how their ids begin."""
    if subject.startswith("r"):
        return WHY_RECALL(OneRecall(subject))
    return WHY_FACT(OneFact(subject))


def export(scopes: Sequence[str] = (), form: str = "jsonl") -> Call[Iterator[str]]:
    return EXPORT(Export(tuple(scopes), form))


def read_export(scope: str, lines: Iterable[str]) -> Iterator[Call[ReadIn]]:
    """As many requests as it takes, each with the first line before its own."""
    whole = (line.rstrip("\r\n") for line in lines)
    head = next((line for line in whole if line.strip()), "")
    part, size = [head], len(head)
    for line in whole:
        part.append(line)
        size += len(line)
        if len(part) >= LINES_AT_ONCE or size >= LETTERS_AT_ONCE:
            yield READ_EXPORT(ReadExport(scope, tuple(part)))
            part, size = [head], len(head)
    yield READ_EXPORT(ReadExport(scope, tuple(part)))


def erase(scope: str, reason: str, person: str = "") -> Call[Tombstone]:
    return ERASE(Erase(scope, reason, person))


def counts() -> Call[dict[str, Any]]:
    return COUNTS(Nothing())
