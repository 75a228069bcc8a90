"""What hosts send around a tool, and what they take: names of fields as their published schemas have them.

Claude Code: its hooks reference and the types of its agent SDK. Codex: `codex-rs/hooks/schema/generated`.
Gemini CLI: `docs/hooks/reference.md`. opencode: `packages/plugin/src/index.ts`. Schemas here are our own
words for the same shapes.
"""

from pathlib import Path
from typing import Any

BEFORE, AFTER, FAILED = "before", "after", "failed"
NAMES = {
    "claude-code": {BEFORE: "PreToolUse", AFTER: "PostToolUse", FAILED: "PostToolUseFailure"},
    "codex": {BEFORE: "PreToolUse", AFTER: "PostToolUse"},
    "gemini": {BEFORE: "BeforeTool", AFTER: "AfterTool", FAILED: "AfterTool"},
}
SHELLS = {"claude-code": "Bash", "codex": "Bash", "gemini": "run_shell_command", "opencode": "bash"}

_TEXT, _OBJECT = {"type": "string"}, {"type": "object"}
_MODES = ["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"]


def _schema(required: dict[str, Any], optional: dict[str, Any], *, closed: bool) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": not closed,
        "required": list(required),
        "properties": {**required, **optional},
    }


def input_schema(host: str, moment: str) -> dict[str, Any]:
    """What a host's documents say that a hook is given."""
    required: dict[str, Any] = {
        "session_id": _TEXT,
        "transcript_path": _TEXT,
        "cwd": _TEXT,
        "hook_event_name": {"const": NAMES[host][moment]},
        "tool_name": _TEXT,
        "tool_input": _OBJECT,
    }
    optional: dict[str, Any] = {}
    if host == "claude-code":
        required |= {"tool_use_id": _TEXT}
        optional = {
            "permission_mode": _TEXT,
            "prompt_id": _TEXT,
            "effort": _OBJECT,
            "agent_id": _TEXT,
            "agent_type": _TEXT,
            "duration_ms": {"type": "number"},
        }
        if moment == AFTER:
            required |= {"tool_response": True}
        elif moment == FAILED:
            required |= {"error": _TEXT}
            optional |= {"is_interrupt": {"type": "boolean"}}
    elif host == "codex":
        required |= {
            "transcript_path": {"type": ["string", "null"]},
            "model": _TEXT,
            "permission_mode": {"enum": _MODES},
            "turn_id": _TEXT,
            "tool_use_id": _TEXT,
            "tool_input": True,
        }
        optional = {"agent_id": _TEXT, "agent_type": _TEXT}
        if moment == AFTER:
            required |= {"tool_response": True}
    else:
        required |= {"timestamp": _TEXT}
        optional = {"mcp_context": _OBJECT, "original_request_name": _TEXT}
        if moment != BEFORE:
            required |= {"tool_response": _OBJECT}
    return _schema(required, optional, closed=True)


def output_schema(host: str, event: str) -> dict[str, Any]:
    """What a host takes from a hook that adds context and decides nothing."""
    specific = _schema({"hookEventName": {"const": event}}, {}, closed=host == "codex")
    specific["properties"]["additionalContext"] = {"type": "string", "maxLength": 9999}
    for name in ("permissionDecision", "updatedInput", "tool_input", "tailToolCallRequest"):
        specific["properties"][name] = False  # these change what is done
    whole = _schema({"hookSpecificOutput": specific}, {}, closed=host == "codex")
    for name in ("decision", "continue", "reason", "stopReason", "systemMessage"):
        whole["properties"][name] = False
    return whole


def sent(
    host: str,
    moment: str,
    session: str,
    folder: Path,
    transcript: Path | None,
    *,
    tool: str = "",
    arguments: dict[str, Any] | None = None,
    call: str = "call-1",
    said: str = "",
    code: int = 0,
    **more: Any,
) -> dict[str, Any]:
    """The JSON of an event as a host writes it; `said` is what a command printed."""
    given: dict[str, Any] = {
        "session_id": session,
        "transcript_path": None if transcript is None else str(transcript),
        "cwd": str(folder),
        "hook_event_name": NAMES[host][moment],
        "tool_name": tool or SHELLS[host],
        "tool_input": arguments or {},
    }
    if host == "gemini":
        given |= {"timestamp": "2026-08-03T11:00:00.000Z", "transcript_path": str(transcript or "")}
        if moment != BEFORE:
            text = f"Output: {said}\nExit Code: {code}" if code else f"Output: {said}"
            given["tool_response"] = {"llmContent": text, "returnDisplay": said}
        return {**given, **more}
    given["tool_use_id"] = call
    if host == "codex":
        given |= {"model": "gpt-5", "permission_mode": "default", "turn_id": "t1"}
        if moment == AFTER:
            given["tool_response"] = said
        return {**given, **more}
    given |= {
        "transcript_path": str(transcript or ""),
        "permission_mode": "default",
        "prompt_id": "p1",
        "effort": {"level": "high"},
    }
    if moment == AFTER:
        response = {"stdout": said, "stderr": "", "interrupted": False, "isImage": False}
        given |= {"tool_response": response, "duration_ms": 12}
    elif moment == FAILED:
        given |= {"error": f"Exit code {code}\n{said}" if code else said, "is_interrupt": False}
        given["duration_ms"] = 12
    return {**given, **more}
