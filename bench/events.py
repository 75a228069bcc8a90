"""Events of tools at a rate: two processes over the socket, and hook processes beside them.

    python -m bench.events [--minutes 0.5] [--rate 10000] [--json]

Each of the two processes lives through sessions of a host (Claude Code, Codex): it lets the transcript
grow and sends what hooks send, a connection for each event, `--rate` a minute in all. Meanwhile whole hook
processes are run one after the other, as fast as the machine allows, beside an interpreter that does
nothing. Every event must be acknowledged; every call of every transcript must be kept, once, with its
result; the daemon's memory is told at the beginning and at the end. `--minutes 5` is the whole of it.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.events_world import begun, kept, point, resident, session
from bench.hooks import once
from metamem.service.attach import control
from metamem.service.attach.places import Meeting, hook_command

HOSTS = ("claude-code", "codex")
LIMIT = 50.0  # ms, p95 of a hook
PATIENCE = 10.0  # seconds until an event counts as lost
SETTLE = 900.0  # seconds until all is kept, at most


def child(
    home: Path, number: int, seconds: float, per_second: float, name: str = "run"
) -> dict[str, Any]:
    """One of the processes that send: sessions one after the other, at their rate."""
    meeting, host = Meeting(home / "memory"), HOSTS[number]
    sent = lost = told = calls = 0
    times: list[float] = []
    began = time.monotonic()
    for count in range(10**6):
        one = session(host, home, f"{name}-{number}-{count:06}", number)
        for kind, data in one.events():
            wait = began + sent / per_second - time.monotonic()
            if wait > 0:
                time.sleep(wait)
            asked = time.perf_counter()
            answer = control.asked(meeting, kind, host, json.dumps(data).encode(), PATIENCE)
            times.append(time.perf_counter() - asked)
            sent += 1
            lost += answer is None
            told += bool(answer)
        point(meeting, one)
        control.asked(meeting, "look", "-", b"", PATIENCE)
        calls += len(one.calls)
        if time.monotonic() - began > seconds:
            break
    took = time.monotonic() - began
    return {
        "host": host,
        "sent": sent,
        "lost": lost,
        "told": told,
        "calls": calls,
        "per_minute": 60 * sent / took,
        "p50": 1000 * statistics.median(times),
        "p95": 1000 * statistics.quantiles(times, n=20)[18],
    }


def hooks(home: Path, meeting: Meeting, until: float) -> dict[str, Any]:
    """Whole hook processes, one after the other, and an idle interpreter for each tenth of them."""
    one = session("claude-code", home, "hooked", 7)
    one.goal("Run the tests of the parser.")
    luck = random.Random(3)
    times: dict[str, list[tuple[float, float]]] = {}
    idle = f"{sys.executable} -I -S -c pass"
    commands = {
        kind: hook_command(kind, "claude-code", meeting) for kind in ("before", "after", "capture")
    }
    count = 0
    while time.monotonic() < until:
        if count % 10 == 0:
            times.setdefault("python -I -S -c pass", []).append(once(idle, b""))
        failing = luck.random() < 0.2
        given = {"tool_name": "Bash", "tool_input": {"command": "pytest -q" if failing else "ls"}}
        call = f"toolu_hooked_{len(one.calls):04}"
        data = one.said("PreToolUse", **given, tool_use_id=call)
        times.setdefault("before a tool", []).append(
            once(commands["before"], json.dumps(data).encode())
        )
        if failing:
            said = "sh: pytest: command not found"
            one.call("pytest -q", said, 127)
            error = {"error": f"Exit code 127\n{said}", "is_interrupt": False}
            data = one.said("PostToolUseFailure", **given, tool_use_id=call, **error)
            name, kind = "after one that failed", "after"
        else:
            one.call("ls", "a.py", 0)
            data = one.said("PostToolUse", **given, tool_use_id=call, tool_response="a.py")
            name, kind = "after one that worked", "capture"
        times.setdefault(name, []).append(once(commands[kind], json.dumps(data).encode()))
        count += 1
        if len(one.calls) == 1000:
            break  # a longer session is another bench
    point(meeting, one)
    rows = {
        name: {
            "count": len(taken),
            "p50": statistics.median(wall for wall, _ in taken),
            "p95": statistics.quantiles((wall for wall, _ in taken), n=20)[18],
            "cpu": statistics.mean(used for _, used in taken),
        }
        for name, taken in times.items()
        if len(taken) > 1
    }
    return {"rows": rows, "calls": len(one.calls), "processes": sum(len(t) for t in times.values())}


def measure(minutes: float, rate: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="metamem-bench-") as folder:
        home = Path(folder)
        meeting = begun(home)
        try:
            return _measure(home, meeting, minutes, rate)
        finally:
            control.stop(meeting)


def _measure(home: Path, meeting: Meeting, minutes: float, rate: float) -> dict[str, Any]:
    running = control.start(meeting)
    warm = child(
        home, 0, 1.0, rate / 60, "warm"
    )  # so that everything is loaded that is ever needed
    _settled(meeting)
    before = control.status(meeting) or {}
    sizes = [resident(running["pid"])]
    seconds, began = 60 * minutes, time.monotonic()
    children = [
        subprocess.Popen(
            [sys.executable, "-m", "bench.events", "--child", str(home / f"of-{n}"), str(n),
             str(seconds), str(rate / 60 / len(HOSTS))],
            stdout=subprocess.PIPE,
            env={**os.environ, "METAMEM_BENCH_HOME": str(home)},
            text=True,
        )
        for n in range(len(HOSTS))
    ]  # fmt: skip
    ran = hooks(home, meeting, began + seconds)
    sizes.append(resident(running["pid"]))
    found = [json.loads(each.communicate()[0]) for each in children]
    settling = time.monotonic()
    _settled(meeting)
    after = control.status(meeting) or {}
    sizes.append(resident(running["pid"]))
    there = kept(meeting)
    calls = warm["calls"] + ran["calls"] + sum(each["calls"] for each in found)
    heard = {name: after.get(name, 0) - before.get(name, 0) for name in ("answered", "silent", "failed", "turned_away")}  # fmt: skip
    return {
        "minutes": minutes,
        "processes": found,
        "hooks": ran,
        "same_daemon": after.get("pid") == running["pid"],
        "daemon": heard,
        "calls_written": calls,
        "kept": there,
        "calls_lost": calls - there["with_results"],
        "events_lost": sum(each["lost"] for each in found),
        "settled_after_s": time.monotonic() - settling,
        "megabytes": {"begin": sizes[0], "end": sizes[1], "settled": sizes[2]},
        "load": os.getloadavg()[0],
    }


def _settled(meeting: Meeting) -> None:
    until = time.monotonic() + SETTLE
    while time.monotonic() < until:
        told = control.status(meeting)
        if told is not None and told["waiting"] == 0:
            time.sleep(1.0)  # what was kept last is being learned from
            return
        time.sleep(0.2)
    raise SystemExit(f"not all was kept within {SETTLE:.0f} s")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=0.5)
    parser.add_argument("--rate", type=float, default=10_000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.child:
        _, number, seconds, per_second = given.child
        home = Path(os.environ["METAMEM_BENCH_HOME"])
        print(json.dumps(child(home, int(number), float(seconds), float(per_second))))
        return
    found = measure(given.minutes, given.rate)
    if given.json:
        print(json.dumps(found))
    else:
        show(found)
    wrong = found["events_lost"] or found["calls_lost"] or found["kept"]["doubled"]
    raise SystemExit(1 if wrong or not found["same_daemon"] else 0)


def show(found: dict[str, Any]) -> None:
    print(
        f"{found['minutes']:g} minutes; load of the machine {found['load']:.1f} on {os.cpu_count()} cores"
    )
    for each in found["processes"]:
        print(
            f"  {each['host']:12} {each['sent']:>6} events, {each['per_minute']:.0f} a minute;"
            f" answered after {each['p50']:.1f} ms (p95 {each['p95']:.1f}); {each['told']} told something;"
            f" {each['lost']} lost"
        )
    print(f"  hook processes: {found['hooks']['processes']}")
    print(f"  {'':26} {'n':>5} {'p50 ms':>8} {'p95 ms':>8} {'CPU ms':>8}")
    for name, row in found["hooks"]["rows"].items():
        shown = " ".join(f"{row[each]:>8.1f}" for each in ("p50", "p95", "cpu"))
        print(f"  {name:26} {row['count']:>5} {shown}")
    there = found["kept"]
    print(
        f"  calls: {found['calls_written']} written, {there['with_results']} kept with their results,"
        f" {there['doubled']} doubled; all was kept {found['settled_after_s']:.0f} s after the last event"
    )
    print(
        f"  failures: {there['failures']} ({there['failures_doubled']} doubled); suggestions:"
        f" {there['moments']} drawn, {there['shown']} shown, none more than {there['most_times']} times"
    )
    sizes = found["megabytes"]
    print(
        f"  the daemon: {sizes['begin']:.0f} MB at the beginning, {sizes['end']:.0f} at the end,"
        f" {sizes['settled']:.0f} when all was kept; turned away: {found['daemon']['turned_away']}"
    )
    print(f"aim: none lost, none doubled, memory flat, p95 of a hook ≤ {LIMIT:.0f} ms")


if __name__ == "__main__":
    main()
