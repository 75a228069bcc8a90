"""What hosts say to a hook, and what they want to hear: each in its documented form.

Claude Code, Codex and Gemini CLI take the same answer: JSON whose `additionalContext` is shown to the
model. Our plug-in for opencode hands on what its host gave it and takes that answer, too.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from metamem.core.documents import read_json
from metamem.core.errors import DataError
from metamem.service.attach.events import (
    Event,
    PromptGiven,
    SessionStarted,
    ToolBegun,
    ToolEnded,
)
from metamem.service.importing import claude, codex, gemini, opencode
from metamem.service.importing.transcript import id_of, mapping, moment, string, text_of
from metamem.service.marks import MARK

# What a hook asks for. Those of one moment may be joined: `briefing+start`.
Kind = Literal["briefing", "start", "recall", "prompt", "before", "after"]
Moment = Literal["start", "prompt", "before", "after"]
_MOMENTS: Mapping[str, Moment] = {
    "briefing": "start",
    "start": "start",
    "recall": "prompt",
    "prompt": "prompt",
    "before": "before",
    "after": "after",
}
_USUAL: Mapping[Moment, str] = {
    "start": "SessionStart",
    "prompt": "UserPromptSubmit",
    "before": "PreToolUse",
    "after": "PostToolUse",
}
MOST = 9000  # characters of what is told; hosts cut at ten thousand


@dataclass(frozen=True, slots=True)
class Heard:
    """An event as a host told it, and the host's own name of it."""

    event: Event
    name: str


def kinds_of(asked: str) -> tuple[frozenset[Kind], Moment]:
    """What is asked for, and at which moment. `ValueError` where nobody can ask so."""
    kinds = asked.split("+")
    moments = {_MOMENTS.get(kind) for kind in kinds}
    if len(moments) != 1 or None in moments:
        raise ValueError(asked)
    return frozenset(cast(list[Kind], kinds)), cast(Moment, moments.pop())


def heard(host: str, at: Moment, data: bytes) -> Heard:
    """The event in a host's JSON."""
    try:
        read: Any = read_json(data)
    except ValueError:
        raise DataError(f"{host} gave a hook what is no JSON") from None
    if not isinstance(read, dict):
        raise DataError(f"{host} gave a hook what is no object")
    name = string(read.get("hook_event_name")) or _USUAL[at]
    about: dict[str, Any] = {
        "host": host,
        "session": id_of(read.get("session_id")),
        "folder": string(read.get("cwd")),
        "transcript": string(read.get("transcript_path")),
        "agent": id_of(read.get("agent_id")),
        "at": moment(read.get("timestamp")),
    }
    if at == "start":
        return Heard(SessionStarted(**about, source=string(read.get("source"))), name)
    if at == "prompt":
        return Heard(PromptGiven(**about, prompt=string(read.get("prompt"))), name)
    call = _CALLS.get(host, _call)(read)
    if at == "before":
        return Heard(ToolBegun(**about, **call), name)
    return Heard(ToolEnded(**about, **call, **_ENDS[host](read, call["tool"])), name)


def answer(name: str, context: str) -> bytes:
    """As a host reads it; nothing at all where there is nothing to say."""
    if not context:
        return b""
    told = {"hookEventName": name, "additionalContext": clipped(context)}
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


# --- calls, as each host names their fields --------------------------------------------------

_Read = Mapping[str, Any]


def _call(read: _Read) -> dict[str, Any]:
    return {
        "call": id_of(read.get("tool_use_id")),
        "tool": string(read.get("tool_name")),
        "arguments": mapping(read.get("tool_input")),
    }


def _opencode_call(read: _Read) -> dict[str, Any]:
    part = mapping(read.get("part"))
    if part:  # a failure, which its hooks do not tell
        given = mapping(mapping(part.get("state")).get("input"))
        call, tool = id_of(part.get("callID")), string(part.get("tool"))
        return {"call": call, "tool": tool, "arguments": given}
    about, output = mapping(read.get("input")), mapping(read.get("output"))
    return {
        "call": id_of(about.get("callID")),
        "tool": string(about.get("tool")),
        "arguments": mapping(about.get("args", output.get("args"))),
    }


def _claude_end(read: _Read, tool: str) -> dict[str, Any]:
    took = read.get("duration_ms")
    end: dict[str, Any] = {"milliseconds": int(took) if isinstance(took, int | float) else None}
    if "error" not in read:
        return end | {"result": _words(read.get("tool_response")), "failed": False}
    error = string(read.get("error"))
    return end | {
        "result": error,
        "error": error,
        "failed": True,
        "exit_code": claude.exit_code(error),
        "interrupted": read.get("is_interrupt") is True,
    }


def _codex_end(read: _Read, tool: str) -> dict[str, Any]:
    """Codex tells of what it takes for a success, and of a command not how it ended."""
    result = _words(read.get("tool_response"))
    code = codex.exit_code(result)
    failed = code != 0 if code is not None else None
    return {
        "result": result,
        "error": result if failed else "",
        "failed": failed,
        "exit_code": code,
    }


def _gemini_end(read: _Read, tool: str) -> dict[str, Any]:
    response = mapping(read.get("tool_response"))
    said = text_of(response.get("llmContent")) or string(response.get("returnDisplay"))
    error, code = mapping(response.get("error")), gemini.exit_code(tool, said)
    if error:
        message = string(error.get("message")) or said
        return {"result": said, "error": message, "failed": True, "exit_code": code}
    return {
        "result": said,
        "error": said if code else "",
        "failed": bool(code),
        "exit_code": code,
    }


def _opencode_end(read: _Read, tool: str) -> dict[str, Any]:
    state = mapping(mapping(read.get("part")).get("state"))
    if state:
        error = string(state.get("error"))
        time = mapping(state.get("time"))
        begun, ended = moment(time.get("start")), moment(time.get("end"))
        took = ended - begun if begun is not None and ended is not None else None
        stopped = mapping(state.get("metadata")).get("interrupted") is True
        return {
            "result": error,
            "error": error,
            "failed": True,
            "milliseconds": took,
            "interrupted": stopped,
        }
    output = mapping(read.get("output"))
    said, code = string(output.get("output")), mapping(output.get("metadata")).get("exit")
    code = code if isinstance(code, int) and not isinstance(code, bool) else None
    return {
        "result": said,
        "error": said if code else "",
        "failed": bool(code),
        "exit_code": code,
    }


_CALLS: Mapping[str, Callable[[_Read], dict[str, Any]]] = {opencode.HOST: _opencode_call}
_ENDS: Mapping[str, Callable[[_Read, str], dict[str, Any]]] = {
    claude.HOST: _claude_end,
    codex.HOST: _codex_end,
    gemini.HOST: _gemini_end,
    opencode.HOST: _opencode_end,
}


def _words(response: Any) -> str:
    """What a tool gave, in words, whatever form it has."""
    if isinstance(response, str):
        return response
    if isinstance(response, Mapping):
        streams = [string(response.get(name)) for name in ("stdout", "stderr")]
        if any(streams):
            return "\n".join(part for part in streams if part)
        if said := text_of(response.get("content")):
            return said
    elif said := text_of(response):
        return said
    return "" if response is None else json.dumps(response, ensure_ascii=False)
