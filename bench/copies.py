"""What the copy of a memory for one retrieval costs, by who pays for it, and the floor below that.

    python -m bench.copies [--rounds 300] [--isolation auto] [--json]

CPU time as the kernel counts it, so that other work on the machine disturbs little. The floor is a
plain `fork` of a process with the same libraries, whose copy reads a query, answers and ends, with
no jail, no host and no confinement. The last rows are wall time of retrievals as a caller sees it.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from metamem.core.protocols import CallSite
from metamem.core.types import Design, Experience, Query
from metamem.designs.jailed import Jail
from metamem.hosting.opening import open_unkept
from metamem.models.hashed_embedder import HashedEmbedder

DESIGN = Design('''
from metamem.designs import Memory


class Bench(Memory):
    """Goals."""

    def __init__(self, tools):
        super().__init__(tools)
        self.goals = []

    async def retrieve(self, query):
        return "advice"

    async def update(self, experience):
        self.goals.append(experience.goal)
''')
EXPERIENCES = 50
PAUSE = 0.02  # seconds in which an agent would act
TICK = os.sysconf("SC_CLK_TCK")

FLOOR = """
import gc, importlib, json, os, resource, sys
sys.modules["ssl"] = None
sys.path[:0] = json.loads(sys.argv[1])
for module in json.loads(sys.argv[2]):
    importlib.import_module(module)
from metamem.core.types import Query
from metamem.sandbox import libc, server
gc.collect()
gc.freeze()
line = json.dumps({"id": 1, "op": "retrieve", "data": Query("x").to_json()})
rounds = int(sys.argv[3])
for _ in range(rounds):
    pid = libc.fork()
    if pid == 0:
        Query.from_json(json.loads(line)["data"])
        json.dumps({"id": 1, "ok": "advice"})
        os._exit(0)
    os.waitpid(pid, 0)
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(json.dumps([(u.ru_utime + u.ru_stime) for u in used]))
"""


def cpu(pid: int) -> tuple[float, float]:
    """Seconds of CPU that a process has used, and its ended children."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    own, ended = sum(map(int, words[11:13])), sum(map(int, words[13:15]))
    return own / TICK, ended / TICK


def descendants(pid: int) -> list[int]:
    listings = Path(f"/proc/{pid}/task").glob("*/children")
    children = [int(child) for listing in listings for child in listing.read_text().split()]
    return [p for child in children for p in (child, *descendants(child))]


async def paid(jail: Jail, rounds: int) -> dict[str, float]:
    """Milliseconds of CPU for one copy that answers one query and ends, by who pays."""
    memory = await jail.open(DESIGN, seed=1, embedder=HashedEmbedder())
    for number in range(EXPERIENCES):
        await memory.update(Experience(goal=str(number)))

    async def one() -> None:
        copy = await memory.fork()
        await copy.retrieve(Query("x"))
        await copy.close()

    for _ in range(20):
        await one()
    await asyncio.sleep(0.2)
    assert jail.sandbox.pid is not None
    watched = [jail.sandbox.pid, *descendants(jail.sandbox.pid)]
    before, host = {pid: cpu(pid) for pid in watched}, time.process_time()
    for _ in range(rounds):
        await one()
    await asyncio.sleep(0.2)
    host = time.process_time() - host
    used = {pid: [b - a for a, b in zip(before[pid], cpu(pid), strict=True)] for pid in watched}
    await memory.close()
    server = max(used, key=lambda pid: used[pid][1])  # the one whose children the copies are
    original = sum(own for pid, (own, _) in used.items() if pid != server)
    parts = {"host": host, "fork server": used[server][0], "the memory": original}
    parts |= {"its copy": used[server][1]}
    return {name: 1000 * seconds / rounds for name, seconds in parts.items()}


def floor(rounds: int) -> dict[str, float]:
    from metamem.designs.jailed import _PRELOAD

    def used(rounds: int) -> list[float]:
        places = [str(Path(__file__).parents[1] / "src")]
        words = [json.dumps(places), json.dumps(_PRELOAD), str(rounds)]
        command = [sys.executable, "-S", "-s", "-P", "-c", FLOOR, *words]
        found: list[float] = json.loads(subprocess.check_output(command))
        return found

    none, all_of_them = used(0), used(rounds)
    own, copies = (1000 * (b - a) / rounds for a, b in zip(none, all_of_them, strict=True))
    return {"plain fork: the process": own, "plain fork: its copy": copies}


async def waited(jail: Jail, rounds: int) -> dict[str, float]:
    """Milliseconds of wall time of one retrieval: after an update, and after another retrieval."""
    memory = await open_unkept(jail, DESIGN, seed=1, embedder=HashedEmbedder())
    times: dict[str, list[float]] = {"after an update": [], "after a retrieval": []}
    for _ in range(rounds // 5):
        await memory.update(Experience(goal="x"), CallSite())
        for number in range(4):
            await asyncio.sleep(PAUSE)
            begun = time.perf_counter()
            await memory.retrieve(Query("x"), CallSite())
            if number in (0, 3):
                name = "after a retrieval" if number else "after an update"
                times[name].append(time.perf_counter() - begun)
    await memory.close()
    return {name: 1000 * statistics.median(took) for name, took in times.items()}


async def measure(isolation: str, rounds: int) -> dict[str, dict[str, float]]:
    async with Jail(isolation=isolation) as jail:
        return {
            "CPU ms": {**(await paid(jail, rounds)), **floor(rounds)},
            "wall ms of a retrieval (median)": await waited(jail, rounds),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--isolation", default="auto")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    table = asyncio.run(measure(given.isolation, given.rounds))
    if given.json:
        print(json.dumps(table))
        return
    for title, rows in table.items():
        print(title)
        for name, value in rows.items():
            print(f"  {name:28}{value:8.2f}")


if __name__ == "__main__":
    main()
