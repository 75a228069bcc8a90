"""A trace as Claude Code would have kept it: one line of JSON for each record."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from metamem.foundry.words import Trace

VERSION = "2.1.240"


def write_transcript(trace: Trace, projects: Path) -> Path:
    """Write a session where Claude Code keeps its own: `projects/<folder>/<session>.jsonl`."""
    folder = trace.snapshot.folder if trace.snapshot is not None else "/nowhere"
    path = projects / folder.replace("/", "-") / f"{trace.session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in _records(trace, folder)))
    return path


def _records(trace: Trace, folder: str) -> Iterator[dict[str, Any]]:
    common = {"sessionId": trace.session, "cwd": folder, "version": VERSION, "isSidechain": False}
    parent: str | None = None
    began = trace.started_at or 0

    def record(
        kind: str, uuid: str, at: int, message: dict[str, Any], **more: Any
    ) -> dict[str, Any]:
        nonlocal parent
        made = {
            **common,
            "type": kind,
            "uuid": uuid,
            "parentUuid": parent,
            "timestamp": datetime.fromtimestamp(at / 1000, UTC).isoformat(),
            "message": message,
            **more,
        }
        parent = uuid
        return made

    for prompt, text in trace.prompts.items():
        yield record("user", prompt, began, {"role": "user", "content": text})
    for use in trace.uses:
        at = use.at or began
        call = {"type": "tool_use", "id": use.id, "name": use.tool, "input": dict(use.arguments)}
        said = {"role": "assistant", "id": f"msg-{use.id}", "content": [call]}
        yield record("assistant", f"{use.id}-call", at, said)
        result = {
            "type": "tool_result",
            "tool_use_id": use.id,
            "content": use.result,
            "is_error": bool(use.failed),
        }
        took = use.milliseconds or 0
        yield record(
            "user",
            f"{use.id}-result",
            at + took,
            {"role": "user", "content": [result]},
            toolUseResult={"durationMs": took},
        )
