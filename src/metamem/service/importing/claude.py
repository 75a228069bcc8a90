"""Transcripts of Claude Code: `projects/<folder>/<session>.jsonl` in its configuration folder.

Records are a tree by `parentUuid`. A prompt whose parent is not the end of what was said before it
begins a branch of its own: what came after that parent was rewound. Calls at once make branches,
too, but their results are no prompts. Sub-agents stand in side chains, or in files of their own.
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from metamem.service.importing.thread import Thread
from metamem.service.importing.transcript import (
    Call,
    Line,
    Record,
    Speaker,
    id_of,
    mapping,
    moment,
    said,
    string,
    text_of,
)

HOST = "claude-code"
SUB_AGENT = "agent-"  # how the names of sub-agents' files begin
_SUB_AGENTS = "subagents"  # the folder of them, in one that is named as the session is
REMEMBERED = 400  # records whose places the next look knows; a longer way back reads all again
_EXIT = re.compile(r"(?:Error: )?Exit code:? (-?\d{1,9})\b")  # how a failed command's output begins
_NOT_SAID = (  # what stands in the user's place and is not the user's word
    "<command-name>",
    "<command-message>",
    "<local-command-",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-notification>",
    "<user-memory-input>",
    "[Request interrupted",
    "Caveat: The messages below were generated",
)


class Unknown(Exception):
    """A prompt goes back to a record that this look does not know: all must be read again."""


def home(environment: Mapping[str, str] = os.environ) -> Path:
    given = environment.get("CLAUDE_CONFIG_DIR")
    return Path(given) if given else Path.home() / ".claude"


def files(environment: Mapping[str, str] = os.environ) -> Iterator[Path]:
    yield from sorted((home(environment) / "projects").glob("**/*.jsonl"))


def of_sub_agents(transcript: Path) -> list[Path]:
    """The files of a session's sub-agents, which have a folder beside the session's own."""
    return sorted((transcript.with_suffix("") / _SUB_AGENTS).glob(f"{SUB_AGENT}*.jsonl"))


def of_the_same(transcript: Path) -> list[Path]:
    """The other files of a file's session: its own, and those of its sub-agents."""
    if transcript.parent.name != _SUB_AGENTS:
        return of_sub_agents(transcript)
    own = transcript.parent.parent.with_suffix(".jsonl")
    found = [own, *of_sub_agents(own)]
    return [path for path in found if path != transcript and path.is_file()]


class Reader:
    """Goes through the records of one file."""

    def __init__(self, state: Mapping[str, Any] | None = None) -> None:
        self.thread = Thread(HOST)
        self._after: dict[str, int] = {}  # how many lines stood when a record was written
        self._resumed = state is not None
        if state is not None:
            self.thread.resume(state["thread"])
            self._after = {str(k): int(v) for k, v in state["after"].items()}

    def state(self) -> dict[str, Any]:
        recent = list(self._after.items())[-REMEMBERED:]
        return {"thread": self.thread.to_json(), "after": dict(recent)}

    def feed(self, record: Record) -> None:
        thread, kind = self.thread, record.get("type")
        if kind in ("summary", "custom-title", "ai-title"):
            title = record.get("summary") or record.get("customTitle") or record.get("aiTitle")
            thread.title = string(title) or thread.title
            return
        aside = id_of(record.get("agentId")) or ("side" if record.get("isSidechain") else "")
        thread.session = thread.session or id_of(record.get("sessionId"))
        thread.folder = thread.folder or string(record.get("cwd"))
        if kind == "user":
            self._user(record, aside)
        elif kind == "assistant":
            self._assistant(record, aside)
        elif kind == "system" and record.get("subtype") == "compact_boundary":
            thread.compactions += 1
        if isinstance(record.get("uuid"), str) and not aside:
            self._after[id_of(record["uuid"])] = len(thread.kept)

    def _user(self, record: Record, aside: str) -> None:
        content = mapping(record.get("message")).get("content")
        results = [part for part in _parts(content) if part.get("type") == "tool_result"]
        for part in results:
            self._result(record, part, aside)
        if results or record.get("isMeta") or record.get("isCompactSummary"):
            return
        text = said(text_of(content))
        if not text or text.startswith(_NOT_SAID):
            return
        if not aside:
            self._rewind(id_of(record.get("parentUuid")))
        # A sub-agent's prompt is the word of the agent that sent it.
        speaker: Speaker = "agent" if aside else "user"
        at = moment(record.get("timestamp"))
        self.thread.say(Line(id_of(record.get("uuid")), speaker, text, at, aside))

    def _rewind(self, parent: str) -> None:
        if not parent:
            return
        if parent in self._after:
            if self._after[parent] < len(self.thread.kept):
                self.thread.cut(self._after[parent])
        elif self._resumed:
            raise Unknown

    def _assistant(self, record: Record, aside: str) -> None:
        message = mapping(record.get("message"))
        content, at = message.get("content"), moment(record.get("timestamp"))
        if record.get("isApiErrorMessage"):
            return
        text = said(text_of(content))
        self.thread.say(Line(id_of(record.get("uuid")), "agent", text, at, aside))
        for part in _parts(content):
            if part.get("type") == "tool_use" and string(part.get("id")):
                self.thread.call(
                    Call(
                        id_of(part["id"]),
                        string(part.get("name")),
                        mapping(part.get("input")),
                        at=at,
                        prompt=self.thread.prompt,
                        group=id_of(message.get("id")),
                        agent=aside,
                    )
                )

    def _result(self, record: Record, part: Record, aside: str) -> None:
        call = id_of(part.get("tool_use_id"))
        if not call:
            return
        details, at = mapping(record.get("toolUseResult")), moment(record.get("timestamp"))
        took = details.get("durationMs", details.get("totalDurationMs"))
        began = self.thread.began(call)
        if not isinstance(took, int | float) and at is not None and began is not None:
            took = at - began
        result, failed = text_of(part.get("content")), bool(part.get("is_error", False))
        self.thread.call(
            Call(
                call,
                result=result,
                error=result if failed else "",
                failed=failed,
                milliseconds=int(took) if isinstance(took, int | float) else None,
                agent=aside,
                exit_code=exit_code(result) if failed else None,
            )
        )


def exit_code(error: str) -> int | None:
    """The one with which the output of a failed command begins."""
    found = _EXIT.match(error)
    return int(found[1]) if found else None


def _parts(content: Any) -> list[Record]:
    return [p for p in content if isinstance(p, Mapping)] if isinstance(content, list) else []
