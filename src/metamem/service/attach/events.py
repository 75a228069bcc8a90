"""What happens in a session, in one form for all hosts. The form is a contract and has a version.

Hooks tell events as they come (`hooked`), and what is kept of a session can be told as the same events
later (`metamem.foundry.events`). Both name a call by its host's id, so that one call is one call whoever
tells of it. Times are milliseconds since 1970.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from metamem.core.errors import DataError

VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What every event says: whose session it is, and where."""

    host: str
    session: str
    folder: str = ""
    transcript: str = ""  # where the host keeps the session, if it says so
    agent: str = ""  # the sub-agent in which it happens; the session's own where empty
    at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStarted(About):
    """A session starts, or starts again."""

    source: str = ""  # why, in the host's word: startup, resume, clear, compact


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptGiven(About):
    """The user asks for something."""

    prompt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolBegun(About):
    """A tool is about to be used."""

    call: str = ""  # the host's id of it; empty where it gives none
    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEnded(ToolBegun):
    """A tool was used, and what came of it."""

    result: str | None = None
    error: str = ""
    failed: bool | None = None  # None where nobody says
    exit_code: int | None = None
    milliseconds: int | None = None
    interrupted: bool = False  # by the user: no failure


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnded(About):
    """A session is over. How it went is told by the best sign there is, if there is one."""

    reason: str = ""  # in the host's word
    by: str = "unknown"  # tests, exit, commit, correction, unknown
    success: bool | None = None
    confidence: float = 0.0


Event = SessionStarted | PromptGiven | ToolBegun | ToolEnded | SessionEnded
NAMES: Mapping[str, type[Event]] = {
    "session_started": SessionStarted,
    "prompt_given": PromptGiven,
    "tool_begun": ToolBegun,
    "tool_ended": ToolEnded,
    "session_ended": SessionEnded,
}
_NAME_OF = {kind: name for name, kind in NAMES.items()}


def to_json(event: Event) -> dict[str, Any]:
    """An event as other programs read it."""
    return {"version": VERSION, "event": _NAME_OF[type(event)], **asdict(event)}


def from_json(given: Mapping[str, Any]) -> Event:
    """The event that `to_json` wrote. What a later version adds is left out; one that this program
    cannot know is refused."""
    version, kind = given.get("version"), NAMES.get(str(given.get("event")))
    if not isinstance(version, int) or version > VERSION:
        raise DataError(
            f"events of version {version!r} are not known here",
            hint=f"this metamem knows up to {VERSION}",
        )
    if kind is None:
        raise DataError(f"no event is called {given.get('event')!r}", hint=", ".join(NAMES))
    known = {each.name: given[each.name] for each in fields(kind) if each.name in given}
    try:
        return kind(**known)
    except TypeError as error:
        raise DataError(f"an event is not whole: {error}") from None
