"""A user with a home, a project and a memory, and hooks that are run as hosts run them."""

import json
import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from metamem.service.attach import control
from metamem.service.attach.hosts import attachment
from metamem.service.attach.install import Installer
from metamem.service.attach.places import Meeting
from metamem.service.database import FILE
from metamem.service.importing.keeping import scope_of
from metamem.service.service import MemoryService
from metamem.service.words import Draft, Fact, Listing

NOBODY = b"/bin/false"  # what starts no daemon
PATIENCE = 60.0  # seconds; a bound on what hangs, not on what is slow


@dataclass
class Life:
    home: Path

    @property
    def project(self) -> Path:
        return self.home / "shop"

    @property
    def meeting(self) -> Meeting:
        return Meeting(self.home / "memory")

    @property
    def scope(self) -> str:
        return str(scope_of(str(self.project)))

    @property
    def environment(self) -> dict[str, str]:
        """What a host gives its hooks: nothing of this test's own."""
        return {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "CLAUDE_CONFIG_DIR": str(self.home / "claude"),
            "CODEX_HOME": str(self.home / "codex"),
            "GEMINI_CLI_HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "XDG_DATA_HOME": str(self.home / "data"),
        }

    def begin(self, *facts: Draft) -> None:
        self.project.mkdir(parents=True)
        self.meeting.make()
        if facts:
            service = MemoryService(self.meeting.memories)
            service.local().remember(self.scope, facts)
            service.close()

    def attach(self, host: str) -> dict[str, str]:
        """Attach, and read the commands out of the settings that were written: by event."""
        there = attachment(host, self.meeting, environment=self.environment)
        installer = Installer(self.meeting)
        installer.apply(installer.attaching(there))
        first = there.parts[0].path
        if first.suffix == ".js":
            return {"plugin": str(first)}
        hooks = json.loads(first.read_text())["hooks"]
        return {event: groups[-1]["hooks"][0]["command"] for event, groups in hooks.items()}

    def run(
        self, command: str, given: Mapping[str, Any] | bytes
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a hook's command as hosts do: by a shell, in the project, JSON on stdin."""
        data = given if isinstance(given, bytes) else json.dumps(given).encode()
        return subprocess.run(
            ["/bin/sh", "-c", command],
            input=data,
            capture_output=True,
            cwd=self.project,
            env=self.environment,
            timeout=PATIENCE,
        )

    def said(self, command: str, given: Mapping[str, Any]) -> str:
        """The context that a hook gives its host; empty where it says nothing."""
        done = self.run(command, given)
        assert (done.returncode, done.stderr) == (0, b"")
        if not done.stdout:
            return ""
        text: str = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
        return text

    def told(
        self, command: str, given: Callable[[str], Mapping[str, Any]]
    ) -> tuple[dict[str, Any], str]:
        """A hook's answer, and the session that got it. On a busy machine one may come too late for
        its hook; then another session asks, since a session is told a thing once."""
        sessions = (f"session-{number}" for number in count())

        def once() -> tuple[bytes, str] | None:
            session = next(sessions)
            done = self.run(command, given(session))
            assert (done.returncode, done.stderr) == (0, b"")
            return (done.stdout, session) if done.stdout else None

        data, session = until(once)
        if b"<metamem-memory briefing=" in data.replace(b"\\", b""):
            until(lambda: self._noted(session))  # the daemon does so once it has answered
        return json.loads(data), session

    def _noted(self, session: str) -> bool:
        with closing(sqlite3.connect(self.meeting.memories / FILE)) as there:
            asked = "SELECT 1 FROM briefed_sessions WHERE session = ?"
            return there.execute(asked, (session,)).fetchone() is not None

    def settled(self) -> None:
        """Wait until all that hooks pointed to is kept."""

        def done() -> bool:
            told = control.status(self.meeting)
            return told is not None and told["waiting"] == 0

        assert until(done), control.status(self.meeting)

    def facts(self, **listing: Any) -> list[Fact]:
        service = MemoryService(self.meeting.memories)
        try:
            return list(service.local().browse(Listing(limit=1000, **listing)).facts)
        finally:
            service.close()

    def kill(self) -> None:
        """Kill the daemon as hard as can be, and wait until it is gone: a socket whose process is
        just dying still takes what a hook sends."""
        told = control.status(self.meeting)
        if told is not None:
            with suppress(ProcessLookupError):
                os.kill(told["pid"], signal.SIGKILL)
            assert until(lambda: (control.status(self.meeting) or {}).get("pid") != told["pid"])

    def end(self) -> None:
        """No process is left behind, also none that a hook has only begun to start."""
        with suppress(Exception):
            control.stop(self.meeting)
        for process in self._daemons():
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def _daemons(self) -> list[int]:
        """Processes that were started for this memory and no other."""
        found, wanted = [], os.fsencode(self.meeting.memories)
        for about in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                if about.read_bytes().rstrip(b"\0").endswith(b"\0" + wanted):
                    found.append(int(about.parent.name))
        return found


def until(what: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := what():
            return found
        time.sleep(0.05)
    return what()
