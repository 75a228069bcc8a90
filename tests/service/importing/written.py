"""Sessions in each host's documented form, written here."""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

FOLDER = "/home/ada/webshop"


def jsonl(records: Iterable[Mapping[str, Any] | str]) -> str:
    """Lines; a text stands as it is, damaged or not."""
    return "".join(
        (record if isinstance(record, str) else json.dumps(record)) + "\n" for record in records
    )


class Claude:
    """A session as Claude Code writes it, record by record."""

    def __init__(self, session: str = "c1", folder: str = FOLDER) -> None:
        self.session, self.folder = session, folder
        self.records: list[dict[str, Any] | str] = []
        self.last: str | None = None
        self._number = 0

    def _add(self, kind: str, *, parent: str | None = None, **more: Any) -> str:
        self._number += 1
        uuid = f"{self.session}-{self._number:04}"
        self.records.append(
            {
                "parentUuid": parent if parent is not None else self.last,
                "isSidechain": False,
                "userType": "external",
                "cwd": self.folder,
                "sessionId": self.session,
                "version": "2.1.240",
                "type": kind,
                "uuid": uuid,
                "timestamp": f"2026-08-01T10:{self._number // 60:02}:{self._number % 60:02}.000Z",
                **more,
            }
        )
        if not more.get("isSidechain"):
            self.last = uuid
        return uuid

    def user(self, text: Any, *, parent: str | None = None, **more: Any) -> str:
        message = {"role": "user", "content": text}
        return self._add("user", parent=parent, message=message, **more)

    def agent(self, *parts: str | Mapping[str, Any], **more: Any) -> str:
        content = [p if isinstance(p, Mapping) else {"type": "text", "text": p} for p in parts]
        message = {"id": f"msg_{self._number}", "role": "assistant", "content": content}
        return self._add("assistant", message=message, **more)

    def result(self, call: str, text: str, *, error: bool = False, **more: Any) -> str:
        part = {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": error}
        return self.user([part], **more)

    def compact(self, summary: str) -> None:
        self.last = None
        self._add("system", subtype="compact_boundary", content="Conversation compacted")
        self.user(summary, isCompactSummary=True, isVisibleInTranscriptOnly=True)

    def text(self) -> str:
        return jsonl(self.records)


def use(call: str, tool: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": tool, "input": given}


class Codex:
    """A rollout as Codex writes it."""

    def __init__(self, session: str = "x1", folder: str = FOLDER, **meta: Any) -> None:
        self.records: list[dict[str, Any] | str] = []
        self._second = 0
        self.add("session_meta", id=session, cwd=folder, cli_version="0.146.0", **meta)

    def add(self, record: str, /, **payload: Any) -> None:
        self._second += 1
        at = f"2026-08-02T09:{self._second // 60:02}:{self._second % 60:02}.000Z"
        self.records.append({"timestamp": at, "type": record, "payload": payload})

    def user(self, text: str) -> None:
        self.add("event_msg", type="task_started", turn_id=f"t{self._second}")
        content = [{"type": "input_text", "text": text}]
        self.add("response_item", type="message", role="user", content=content)
        self.add("event_msg", type="user_message", message=text, images=[])

    def agent(self, text: str) -> None:
        self.add("event_msg", type="agent_message", message=text)
        content = [{"type": "output_text", "text": text}]
        self.add("response_item", type="message", role="assistant", content=content)

    def run(self, call: str, command: str, output: str, code: int) -> None:
        given = json.dumps({"cmd": command})
        self.add(
            "response_item",
            type="function_call",
            name="exec_command",
            call_id=call,
            arguments=given,
        )
        told = f"Chunk ID: 1\nWall time: 0.2 seconds\nProcess exited with code {code}\nOutput:\n{output}"
        self.add("response_item", type="function_call_output", call_id=call, output=told)

    def text(self) -> str:
        return jsonl(self.records)


def gemini_message(one: str, kind: str, text: Any, **more: Any) -> dict[str, Any]:
    return {
        "id": one,
        "timestamp": f"2026-08-03T11:00:{len(one):02}.000Z",
        "type": kind,
        "content": text,
        **more,
    }


def gemini_head(session: str = "g1", **more: Any) -> dict[str, Any]:
    return {
        "sessionId": session,
        "projectHash": "abc",
        "startTime": "2026-08-03T11:00:00.000Z",
        "lastUpdated": "2026-08-03T11:00:00.000Z",
        **more,
    }


def gemini_file(home: Path, text: str, folder: str = FOLDER, name: str = "session-1.jsonl") -> Path:
    chats = home / ".gemini" / "tmp" / "webshop" / "chats"
    chats.mkdir(parents=True, exist_ok=True)
    (chats.parent / ".project_root").write_text(folder)
    (chats / name).write_text(text)
    return chats / name


class Opencode:
    """opencode's database, as its migrations make it."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._clock = 1_785_000_000_000
        file.parent.mkdir(parents=True, exist_ok=True)
        self._run(
            "CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text,"
            " slug text NOT NULL, directory text NOT NULL, title text NOT NULL,"
            " version text NOT NULL, revert text, time_created integer NOT NULL,"
            " time_updated integer NOT NULL)"
        )
        for table in ("message", "part"):
            extra = "message_id text NOT NULL," if table == "part" else ""
            self._run(
                f"CREATE TABLE {table} (id text PRIMARY KEY, {extra} session_id text NOT NULL,"
                " time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL)"
            )

    def _run(self, statement: str, *values: Any) -> None:
        with closing(sqlite3.connect(self.file)) as database, database:
            database.execute(statement, values)

    def _now(self) -> int:
        self._clock += 1000
        return self._clock

    def session(self, one: str, folder: str = FOLDER, parent: str | None = None) -> None:
        now = self._now()
        self._run(
            "INSERT INTO session VALUES (?, 'p', ?, 's', ?, 'A title', '1.18', NULL, ?, ?)",
            *(one, parent, folder, now, now),
        )

    def message(self, session: str, one: str, role: str, **more: Any) -> None:
        now = self._now()
        data = json.dumps({"role": role, "time": {"created": now}, **more})
        self._run("INSERT INTO message VALUES (?, ?, ?, ?, ?)", one, session, now, now, data)

    def part(self, session: str, message: str, one: str, data: Mapping[str, Any] | str) -> None:
        now = self._now()
        text = data if isinstance(data, str) else json.dumps(data)
        self._run(
            "INSERT OR REPLACE INTO part VALUES (?, ?, ?, ?, ?, ?)",
            *(one, message, session, now, now, text),
        )

    def say(self, session: str, message: str, role: str, text: str, **more: Any) -> None:
        self.message(session, message, role, **more)
        self.part(session, message, f"prt_{message}", {"type": "text", "text": text})

    def revert(self, session: str, message: str | None) -> None:
        told = json.dumps({"messageID": message}) if message else None
        self._run("UPDATE session SET revert = ? WHERE id = ?", told, session)
