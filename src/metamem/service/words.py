"""The words of the memory service: what is written, kept and recalled, as small frozen types.

Texts are as people wrote them, secrets taken out. Times are milliseconds since 1970, UTC.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Any, Literal, get_args

from metamem.core.errors import UsageError

Lifecycle = Literal["active", "superseded", "archived", "merged"]
Visibility = Literal["private", "shared", "public"]
ScopeRole = Literal["reader", "writer", "manager"]
Verdict = Literal["useful", "unused", "wrong"]
LinkKind = Literal["supersedes", "contradicts", "repeats", "merges", "answers", "about"]
Outcome = Literal["stored", "duplicate", "refused"]

LIFECYCLES: tuple[Lifecycle, ...] = get_args(Lifecycle)
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

# How far a text can be believed, by who it came from; what is made of several has the lowest.
TRUST: Mapping[str, int] = MappingProxyType({"user": 3, "agent": 2, "tool": 1, "outside": 0})


@dataclass(frozen=True, slots=True)
class FactType:
    """What is usual for a type of fact, unless somebody says otherwise."""

    importance: float
    half_life_days: float  # of its weight in recall, by age; nothing is stored of that


TYPES: Mapping[str, FactType] = MappingProxyType(
    {
        "instruction": FactType(0.85, 720),  # a standing rule that a person gave
        "decision": FactType(0.8, 360),
        "preference": FactType(0.8, 360),
        "insight": FactType(0.75, 240),
        "error": FactType(0.7, 120),
        "correction": FactType(0.7, 240),
        "plan": FactType(0.6, 90),
        "observation": FactType(0.5, 120),
        "note": FactType(0.5, 180),
        "summary": FactType(0.6, 180),
        "turn": FactType(0.3, 120),  # a line of a conversation, kept as evidence
    }
)


def known_span(since: int | None, until: int | None) -> None:
    """Refuse a span that ends before it begins: it would find nothing, as if nothing were there."""
    if since is not None and until is not None and until < since:
        raise UsageError(
            "the time that is asked for ends before it begins", hint="since comes before until"
        )


def known_type(name: str) -> str:
    if name not in TYPES:
        raise UsageError(f"no type of fact is called {name!r}", hint=f"known: {', '.join(TYPES)}")
    return name


@dataclass(frozen=True, slots=True)
class Draft:
    """What somebody wants remembered."""

    text: str
    type: str = "observation"
    source: str = "agent"  # whose words: user, agent, tool, outside
    origin: str = ""  # where they stand: a file, a tool's call, a session
    author: str = ""  # who said it, as people call them; the caller where it is empty
    said_at: int | None = None  # now, where nothing is said
    meant_from: int | None = None  # the time that it speaks of; found in the text where it is None
    meant_to: int | None = None
    entities: tuple[str, ...] = ()  # besides those found in the text
    importance: float | None = None
    supersedes: str = ""  # the id of the fact whose place it takes
    pinned: bool = False  # always part of a briefing
    about: tuple[str, ...] = ()  # ids of facts, or turns, that it is drawn from


@dataclass(frozen=True, slots=True)
class Turn:
    """One line of a conversation, as evidence."""

    speaker: str
    text: str
    source: str = "user"
    said_at: int | None = None
    id: str = ""  # the host's own, where it has one; its place in the session else


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation or a piece of it. Giving the same turns again adds nothing."""

    id: str
    turns: tuple[Turn, ...]
    host: str = ""
    title: str = ""
    started_at: int | None = None
    ended_at: int | None = None


