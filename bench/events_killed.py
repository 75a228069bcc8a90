"""Hooks and the daemon killed at random moments, while sessions go on: see `bench.killed`."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import tempfile
import time
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

from bench.events_world import CHORES, GOALS, Session, begun, kept, session
from bench.killed_trials import Found
from metamem.service.attach import control
from metamem.service.attach.places import Meeting, hook_command
from metamem.service.database import FILE

CHECKED = (
    "every call of every transcript with its result, every failure, none twice; one decision for a"
    " failure in a session, shown twice at most; nothing waits"
)
SESSIONS = 6
SETTLE = 300.0


def killed(moments: int, seed: int) -> Found:
    """So many kills, of hooks and of the daemon by turns; then everything is looked at."""
    luck, began = random.Random(seed), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="metamem-bench-") as folder:
        home = Path(folder)
        meeting = begun(home)
        try:
            sessions = [
                session(luck.choice(["claude-code", "codex"]), home, f"s{number}", seed)
                for number in range(SESSIONS)
            ]
            for one in sessions:
                one.goal(luck.choice(GOALS))
            control.start(meeting)
            count = 0
            while count < moments:
                count += _moment(meeting, luck.choice(sessions), luck)
            wrong = _looked_at(meeting, sessions)
        finally:
            with suppress(Exception):
                control.stop(meeting)
    return Found("hooks", moments, count, time.monotonic() - began, tuple(wrong))


def _moment(meeting: Meeting, one: Session, luck: random.Random) -> int:
    """A session goes on for a call or two; how many processes were killed meanwhile."""
    count = 0
    for command, said, code in luck.choice(CHORES):
        given = {"tool_name": "Bash", "tool_input": {"command": command}}
        call = f"toolu_{one.name}_{len(one.calls):04}"
        count += _hook(meeting, one, "before", "PreToolUse", luck, **given, tool_use_id=call)
        one.call(command, said, code)
        if one.host == "claude-code" and code:
            more = {"error": f"Exit code {code}\n{said}", "is_interrupt": False}
            event, kind = "PostToolUseFailure", "after"
        else:
            more, event, kind = {"tool_response": said}, "PostToolUse", "capture"
        count += _hook(meeting, one, kind, event, luck, **given, tool_use_id=call, **more)
    if luck.random() < 0.3:
        count += _hook(meeting, one, "capture", "Stop", luck)
    if luck.random() < 0.3:
        time.sleep(luck.random() * 0.3)
        count += _kill_daemon(meeting)
        if luck.random() < 0.5:
            control.start(meeting)
    return count


def _hook(
    meeting: Meeting, one: Session, kind: str, event: str, luck: random.Random, **more: object
) -> int:
    process = subprocess.Popen(
        ["/bin/sh", "-c", hook_command(kind, one.host, meeting)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(one.said(event, **more)).encode())
    process.stdin.close()
    ends = luck.random() < 0.4
    if ends:
        time.sleep(luck.random() * 0.04)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    code = process.wait()
    assert code in (0, -signal.SIGKILL), code
    return int(code != 0)


def _kill_daemon(meeting: Meeting) -> int:
    told = control.status(meeting)
    if told is None:
        return 0
    with suppress(ProcessLookupError):
        os.kill(told["pid"], signal.SIGKILL)
    return 1


def _looked_at(meeting: Meeting, sessions: list[Session]) -> list[str]:
    """What is not as it should be, once every session has said that it is over."""
    for one in sessions:
        command = hook_command("capture", one.host, meeting)
        data = json.dumps(one.said("Stop")).encode()
        subprocess.run(["/bin/sh", "-c", command], input=data, check=True)
    control.start(meeting)
    until = time.monotonic() + SETTLE
    failing = sum(_failed(one) for one in sessions)
    there: dict[str, int] = {}
    while time.monotonic() < until:
        told = control.status(meeting)
        if told is not None and told["waiting"] == 0:
            there = kept(meeting)
            if there["failures"] >= failing:
                break
        time.sleep(0.3)
    control.stop(meeting)
    wrong = []
    calls = sum(len(one.calls) for one in sessions)
    wanted = {"with_results": calls, "calls": calls, "doubled": 0, "failures": failing, "failures_doubled": 0}  # fmt: skip
    wrong += [f"{name}: {there.get(name)}, not {n}" for name, n in wanted.items() if there.get(name) != n]  # fmt: skip
    if there.get("most_times", 0) > 2:
        wrong.append(f"a suggestion was shown {there['most_times']} times")
    with closing(sqlite3.connect(meeting.memories / FILE)) as database:
        if database.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
            wrong.append("the database is damaged")
        turns = Counter(
            database.execute("SELECT session, origin FROM facts WHERE type = 'turn'").fetchall()
        )
    wrong += [f"{turn} is there {n} times" for turn, n in turns.items() if n > 1]
    waiting = [p.name for p in meeting.spool.iterdir() if p.suffix != ".draft"]
    return wrong + [f"{name} waits in the spool" for name in waiting]


def _failed(one: Session) -> int:
    """How many calls of a session failed, as its transcript says."""
    text = one.file.read_text(encoding="utf-8")
    if one.host == "codex":
        return sum("Process exited with code " in line and "code 0" not in line for line in text.splitlines())  # fmt: skip
    return text.count('"is_error": true')
