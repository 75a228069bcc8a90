"""What metamem adds to a model call, and whether many episodes keep an endpoint busy.

    python -m bench.models [--calls 400] [--episodes 200] [--json]

Against a fake endpoint on loopback, in a process of its own. CPU time of this process alone.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from metamem.core.chat import Question, Site, Turn
from metamem.designs.library import load
from metamem.evaluation.jobs import Spec
from metamem.evaluation.rules import Rules
from metamem.models.broker import Broker
from metamem.models.config import ModelConfig
from metamem.runs.opening import staged
from metamem.runs.settings import conditions
from metamem.store.sqlite import SqliteArchive

LATENCY = 1.0  # seconds, as a quick provider has it
SERVER = """
import asyncio, sys
from tests.models.endpoint import Endpoint
async def main():
    async with Endpoint(answer_seconds=float(sys.argv[1])) as server:
        print(server.url, flush=True)
        while True:
            await asyncio.sleep(1)
            print(server.tally.most_at_once, server.tally.requests, flush=True)
asyncio.run(main())
"""


def _question(number: int) -> Question:
    turns = [Turn("system", "You play a game. " * 20)]
    for step in range(10):
        turns += [Turn("user", f"You see room {step}. " * 10), Turn("assistant", "go on")]
    turns.append(Turn("user", f"Task {number}: what now?"))
    return Question(tuple(turns), choices=("go on", "stop"), max_tokens=16)


async def _cpu(calls: int, ask: Callable[[int], Awaitable[Any]]) -> tuple[float, float]:
    """CPU milliseconds and wall milliseconds a call, twenty at a time."""
    room = asyncio.Semaphore(20)

    async def one(number: int) -> None:
        async with room:
            await ask(number)

    await asyncio.gather(*(one(-n - 1) for n in range(20)))  # connections are open by now
    cpu, wall = time.process_time(), time.perf_counter()
    await asyncio.gather(*(one(n) for n in range(calls)))
    return (
        1000 * (time.process_time() - cpu) / calls,
        1000 * (time.perf_counter() - wall) / calls,
    )


async def overhead(url: str, calls: int, folder: Path) -> dict[str, float]:
    """The client alone, then the same through the broker with its log in SQLite."""
    name = f"openai:fake@{url}"
    config = ModelConfig(options={name: {"at_once": 64}})
    bare = config.open(name)
    alone, _ = await _cpu(calls, lambda n: bare.complete(_question(n)))
    await bare.close()
    with SqliteArchive(folder / "calls.db") as archive:
        broker = Broker(archive, config.open_roles({"agent": [name]}), run_id="bench")
        site = Site("agent", design="d", phase="deploy", task="t")
        whole, _ = await _cpu(calls, lambda n: broker.ask(site, _question(n)))
        again, _ = await _cpu(calls, lambda n: broker.ask(site, _question(n)))
        await broker.close()
    return {"client_ms": alone, "with_metamem_ms": whole, "replayed_ms": again}


async def busy(url: str, episodes: int, folder: Path) -> dict[str, float]:
    """ALFWorld episodes at once in one process, with a memory, against the endpoint."""
    name = f"openai:fake@{url}"
    (folder / "metamem.toml").write_text(
        f'[model."{name}"]\nat_once = {episodes}\nconstrain = "vllm"\n'
    )
    import os

    os.environ["METAMEM_CONFIG"] = str(folder / "metamem.toml")
    with SqliteArchive(folder / "busy.db") as archive:
        config, beyond = conditions(
            "alfworld",
            Rules(max_steps=10, collect=10),
            {"agent": name},
            domain_settings={"data": "generated", "train": 20, "valid": episodes},
            agent=Spec("llm"),
            retrieves=episodes,
        )
        async with staged(archive, Spec("inline"), config) as stage:
            broker, evaluator = stage.broker, stage.evaluator(**beyond)
            assert broker is not None
            await evaluator.evaluate(load("no_memory"), "valid", purpose="warm up")
            sent, begun, cpu = broker.counts.sent, time.perf_counter(), time.process_time()
            await evaluator.evaluate(load("success_retrieval"), "valid", purpose="bench")
            calls, seconds = broker.counts.sent - sent, time.perf_counter() - begun
            return {
                "calls": calls,
                "calls_per_second": calls / seconds,
                "cpu_ms_per_call": 1000 * (time.process_time() - cpu) / calls,
            }


class _Server:
    """The endpoint in its own process."""

    def __init__(self, latency: float) -> None:
        command = [sys.executable, "-c", SERVER, str(latency)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.most_at_once = 0

    def __enter__(self) -> "_Server":
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        return self

    def __exit__(self, *error: object) -> None:
        assert self._process.stdout is not None
        time.sleep(1.2)  # for its last word
        self._process.kill()
        for line in self._process.stdout:
            self.most_at_once = int(line.split()[0])
        self._process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=400)
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        with _Server(0.0) as server:
            found = asyncio.run(overhead(server.url, options.calls, Path(folder)))
        with _Server(LATENCY) as server:
            found |= asyncio.run(busy(server.url, options.episodes, Path(folder)))
    found["most_at_once"] = server.most_at_once
    found["ideal_per_second"] = options.episodes / LATENCY
    found["added_ms"] = found["with_metamem_ms"] - found["client_ms"]
    if options.json:
        print(json.dumps(found, indent=2))
        return
    print(f"the client alone        {found['client_ms']:6.2f} ms CPU a call")
    print(
        f"with metamem            {found['with_metamem_ms']:6.2f} ms CPU a call: adds"
        f" {found['added_ms']:.2f} ms (goal 2), {found['with_metamem_ms'] / found['client_ms']:.2f}"
        " times the client"
    )
    print(f"replayed from the log   {found['replayed_ms']:6.2f} ms CPU a call")
    print(
        f"{options.episodes} ALFWorld episodes at once, answers after {LATENCY:g} s:"
        f" {found['calls_per_second']:.0f} calls a second,"
        f" {found['calls_per_second'] / found['ideal_per_second']:.2f} of the most possible,"
        f" {found['most_at_once']:.0f} at once at most,"
        f" {found['cpu_ms_per_call']:.2f} ms CPU a call with world, agent and memory"
    )


if __name__ == "__main__":
    main()