@dataclass(frozen=True, slots=True)
class Tree:
    """The files that a session began with: a commit, and what was changed since, as git tells it."""

    folder: str  # where the agent worked, at the root of its files or below
    commit: str
    diff: str = ""
    at: int = 0  # milliseconds since 1970
    whole: bool = True  # False where something is left out: the files cannot be had again


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that an agent used in a session, or one half of that: what it gave, or what came back."""

    id: str  # the host's, one in its session
    tool: str = ""  # empty where only the result is told
    arguments: Mapping[str, Any] = field(default_factory=dict)
    result: str | None = None  # None while nothing came back
    error: str = ""
    failed: bool | None = None  # None where nobody says
    exit_code: int | None = None
    at: int | None = None
    milliseconds: int | None = None
    prompt: str = ""  # the id of the turn that it serves
    group: str = ""  # calls that were made at once have one group
    agent: str = ""  # the sub-agent whose it is; the session's own where empty


@dataclass(frozen=True, slots=True)
class CallsKept:
    """What became of a session's calls."""

    stored: int
    joined: int  # more came to be known of them
    known: int
    redacted: int  # in which there were secrets, or more than is kept
    rewound: int = 0


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that is remembered."""

    id: str
    scope: str  # tenant/kind/name
    type: str
    text: str
    author: str
    source: str
    origin: str
    trust: int
    quarantined: bool  # reads like an instruction to a model: shown as data, never by itself
    said_at: int
    meant_from: int | None
    meant_to: int | None
    importance: float
    lifecycle: Lifecycle
    version: int
    session: str
    position: int
    tokens: int
    pinned: bool
    created_at: int
    changed_at: int
    entities: tuple[str, ...] = ()
    told_by: str = ""  # who claimed that the author said it; empty where the author did

    @property
    def said_by(self) -> str:
        """The author, and whose claim that is."""
        return f"{self.author} as told by {self.told_by}" if self.told_by else self.author

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fact that a new one may repeat, replace or contradict; people or models decide."""

    fact: str
    text: str
    kind: LinkKind
    weight: float
    reason: str


@dataclass(frozen=True, slots=True)
class Written:
    """What became of one draft. `id` names the fact where there is one, the older where it repeats."""

    outcome: Outcome
    id: str = ""
    reason: str = ""
    redacted: tuple[str, ...] = ()  # kinds of secrets that were taken out
    quarantined: bool = False
    superseded: tuple[str, ...] = ()
    candidates: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of a session's turns."""

    session: str
    stored: int
    known: int
    refused: int
    redacted: int = 0
    changed: int = 0  # known ones whose text is another now; what it was stays as a version
    notes: tuple[str, ...] = ()  # what was cut or left out, and why


@dataclass(frozen=True, slots=True)
class Ask:
    """A question to memory. No scopes: all that the caller may read."""

    query: str
    scopes: tuple[str, ...] = ()
    limit: int = 10
    tokens: int = 2000  # of all texts together
    types: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None
    speaker: str = ""
    floor: float | None = None  # the least relevance; the ranker's own where it is None
    evidence: bool = True  # lines of conversations, too
    quarantined: bool = True  # what reads like an instruction, marked as data
    now: int | None = None


@dataclass(frozen=True, slots=True)
class Recalled:
    """One fact of an answer, and why it is there."""

    fact: Fact
    score: float
    why: Mapping[str, Any] = field(default_factory=dict)  # terms of the score, in their own names


@dataclass(frozen=True, slots=True)
class Recall:
    """An answer. Its id is what feedback refers to."""

    id: str
    items: tuple[Recalled, ...]
    text: str  # as an agent reads it: budgeted, marked as data
    tokens: int
    waiting: int = 0  # facts whose vectors are still to be made
    notes: tuple[str, ...] = ()
    milliseconds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Briefing:
    """What a new conversation begins with: a part that stays the same from day to day, so that
    prompt caches keep it, and what is new."""

    id: str
    prefix: str
    recent: str
    tokens: int
    facts: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n\n".join(part for part in (self.prefix, self.recent) if part)


@dataclass(frozen=True, slots=True)
class Listing:
    """Which facts to list. Pages follow one another by `after`."""

    scopes: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    lifecycle: tuple[str, ...] = ("active",)
    entity: str = ""
    session: str = ""
    contains: str = ""
    after: str = ""
    limit: int = 50
    since: int | None = (
        None  # of the time that a fact means; of when it was said, where it means none
    )
    until: int | None = None


@dataclass(frozen=True, slots=True)
class Page:
    facts: tuple[Fact, ...]
    next: str = ""  # what `after` must be for the next page; empty at the end


@dataclass(frozen=True, slots=True)
class Version:
    """What a fact was before a change, or what it is now."""

    version: int
    text: str
    type: str
    importance: float
    lifecycle: str
    changed_by: str
    at: int
    reason: str


@dataclass(frozen=True, slots=True)
class Change:
    """What to change of a fact; None leaves it."""

    text: str | None = None
    type: str | None = None
    importance: float | None = None
    pinned: bool | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Tombstone:
    """What is left of what was erased."""

    what: str
    at: int
    decided_by: str
    reason: str
    counts: Mapping[str, int]
