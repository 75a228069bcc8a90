"""What each host sends to a hook, in its documented form, and what it may be answered."""

from pathlib import Path
from typing import Any

START, PROMPT, END = "start", "prompt", "end"

EVENTS = {
    "claude-code": {START: "SessionStart", PROMPT: "UserPromptSubmit", END: "Stop"},
    "codex": {START: "SessionStart", PROMPT: "UserPromptSubmit", END: "Stop"},
    "gemini": {START: "SessionStart", PROMPT: "BeforeAgent", END: "AfterAgent"},
}


def sent(
    host: str, moment: str, session: str, folder: Path, transcript: Path | None, prompt: str = ""
) -> dict[str, Any]:
    """The JSON of an event as the host documents it."""
    common: dict[str, Any] = {
        "session_id": session,
        "transcript_path": None if transcript is None else str(transcript),
        "cwd": str(folder),
        "hook_event_name": EVENTS[host][moment],
    }
    if host == "claude-code":
        common |= {"permission_mode": "default", "prompt_id": "p1", "effort": {"level": "high"}}
    elif host == "codex":
        common |= {"model": "gpt-5", "permission_mode": "default"}
        if moment != START:
            common["turn_id"] = "t1"
    else:
        common["timestamp"] = "2026-08-03T11:00:00.000Z"
    if moment == START:
        common["source"] = "startup"
    elif moment == PROMPT:
        common["prompt"] = prompt
    elif host == "gemini":
        common |= {"prompt": prompt, "prompt_response": "Done.", "stop_hook_active": False}
    else:
        common |= {"stop_hook_active": False, "last_assistant_message": "Done."}
    return common


def schema(event: str) -> dict[str, Any]:
    """What a host takes from a hook that adds context. Codex refuses any field beside these."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["hookSpecificOutput"],
        "properties": {
            "continue": {"type": "boolean"},
            "stopReason": {"type": "string"},
            "suppressOutput": {"type": "boolean"},
            "systemMessage": {"type": "string"},
            "hookSpecificOutput": {
                "type": "object",
                "additionalProperties": False,
                "required": ["hookEventName"],
                "properties": {
                    "hookEventName": {"const": event},
                    "additionalContext": {"type": "string", "maxLength": 9999},
                },
            },
        },
    }
