"""Sessions for `bench.events`: transcripts as hosts write them, and what hooks say meanwhile."""

import json
import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from metamem.service.attach.places import Meeting
from metamem.service.database import FILE, Database

CALLS = 20  # of a session
# What is run, what it prints, how it ends; and what then works.
CHORES = [
    (("pytest -q", "sh: pytest: command not found", 127), ("uv run pytest -q", "3 passed", 0)),
    (("npm test", "npm ERR! missing script: test", 1), ("npm run check", "ok", 0)),
    (("make deploy", "make: *** No rule to make target 'deploy'.  Stop.", 2), ("make release", "ok", 0)),
    (("python tool.py", "ModuleNotFoundError: No module named 'httpx'", 1), ("pip install httpx", "ok", 0)),
]  # fmt: skip
GOALS = ["Run the tests of the parser.", "Release the shop.", "Write a page about the sea."]


@dataclass
class Session:
    """One session of a host, growing call by call."""

    host: str
    name: str
    project: Path
    file: Path
    luck: random.Random
    calls: list[str] = field(default_factory=list)
    _last: str | None = None
    _at: int = 0

    def goal(self, text: str) -> None:
        if self.host == "codex":
            about = {"id": self.name, "cwd": str(self.project), "cli_version": "0.146.0"}
            self._write({"type": "session_meta", "payload": about})
            said = {"type": "user_message", "message": text, "images": []}
            self._write({"type": "event_msg", "payload": said})
        else:
            self._claude("user", {"role": "user", "content": text})

    def call(self, command: str, said: str, code: int) -> str:
        one = f"toolu_{self.name}_{len(self.calls):04}"
        self.calls.append(one)
        if self.host == "codex":
            given = json.dumps({"cmd": command})
            self._item({"type": "function_call", "name": "exec_command", "call_id": one, "arguments": given})  # fmt: skip
            told = f"Process exited with code {code}\nOutput:\n{said}"
            self._item({"type": "function_call_output", "call_id": one, "output": told})
            return one
        use = {"type": "tool_use", "id": one, "name": "Bash", "input": {"command": command}}
        self._claude("assistant", {"id": f"m{one}", "role": "assistant", "content": [use]})
        text = f"Exit code {code}\n{said}" if code else said
        result = {"type": "tool_result", "tool_use_id": one, "content": text, "is_error": code != 0}
        self._claude("user", {"role": "user", "content": [result]})
        return one

    def said(self, event: str, **more: Any) -> dict[str, Any]:
        """What a hook is given."""
        return {
            "session_id": self.name,
            "transcript_path": str(self.file),
            "cwd": str(self.project),
            "permission_mode": "default",
            "hook_event_name": event,
            **({"model": "m", "turn_id": "t"} if self.host == "codex" else {}),
            **more,
        }

    def events(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """All of it: what is asked of the daemon, in the order of a session's life."""
        yield "briefing+start", self.said("SessionStart", source="startup")
        goal = self.luck.choice(GOALS)
        self.goal(goal)
        yield "recall+prompt", self.said("UserPromptSubmit", prompt=goal)
        while len(self.calls) < CALLS:
            for command, said, code in self.luck.choice(CHORES):
                given = {"tool_name": "Bash", "tool_input": {"command": command}}
                one = f"toolu_{self.name}_{len(self.calls):04}"
                yield "before", self.said("PreToolUse", **given, tool_use_id=one)
                self.call(command, said, code)
                if self.host == "claude-code" and code:
                    error = {"error": f"Exit code {code}\n{said}", "is_interrupt": False}
                    yield (
                        "after",
                        self.said("PostToolUseFailure", **given, tool_use_id=one, **error),
                    )
                else:
                    told = {"tool_response": said}
                    yield "after", self.said("PostToolUse", **given, tool_use_id=one, **told)

    def _item(self, payload: dict[str, Any]) -> None:
        self._write({"type": "response_item", "payload": payload})

    def _claude(self, kind: str, message: dict[str, Any]) -> None:
        uuid = f"{self.name}-{self._at}"
        about = {"parentUuid": self._last, "cwd": str(self.project), "sessionId": self.name}
        self._write({**about, "type": kind, "uuid": uuid, "message": message})
        self._last = uuid

    def _write(self, record: dict[str, Any]) -> None:
        self._at += 1
        at = f"2026-08-01T10:{self._at // 60 % 60:02}:{self._at % 60:02}.000Z"
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"timestamp": at, **record}) + "\n")


def session(host: str, home: Path, name: str, seed: int) -> Session:
    file = home / "transcripts" / f"rollout-{name}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    return Session(host, name, home / "shop", file, random.Random(f"{name} {seed}"))


def point(meeting: Meeting, one: Session, event: str = "Stop") -> None:
    """Leave a pointer, as the hook does: a draft, and then its name."""
    parts = (one.host, one.name, str(one.file), str(one.project), event)
    draft = meeting.spool / f"{one.host}.{one.name}.{os.getpid()}.draft"
    draft.write_bytes("\0".join(parts).encode())
    draft.rename(meeting.spool / f"{one.host}.{one.name}.pointer")


def begun(home: Path) -> Meeting:
    """A folder of memories, and a project of its own."""
    (home / "shop").mkdir(parents=True, exist_ok=True)
    if shutil.which("git"):
        subprocess.run(["git", "init", "-q", str(home / "shop")], check=True)
    meeting = Meeting(home / "memory")
    meeting.make()
    return meeting


def kept(meeting: Meeting) -> dict[str, int]:
    """What memory holds: calls, those that are there twice, and what was made of them."""
    from metamem.foundry.failures.tables import FAILURES

    with (
        closing(Database(meeting.memories / FILE, also=[FAILURES])) as database,
        database.reading() as execute,
    ):
        ((calls, distinct),) = execute("SELECT COUNT(*), COUNT(DISTINCT id) FROM calls")
        ((results,),) = execute("SELECT COUNT(*) FROM calls WHERE result IS NOT NULL")
        ((failures, uses),) = execute(
            "SELECT COUNT(*), COUNT(DISTINCT session || use_id) FROM failure_occurrences"
        )
        ((moments, shown, most),) = execute(
            "SELECT COUNT(*), COALESCE(SUM(times > 0), 0), COALESCE(MAX(times), 0)"
            " FROM suggestion_moments"
        )
    return {
        "calls": calls,
        "doubled": calls - distinct,
        "with_results": results,
        "failures": failures,
        "failures_doubled": failures - uses,
        "moments": moments,
        "shown": shown,
        "most_times": most,
    }


def resident(process: int) -> float:
    """Megabytes of a process."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0
