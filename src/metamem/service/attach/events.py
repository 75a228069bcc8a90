"""What hosts say to a hook, and what they want to hear: each in its documented form.

Claude Code, Codex and Gemini CLI take the same answer: JSON whose `additionalContext` is shown to the
model. Our plug-in for opencode takes it, too.
"""

import json
from dataclasses import dataclass
from typing import Any, Literal

from metamem.core.errors import DataError
from metamem.service.importing.transcript import string
from metamem.service.marks import MARK

Kind = Literal["briefing", "recall"]
MOST = 9000  # characters of what is told; hosts cut at ten thousand
_USUAL = {"briefing": "SessionStart", "recall": "UserPromptSubmit"}


@dataclass(frozen=True, slots=True)
class Said:
    """What a host's JSON says, of what we need."""

    host: str
    session: str
    folder: str
    event: str
    prompt: str
    source: str  # why a session starts: startup, resume, clear, compact


def parsed(host: str, kind: Kind, data: bytes) -> Said:
    try:
        read: Any = json.loads(data)
    except (ValueError, RecursionError):
        raise DataError(f"{host} gave a hook what is no JSON") from None
    if not isinstance(read, dict):
        raise DataError(f"{host} gave a hook what is no object")
    return Said(
        host,
        string(read.get("session_id")),
        string(read.get("cwd")),
        string(read.get("hook_event_name")) or _USUAL[kind],
        string(read.get("prompt")),
        string(read.get("source")),
    )


def answer(said: Said, context: str) -> bytes:
    """As a host reads it; nothing at all where there is nothing to say."""
    if not context:
        return b""
    told = {"hookEventName": said.event, "additionalContext": clipped(context)}
    text = json.dumps({"hookSpecificOutput": told}, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace")


def clipped(text: str, most: int = MOST) -> str:
    """A text cut where a line ends, with its fence closed."""
    if len(text) <= most:
        return text
    end = f"</{MARK}>"
    kept: list[str] = []
    left = most - len(end)
    for line in text.split("\n"):
        left -= len(line) + 1
        if left < 0:
            break
        kept.append(line)
    cut = "\n".join(kept)
    return cut if cut.count(f"<{MARK}") == cut.count(end) else f"{cut}\n{end}"
