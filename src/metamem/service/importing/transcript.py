"""What a session of any coding agent says, in one form.

A transcript may be a piece: what a file has more than at the last look. A call whose beginning was
in an earlier piece comes as the half that is new; the halves have one id. What was rewound is named
by the ids of its turns, which may stand in earlier pieces.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from metamem.core.documents import read_json
from metamem.service.marks import MARK
from metamem.service.writing.fields import identifier

Speaker = Literal["user", "agent"]
Record = Mapping[str, Any]

_OWN = re.compile(rf"<{MARK}\b.*?(?:</{MARK}>|\Z)", re.DOTALL | re.IGNORECASE)
# The same where a host wrote its signs as a page does, or put what a hook said between its own.
_TOLD = re.compile(
    rf"\s*(?:<hook_context>\s*)?(?:<|&lt;){MARK}\b.*?(?:<|&lt;)/{MARK}(?:>|&gt;)"
    r"(?:\s*</hook_context>)?",
    re.DOTALL | re.IGNORECASE,
)
_REMINDER = re.compile(r"<system-reminder>.*?(?:</system-reminder>|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Line:
    """What a person or an agent said."""

    id: str
    speaker: Speaker
    text: str
    at: int | None = None  # milliseconds since 1970
    agent: str = ""  # the sub-agent in whose conversation it stands; the session's own where empty


@dataclass(frozen=True, slots=True)
class Call:
    """A tool that an agent used: what it gave, what came back, or one half of that."""

    id: str
    tool: str = ""  # empty where only the result is new
    arguments: Mapping[str, Any] = field(default_factory=dict)
    result: str | None = None  # None while nothing came back
    error: str = ""
    failed: bool | None = None  # None where nobody says
    at: int | None = None
    milliseconds: int | None = None
    prompt: str = ""  # the line of the user that it serves
    group: str = ""  # calls that were made at once have one group
    agent: str = ""
    exit_code: int | None = None

    def joined(self, later: "Call") -> "Call":
        """Both halves of a call; what only one of them knows is kept."""
        return replace(
            self,
            tool=self.tool or later.tool,
            arguments=self.arguments or later.arguments,
            result=later.result if later.result is not None else self.result,
            error=later.error or self.error,
            failed=later.failed if later.failed is not None else self.failed,
            at=self.at if self.at is not None else later.at,
            milliseconds=_first(later.milliseconds, self.milliseconds),
            prompt=self.prompt or later.prompt,
            group=self.group or later.group,
            agent=self.agent or later.agent,
            exit_code=_first(later.exit_code, self.exit_code),
        )


@dataclass(frozen=True, slots=True)
class Transcript:
    """A session, or a piece of one."""

    host: str
    session: str
    folder: str = ""  # where the agent worked
    title: str = ""
    parent: str = ""  # the session that started this one, as a sub-agent
    lines: tuple[Line, ...] = ()
    calls: tuple[Call, ...] = ()
    rewound: tuple[str, ...] = ()  # ids of lines that were taken back
    started_at: int | None = None
    ended_at: int | None = None
    compactions: int = 0
    damaged: int = 0  # records that could not be read


def said(text: str) -> str:
    """What somebody said, without what memory told and what the host put in."""
    return _REMINDER.sub("", _OWN.sub("", text)).strip()


def given_back(text: str) -> str:
    """What a tool gave, without what memory told: some hosts put a hook's words into it."""
    return _TOLD.sub("", text) if MARK in text.lower() else text


def moment(value: Any) -> int | None:
    """Milliseconds since 1970, of ISO 8601 or of a number of seconds or milliseconds."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        whole = value if value >= 1e11 else value * 1000
        return int(whole) if 0 <= whole < 1e14 else None
    if isinstance(value, str):
        try:
            return int(datetime.fromisoformat(value).timestamp() * 1000)
        except (ValueError, OverflowError):
            return None
    return None


def text_of(content: Any, kinds: Sequence[str] = ("text",)) -> str:
    """The words of a message: a text, or a list of parts of which some are texts."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        content = [content]
    if not isinstance(content, list):
        return ""
    parts = []
    for part in content:
        if isinstance(part, str):
            parts.append(part)
        elif isinstance(part, Mapping) and part.get("type", "text") in kinds:
            parts.append(string(part.get("text")))
    return "\n".join(part for part in parts if part)


def string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def id_of(value: Any) -> str:
    """An id as it is kept: nothing else of it goes any further, so that all that has one id meets."""
    return identifier(string(value))


def mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def arguments_of(value: Any) -> Mapping[str, Any]:
    """A call's arguments, which some hosts keep as a text of JSON."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, str):
        try:
            read = read_json(value)
        except ValueError:
            return {"input": value}
        return read if isinstance(read, Mapping) else {"input": value}
    return {}


def _first(*values: int | None) -> int | None:
    return next((value for value in values if value is not None), None)
