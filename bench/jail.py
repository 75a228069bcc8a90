"""What the jail costs, beside a plain subprocess that does the same work with no protection.

    python -m bench.jail [--isolation auto] [--rounds 200] [--json]

Both sides run the same design in a process of its own and speak JSON lines with this one. Medians
of wall time, both sides measured by turns in the same run. The jail's fork of a running memory is
set beside the only way there is without it: a new process that sees all experiences again.
"""

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable

from metamem.core.protocols import CallSite
from metamem.core.types import Design, Experience, Query
from metamem.designs.jailed import Jail, JailedMemory
from metamem.designs.limits import Limits
from metamem.models.hashed_embedder import HashedEmbedder

SOURCE = """
from metamem.designs import Memory
class Bench(Memory):
    def __init__(self, tools):
        super().__init__(tools)
        self.goals = []
    async def retrieve(self, query):
        if query.goal == "ask":
            return await self.tools.llm.ask("x")
        return "advice"
    async def update(self, experience):
        self.goals.append(experience.goal)
"""
EXPERIENCES = 50

PLAIN = """
import asyncio, json, sys
from metamem.core.types import Experience, Query
from metamem.designs.inside import load
class Model:
    async def ask(self, prompt, schema=None):
        print(json.dumps({"ask": prompt}), flush=True)
        return json.loads(sys.stdin.readline())
class Tools:
    llm = Model()
async def main():
    memory = None
    for line in sys.stdin:
        request = json.loads(line)
        if request["op"] == "open":
            memory, reply = load(request["data"])(Tools()), None
        elif request["op"] == "update":
            reply = await memory.update(Experience.from_json(request["data"]))
        else:
            reply = await memory.retrieve(Query.from_json(request["data"]))
        print(json.dumps({"ok": reply}), flush=True)
asyncio.run(main())
"""


class PlainMemory:
    """The same design in a subprocess with nothing around it."""

    async def start(self) -> "PlainMemory":
        self.process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", PLAIN,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        await self.call("open", SOURCE)
        return self

    async def call(self, operation: str, data: object) -> object:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps({"op": operation, "data": data}).encode() + b"\n")
        while "ok" not in (reply := json.loads(await self.process.stdout.readline())):
            self.process.stdin.write(b'"reply"\n')
        return reply["ok"]

    async def close(self) -> None:
        self.process.kill()
        await self.process.wait()


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    begun = time.perf_counter()
    await work()
    return time.perf_counter() - begun


async def measure(isolation: str, rounds: int) -> dict[str, dict[str, float]]:
    async def model(prompt: str, schema: object, system: str) -> str:
        return "reply"

    jail = Jail(isolation=isolation)
    first = await timed(jail.start)
    embedder = HashedEmbedder()
    opened: list[JailedMemory] = []
    started: list[PlainMemory] = []

    async def open_jailed(limits: Limits | None = None) -> JailedMemory:
        opened.append(
            await jail.open(
                Design(SOURCE), seed=1, embedder=embedder, at=CallSite(model=model), limits=limits
            )
        )
        return opened[-1]

    async def open_plain() -> PlainMemory:
        started.append(await PlainMemory().start())
        return started[-1]

    async def replayed() -> None:
        memory = await open_plain()
        for number in range(EXPERIENCES):
            await memory.call("update", Experience(goal=str(number)).to_json())

    times: dict[str, tuple[list[float], list[float]]] = {
        name: ([], [])
        for name in ("start", "start, no spare", "call", "call to the host", "copy of a state")
    }
    await open_jailed()
    for number in range(max(5, rounds // 20)):
        unheard_of = Limits(total_cpu=1000 + number)  # for which no process was made beforehand
        times["start, no spare"][0].append(await timed(lambda given=unheard_of: open_jailed(given)))
        times["start, no spare"][1].append(await timed(open_plain))
        await opened.pop().close()
        await started.pop().close()
        times["start"][0].append(await timed(open_jailed))
        times["start"][1].append(await timed(open_plain))
        await opened.pop().close()
        await started.pop().close()
    memory, plain = opened[0], await open_plain()
    for number in range(EXPERIENCES):
        await memory.update(Experience(goal=str(number)))
    for _ in range(rounds):
        for name, goal in (("call", "x"), ("call to the host", "ask")):
            query = Query(goal)
            times[name][0].append(await timed(lambda query=query: memory.retrieve(query)))  # type: ignore[misc]
            times[name][1].append(
                await timed(lambda query=query: plain.call("retrieve", query.to_json()))  # type: ignore[misc]
            )
    for _ in range(max(5, rounds // 20)):
        begun = time.perf_counter()
        copy = await memory.fork()
        times["copy of a state"][0].append(time.perf_counter() - begun)
        await copy.close()
        times["copy of a state"][1].append(await timed(replayed))
        await started.pop().close()
    await plain.close()
    await jail.close()
    table = {
        name: {"jail": statistics.median(ours), "plain": statistics.median(theirs)}
        for name, (ours, theirs) in times.items()
    }
    # A question to the host happens within a call: what it adds is the difference.
    for side in ("jail", "plain"):
        table["call to the host"][side] -= table["call"][side]
    for row in table.values():
        row["ratio"] = row["jail"] / row["plain"]
    table["start of the fork server"] = {"jail": first}
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--isolation", "--layer", default="auto")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    table = asyncio.run(measure(options.isolation, options.rounds))
    if options.json:
        print(json.dumps(table))
        return
    print(f"{'':26}{'jail':>12}{'plain':>12}{'ratio':>9}")
    for name, row in table.items():
        plain = f"{row['plain'] * 1e3:9.3f} ms{row['ratio']:9.3f}" if "plain" in row else ""
        print(f"{name:26}{row['jail'] * 1e3:9.3f} ms{plain}")


if __name__ == "__main__":
    main()
