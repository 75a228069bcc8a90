"""Sessions of Gemini CLI: `tmp/<project>/chats/session-*.jsonl` in its folder, and older `.json`.

A message is written again whenever it changes, under the same id. `$rewindTo` takes back a message
and all after it, `$set` changes what is known of the session.
"""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from metamem.core.documents import read_json
from metamem.service.importing.thread import Thread
from metamem.service.importing.transcript import (
    Call,
    Line,
    Record,
    id_of,
    mapping,
    moment,
    said,
    string,
    text_of,
)

HOST = "gemini"
_SHELL = "run_shell_command"
_EXIT = re.compile(r"^Exit Code: (-?\d{1,9})$", re.MULTILINE)
_FAILED = {"error": True, "cancelled": True, "success": False}


def home(environment: Mapping[str, str] = os.environ) -> Path:
    given = environment.get("GEMINI_CLI_HOME")  # the home, not the folder in it
    return (Path(given) if given else Path.home()) / ".gemini"


def files(environment: Mapping[str, str] = os.environ) -> Iterator[Path]:
    chats = home(environment) / "tmp"
    found = [*chats.glob("*/chats/**/*.jsonl"), *chats.glob("*/chats/session-*.json")]
    migrated = {path for path in found if path.suffix == ".jsonl"}
    yield from sorted(p for p in found if p in migrated or p.with_suffix(".jsonl") not in migrated)


def folder_of(path: Path, known: Iterable[str] = ()) -> str:
    """The project of a session's file: named beside it, listed at home, or one of those known
    whose hash is the folder's name."""
    project = next((p.parent for p in path.parents if p.name == "chats"), None)
    if project is None:
        return ""
    marker = project / ".project_root"
    if marker.is_file():
        return marker.read_text(encoding="utf-8", errors="replace").strip()
    listed: Mapping[str, Any] = {}
    try:
        read = read_json((project.parent.parent / "projects.json").read_text(encoding="utf-8"))
        listed = mapping(mapping(read).get("projects"))
    except (OSError, ValueError):
        pass
    for root in (*listed, *known):
        hashed = hashlib.sha256(root.encode()).hexdigest()
        if project.name in (hashed, string(listed.get(root))):
            return root
    return ""


class Reader:
    """Goes through the records of one file."""

    def __init__(self, state: Mapping[str, Any] | None = None) -> None:
        self.thread = Thread(HOST)
        if state is not None:
            self.thread.resume(state["thread"])

    def state(self) -> dict[str, Any]:
        return {"thread": self.thread.to_json()}

    def feed(self, record: Record) -> None:
        if isinstance(record.get("$rewindTo"), str):
            self.thread.cut(self.thread.place(id_of(record["$rewindTo"])) or 0)
        elif isinstance(record.get("id"), str):
            self._message(record)
        elif isinstance(record.get("$set"), Mapping):
            self._about(record["$set"])
        elif isinstance(record.get("sessionId"), str):
            self._about(record)

    def feed_old(self, record: Record) -> None:
        """A whole session in one document."""
        self._about(record)

    def _about(self, record: Record) -> None:
        thread = self.thread
        thread.session = thread.session or id_of(record.get("sessionId"))
        thread.title = string(record.get("summary")) or thread.title
        if record.get("kind") == "subagent":
            thread.parent = thread.parent or "unknown"
        thread.seen(moment(record.get("startTime")))
        messages = record.get("messages")
        if not isinstance(messages, list):
            return
        if thread.kept:  # the history was put together anew, to be shorter
            thread.compactions += 1
            return
        for message in messages:
            if isinstance(message, Mapping) and isinstance(message.get("id"), str):
                self._message(message)

    def _message(self, record: Record) -> None:
        thread, kind, at = self.thread, record.get("type"), moment(record.get("timestamp"))
        if kind not in ("user", "gemini"):
            return
        content = record.get("displayContent") or record.get("content")
        agent = thread.session if thread.parent else ""
        is_user = kind == "user" and not agent
        if kind == "user" and _only_results(record.get("content")):
            return
        text = said(text_of(content))
        own = id_of(record["id"])
        line = Line(own, "user" if is_user else "agent", text, at, agent)
        thread.say(line)
        calls = record.get("toolCalls")
        for call in calls if isinstance(calls, list) else []:
            if isinstance(call, Mapping) and isinstance(call.get("id"), str):
                thread.call(_call(call, thread.prompt, own, agent))


def _call(call: Record, prompt: str, group: str, agent: str) -> Call:
    failed = _FAILED.get(string(call.get("status")))
    result = _result(call.get("result"))
    shown = call.get("resultDisplay")
    if result is None and failed is not None:
        result = string(shown)
    return Call(
        id_of(call["id"]),
        string(call.get("name")),
        mapping(call.get("args")),
        result,
        (result or string(shown)) if failed else "",
        failed,
        moment(call.get("timestamp")),
        prompt=prompt,
        group=group,
        agent=agent,
        exit_code=exit_code(string(call.get("name")), result or ""),
    )


def exit_code(tool: str, result: str) -> int | None:
    """The one that stands in what a shell gave: the last such line is the tool's own, whatever the
    command printed."""
    codes = _EXIT.findall(result) if tool == _SHELL else []
    return int(codes[-1]) if codes else None


def _result(parts: Any) -> str | None:
    """What a tool gave, as the model was told it."""
    if parts is None:
        return None
    found = []
    for part in parts if isinstance(parts, list) else [parts]:
        answer = mapping(mapping(mapping(part).get("functionResponse")).get("response"))
        told = answer.get("output", answer.get("error"))
        found.append(told if isinstance(told, str) else text_of(part))
    return "\n".join(text for text in found if text)


def _only_results(content: Any) -> bool:
    parts = content if isinstance(content, list) else [content]
    return bool(parts) and all("functionResponse" in mapping(part) for part in parts)
