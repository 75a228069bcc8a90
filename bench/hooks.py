"""What a hook costs its host, from the start of its process to the end, beside what any process costs.

    python -m bench.hooks [--count 60] [--json]

Each row is a whole command line run by `sh -c`, as hosts run it, with the host's documented JSON on
stdin. Rows take turns, so that a busy machine is busy for all of them; the processor's time, which
counts the shell, the hook and nothing else, hardly depends on that. The service is up, is not
there, hangs (takes the connection and never answers) or was never installed.
"""

import argparse
import json
import os
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from metamem.service.attach import control
from metamem.service.attach.places import Meeting, hook_command
from metamem.service.importing.keeping import scope_of
from metamem.service.service import MemoryService
from metamem.service.words import Draft

LIMIT = 50  # ms, p95
FACTS = 2000
KINDS = {
    "briefing": "SessionStart",
    "recall": "UserPromptSubmit",
    "capture": "Stop",
    "before": "PreToolUse",
    "after": "PostToolUseFailure",
}


def prepared(home: Path, name: str, *, facts: int = 0) -> Meeting:
    meeting = Meeting(home / name)
    meeting.make()
    if facts:
        service = MemoryService(meeting.memories)
        drafts = [
            Draft(f"Service number {n} listens on port {7000 + n} and is owned by team {n % 37}.", "note", "user")
            for n in range(facts)
        ]  # fmt: skip
        service.local().remember(str(scope_of(str(home))), drafts)
        service.close()
    else:
        (meeting.folder / "start").write_bytes(b"/bin/true")  # nothing comes of starting it
    return meeting


def hanging(meeting: Meeting) -> socket.socket:
    here = Path.cwd()
    os.chdir(meeting.folder)
    try:
        server = socket.socket(socket.AF_UNIX)
        server.bind("socket")
    finally:
        os.chdir(here)
    server.listen(4096)  # it takes connections and never looks at them
    return server


def given(kind: str, home: Path) -> bytes:
    return json.dumps(
        {
            "session_id": "bench",
            "transcript_path": str(home / "none.jsonl"),
            "cwd": str(home),
            "permission_mode": "default",
            "hook_event_name": KINDS[kind],
            "prompt": "Which port does service number 77 listen on?",
            "source": "startup",
            "tool_name": "Bash",
            "tool_input": {"command": "pytest -q"},
            "tool_use_id": "call-1",
            "error": "Exit code 127\nsh: pytest: command not found",
        }
    ).encode()


def once(command: str, data: bytes) -> tuple[float, float]:
    """Milliseconds of the clock, and of the processor."""
    begun, used = time.perf_counter(), children()
    done = subprocess.run(["/bin/sh", "-c", command], input=data, capture_output=True)
    took = 1000 * (time.perf_counter() - begun)
    assert done.returncode == 0, done
    return took, 1000 * (children() - used)


def children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def rows(home: Path) -> tuple[dict[str, tuple[str, bytes]], Callable[[], None]]:
    up = prepared(home, "up", facts=FACTS)
    down, hung = prepared(home, "down"), prepared(home, "hung")
    control.start(up)
    server = hanging(hung)
    found: dict[str, tuple[str, bytes]] = {
        "sh -c cat": ("cat", given("capture", home)),
        "python -I -S -c pass": (f"{sys.executable} -I -S -c pass", b""),
        "python -c pass": (f"{sys.executable} -c pass", b""),
    }
    for state, meeting in (("up", up), ("down", down), ("hung", hung)):
        for kind in KINDS:
            command = hook_command(kind, "claude-code", meeting)
            found[f"hook, service {state}: {kind}"] = (command, given(kind, home))
    gone = hook_command("recall", "claude-code", Meeting(home / "never"))
    found["hook, never set up"] = (gone, given("recall", home))
    missing = gone.replace(sys.executable, "/nowhere/python")
    found["hook, interpreter gone"] = (missing, given("recall", home))

    def over() -> None:
        server.close()
        control.stop(up)

    return found, over


def measure(count: int) -> list[dict[str, object]]:
    with tempfile.TemporaryDirectory() as folder:
        found, over = rows(Path(folder))
        try:
            for command, data in found.values():
                once(command, data)  # what is read from the disk is read before
            times: dict[str, list[tuple[float, float]]] = {name: [] for name in found}
            for _ in range(count):
                for name, (command, data) in found.items():
                    if "hung" in name and "capture" not in name and len(times[name]) >= count // 4:
                        continue  # they wait out their deadline; fewer will do
                    times[name].append(once(command, data))
        finally:
            over()
    return [
        {
            "what": name,
            "count": len(taken),
            "p50": statistics.median(wall for wall, _ in taken),
            "p95": statistics.quantiles((wall for wall, _ in taken), n=20)[18],
            "cpu": statistics.mean(used for _, used in taken),
        }
        for name, taken in times.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measure(max(8, options.count))
    if options.json:
        print(json.dumps(found))
        return
    print(f"{'':38} {'n':>4} {'p50 ms':>8} {'p95 ms':>8} {'CPU ms':>8}")
    for row in found:
        shown = " ".join(f"{row[name]:>8.1f}" for name in ("p50", "p95", "cpu"))
        print(f"{row['what']:38} {row['count']:>4} {shown}")
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(
        f"aim: p95 ≤ {LIMIT} ms, but for an answer that is waited for: at most 300 ms while the"
        " service hangs"
    )


if __name__ == "__main__":
    main()
