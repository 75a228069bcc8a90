"""Rollouts of Codex: `sessions/…/rollout-*.jsonl` in its home, compressed ones and archived ones, too.

The same words stand there twice, as an item for the model and as an event for the screen; they are
taken once. Exit codes stand in the text that the model was given.
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from metamem.core.documents import read_json
from metamem.service.importing.thread import Thread
from metamem.service.importing.transcript import (
    Call,
    Line,
    Record,
    Speaker,
    arguments_of,
    id_of,
    mapping,
    moment,
    said,
    string,
    text_of,
)

HOST = "codex"
_NOT_SAID = (
    "<environment_context",
    "<user_instructions",
    "<permissions",
    "<skill",
    "<turn_aborted",
    "<hook_prompt",
    "<subagent_notification",
    "<user_shell_command",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions",
)
_EXIT = re.compile(r"(?:Process exited with code|[Ee]xit code:?) (-?\d+)")
_WORDS = ("text", "input_text", "output_text")


def home(environment: Mapping[str, str] = os.environ) -> Path:
    given = environment.get("CODEX_HOME")
    return Path(given) if given else Path.home() / ".codex"


def files(environment: Mapping[str, str] = os.environ) -> Iterator[Path]:
    for folder in ("sessions", "archived_sessions"):
        for pattern in ("**/rollout-*.jsonl", "**/rollout-*.jsonl.zst"):
            yield from sorted((home(environment) / folder).glob(pattern))


class Reader:
    """Goes through the records of one file."""

    def __init__(self, state: Mapping[str, Any] | None = None) -> None:
        self.thread = Thread(HOST)
        self._number = 0  # of records so far, by which lines without an id are named
        self._said: set[tuple[str, str]] = set()  # in this turn
        self._open: dict[str, str] = {}  # calls that have not ended in this turn, and their groups
        if state is not None:
            self.thread.resume(state["thread"])
            self._number = int(state["number"])
            self._open = dict(state.get("open", {}))

    def state(self) -> dict[str, Any]:
        return {"thread": self.thread.to_json(), "number": self._number, "open": self._open}

    def feed(self, record: Record) -> None:
        self._number += 1
        payload, at = mapping(record.get("payload")), moment(record.get("timestamp"))
        kind = record.get("type")
        if kind == "session_meta":
            self._begun(payload)
        elif kind == "compacted":
            self.thread.compactions += 1
        elif kind == "response_item":
            self._item(payload, at)
        elif kind == "event_msg":
            self._event(payload, at)

    def _begun(self, payload: Record) -> None:
        thread = self.thread
        if thread.session:
            return  # the header of a session that this one was forked from
        thread.session = id_of(payload.get("id"))
        thread.folder = string(payload.get("cwd"))
        source = mapping(mapping(payload.get("source")).get("subagent"))
        spawned = mapping(source.get("thread_spawn"))
        parent = spawned.get("parent_thread_id") or payload.get("parent_thread_id")
        if source or payload.get("thread_source") == "subagent" or parent:
            thread.parent = id_of(parent) or "unknown"
        thread.seen(moment(payload.get("timestamp")))

    def _item(self, payload: Record, at: int | None) -> None:
        kind, call = payload.get("type"), id_of(payload.get("call_id"))
        if kind == "message":
            role, text = payload.get("role"), text_of(payload.get("content"), _WORDS)
            if role == "user":
                self._say("user", text, at, payload)
            elif role == "assistant":
                self._say("agent", text, at, payload)
        elif kind in ("function_call", "custom_tool_call", "local_shell_call") and call:
            given = payload.get("arguments", payload.get("input", payload.get("action")))
            name = string(payload.get("name")) or str(kind)
            thread = self.thread
            agent = thread.session if thread.parent else ""
            # What is called while another call is under way was called at once with it.
            group = self._open[call] = next(iter(self._open.values()), call)
            self._call(
                Call(
                    call,
                    name,
                    arguments_of(given),
                    at=at,
                    prompt=thread.prompt,
                    group=group,
                    agent=agent,
                )
            )
        elif kind in ("function_call_output", "custom_tool_call_output") and call:
            self._output(call, payload.get("output"), at)

    def _event(self, payload: Record, at: int | None) -> None:
        kind, call = payload.get("type"), id_of(payload.get("call_id"))
        if kind == "user_message":
            self._say("user", string(payload.get("message")), at, payload)
        elif kind == "agent_message":
            self._say("agent", string(payload.get("message")), at, payload)
        elif kind == "thread_rolled_back":
            count = payload.get("num_turns")
            self.thread.cut_prompts(count if isinstance(count, int) else 0)
            self._said.clear()
        elif kind in ("task_started", "turn_started"):
            self._said.clear()
            self._open.clear()
        elif kind == "exec_command_end" and call:
            code = payload.get("exit_code")
            shown = payload.get("aggregated_output") or payload.get("formatted_output")
            self._ended(call, string(shown), code if isinstance(code, int) else None, payload)

    def _say(self, speaker: Speaker, text: str, at: int | None, payload: Record) -> None:
        text = said(text)
        if not text or (speaker == "user" and text.startswith(_NOT_SAID)):
            return
        if speaker == "user" and any(who == "agent" for who, _ in self._said):
            self._said.clear()  # the next turn
        if (speaker, text) in self._said:
            return
        self._said.add((speaker, text))
        own = id_of(payload.get("id")) or f"n{self._number}"
        agent = self.thread.session if self.thread.parent else ""
        if agent and speaker == "user":
            speaker = "agent"
        self.thread.say(Line(own, speaker, text, at, agent))

    def _call(self, call: Call) -> None:
        self.thread.call(call)

    def _output(self, call: str, output: Any, at: int | None) -> None:
        self._open.pop(call, None)
        success = mapping(output).get("success")
        text = string(output) or text_of(mapping(output).get("content", output), _WORDS)
        code = exit_code(text)
        failed = code != 0 if code is not None else None
        if isinstance(success, bool) and failed is None:
            failed = not success
        began = self.thread.began(call)
        took = at - began if at is not None and began is not None else None
        self._call(
            Call(
                call,
                result=text,
                error=text if failed else "",
                failed=failed,
                milliseconds=took,
                exit_code=code,
            )
        )

    def _ended(self, call: str, text: str, code: int | None, payload: Record) -> None:
        took = mapping(payload.get("duration"))
        seconds, nanos = took.get("secs"), took.get("nanos")
        milliseconds = None
        if isinstance(seconds, int) and isinstance(nanos, int):
            milliseconds = seconds * 1000 + nanos // 1_000_000
        failed = code != 0 if code is not None else None
        error = text if failed else ""
        self._call(
            Call(
                call,
                result=text,
                error=error,
                failed=failed,
                milliseconds=milliseconds,
                exit_code=code,
            )
        )


def exit_code(text: str) -> int | None:
    """The one that stands in what the model was given of a command."""
    if text.startswith("{"):
        try:
            code = mapping(mapping(read_json(text)).get("metadata")).get("exit_code")
        except ValueError:
            code = None
        if isinstance(code, int):
            return code
    found = _EXIT.search(text[:2000]) or _EXIT.search(text[-2000:])
    return int(found[1]) if found else None
