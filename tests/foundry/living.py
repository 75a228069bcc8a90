"""A user whose agents have the hooks of tools, and sessions as their hosts write them."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from metamem.service.attach.places import PROGRAM
from metamem.service.database import FILE
from tests.service.attach import tool_events
from tests.service.attach.living import Life
from tests.service.importing.written import (
    Claude,
    Codex,
    Opencode,
    gemini_file,
    gemini_head,
    gemini_message,
    jsonl,
    use,
)

Run = tuple[str, str, int]  # a command, what it printed, how it ended
MISSING = "sh: pytest: command not found"
FAILING: Run = ("pytest -q", MISSING, 127)
WORKING: Run = ("uv run pytest -q", "3 passed", 0)


class Agents(Life):
    """`Life` with hooks that wait for their answers, however busy the machine is."""

    def attach(self, host: str) -> dict[str, str]:
        found = super().attach(host)
        program = self.home / PROGRAM
        if not program.exists():
            import metamem.service.attach.places as places

            source = Path(places.__file__).with_name(PROGRAM).read_text()
            for name in ("TOOL_SECONDS = 0.02", "ANSWER_SECONDS = 0.3", "STDIN_SECONDS = 1.0"):
                assert name in source
                source = source.replace(name, f"{name.split()[0]} = 20.0")
            program.write_text(source)
        if host == "opencode":
            plugin = Path(found["plugin"])
            text = plugin.read_text().replace("const WAIT = 400", "const WAIT = 20000")
            plugin.write_text(_patient(text, program))
            return found
        return {event: _patient(command, program) for event, command in found.items()}

    def write(self, host: str, session: str, runs: Sequence[Run], goal: str = "") -> Path | None:
        """A session with these commands, where its host would keep it."""
        goal, folder = goal or "Run the tests of the invoice parser.", str(self.project)
        if host == "claude-code":
            claude = Claude(session, folder)
            claude.user(goal)
            for number, (command, output, code) in enumerate(runs):
                call = f"{session}-{number}"
                claude.agent("I run it.", use(call, "Bash", command=command))
                said = f"Exit code {code}\n{output}" if code else output
                claude.result(call, said, error=bool(code))
            return self._file(host, session, claude.text())
        if host == "codex":
            codex = Codex(session, folder)
            codex.user(goal)
            for number, (command, output, code) in enumerate(runs):
                codex.run(f"{session}-{number}", command, output, code)
            return self._file(host, session, codex.text())
        if host == "gemini":
            return self._gemini(session, runs, goal)
        written = self.opencode
        written.session(session, folder)
        written.say(session, f"msg_{session}_0", "user", goal)
        for number, (command, output, code) in enumerate(runs):
            state = {
                "status": "completed",
                "input": {"command": command},
                "output": output,
                "metadata": {"exit": code},
                "time": {"start": 1785000001000 + number, "end": 1785000002000 + number},
            }
            call, message = f"{session}-{number}", f"msg_{session}_{number + 1}"
            written.message(session, message, "assistant")  # one for each step
            part = {"type": "tool", "callID": call, "tool": "bash", "state": state}
            written.part(session, message, f"prt_{session}_{number}", part)
        return None

    @property
    def opencode(self) -> Opencode:
        file = self.home / "data" / "opencode" / "opencode.db"
        if not hasattr(self, "_opencode"):
            self._opencode = Opencode(file)
        return self._opencode

    def _gemini(self, session: str, runs: Sequence[Run], goal: str) -> Path:
        calls = []
        for number, (command, output, code) in enumerate(runs):
            said = f"Output: {output}\nExit Code: {code}" if code else f"Output: {output}"
            response = {"id": f"{session}-{number}", "response": {"output": said}}
            calls.append(
                {
                    "id": f"{session}-{number}",
                    "name": "run_shell_command",
                    "args": {"command": command},
                    "status": "success",
                    "timestamp": f"2026-08-03T11:01:{number:02}.000Z",
                    "result": [{"functionResponse": response}],
                }
            )
        answers = [
            gemini_message(f"m{n + 2}", "gemini", "I run it.", toolCalls=[call])
            for n, call in enumerate(calls)
        ]
        records = [gemini_head(session), gemini_message("m1", "user", goal), *answers]
        return gemini_file(self.home, jsonl(records), str(self.project), f"session-{session}.jsonl")

    def _file(self, host: str, session: str, text: str) -> Path:
        path = self.home / "transcripts" / f"rollout-{session}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.meeting.memories / FILE)) as there:
            return there.execute(query, values).fetchall()

    def tool(
        self, host: str, moment: str, session: str, run: Run, path: Path | None, **more: Any
    ) -> dict[str, Any]:
        command, output, code = run
        return tool_events.sent(
            host, moment, session, self.project, path,
            arguments={"command": command}, said=output, code=code, **more,
        )  # fmt: skip


def _patient(text: str, program: Path) -> str:
    before, name, after = text.partition(f"/{PROGRAM}")
    while name:
        start = before.rindex(" ") + 1
        text = f"{before[:start]}{program}{after}"
        head = len(before[:start]) + len(str(program))
        rest = text[head:]
        before, name, after = rest.partition(f"/{PROGRAM}")
        before = text[:head] + before
    return text


def answer_of(data: bytes) -> Mapping[str, Any]:
    told: Mapping[str, Any] = json.loads(data)
    return told
