"""What a design does wrong is its own failure, of the right kind; nobody else notices."""

import asyncio
import subprocess
import sys
import textwrap
from dataclasses import replace

import pytest

from metamem.core.errors import DesignFailure
from metamem.core.protocols import CallSite
from metamem.core.types import Design, Query
from metamem.designs.jailed import Jail
from tests.attacks.misdeeds import DESIGN, MISDEEDS
from tests.designs.embedder import LetterEmbedder

shared_loop = pytest.mark.asyncio(loop_scope="module")


def bad_design(body: str) -> Design:
    return Design(DESIGN.format(body=textwrap.indent(body.strip("\n"), " " * 8)))


@shared_loop
@pytest.mark.parametrize("name", MISDEEDS)
async def test_it_is_the_designs_failure(name: str, jail: Jail) -> None:
    misdeed = MISDEEDS[name]
    limits = replace(jail.limits, wall=1.0) if misdeed.kind == "wall" else jail.limits
    bystander = await jail.open(bad_design("pass"), seed=1, embedder=LetterEmbedder())
    memory = await jail.open(
        bad_design(misdeed.body), seed=1, embedder=LetterEmbedder(), limits=limits
    )
    with pytest.raises(DesignFailure) as failure:
        await memory.retrieve(Query("be bad"))
        await memory.retrieve(Query("be good"))  # where the misdeed shows only afterwards
    assert failure.value.kind == misdeed.kind
    assert await bystander.retrieve(Query("be good")) == "good"
    await memory.close()
    await bystander.close()


@pytest.mark.parametrize("name", [name for name, misdeed in MISDEEDS.items() if misdeed.alone])
def test_it_is_not_stopped_without_the_jail(name: str) -> None:
    """A loop goes on, a wait lasts, memory is given, and a crash takes the process with it."""
    body = textwrap.indent(MISDEEDS[name].body.strip("\n"), "    ")
    program = f"import os\ndef retrieve():\n{body}\nprint(retrieve())\nprint('done')"
    running = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    ended_in_time = True
    try:
        out, _ = running.communicate(timeout=0.7)
    except subprocess.TimeoutExpired:
        ended_in_time = False
        running.kill()
        out, _ = running.communicate()
    if MISDEEDS[name].kind in ("timeout", "wall"):
        assert not ended_in_time
    elif MISDEEDS[name].kind == "memory":
        assert "done" in out or not ended_in_time
    else:
        assert "done" not in out


@shared_loop
async def test_a_crash_that_python_reports_leaves_the_memory_usable(jail: Jail) -> None:
    memory = await jail.open(bad_design("{}['missing']"), seed=1, embedder=LetterEmbedder())
    with pytest.raises(DesignFailure, match=r"KeyError: 'missing' \(line \d+ of the design"):
        await memory.retrieve(Query("be bad"))
    assert await memory.retrieve(Query("be good")) == "good"
    await memory.close()


@shared_loop
async def test_time_the_host_takes_is_not_the_designs(jail: Jail) -> None:
    async def slow(prompt: str, schema: object, system: str) -> str:
        await asyncio.sleep(0.6)
        return "answer"

    body = "return await self.tools.llm.ask('x')"
    limits = replace(jail.limits, wall=0.4)
    memory = await jail.open(
        bad_design(body), seed=1, embedder=LetterEmbedder(), at=CallSite(model=slow), limits=limits
    )
    assert await memory.retrieve(Query("ask")) == "answer"
    await memory.close()


@shared_loop
async def test_cpu_time_is_counted_by_call_and_in_all(jail: Jail) -> None:
    """Many calls within their limit may still be too much in all, which the kernel itself stops."""
    body = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass"
    limits = replace(jail.limits, total_cpu=1)
    memory = await jail.open(bad_design(body), seed=1, embedder=LetterEmbedder(), limits=limits)
    with pytest.raises(DesignFailure) as failure:
        for _ in range(8):
            await memory.retrieve(Query("work"))
    assert failure.value.kind == "timeout"
    assert "in all" in str(failure.value)


@shared_loop
async def test_a_fork_counts_its_cpu_time_from_zero(jail: Jail) -> None:
    body = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass"
    limits = replace(jail.limits, total_cpu=1)
    memory = await jail.open(bad_design(body), seed=1, embedder=LetterEmbedder(), limits=limits)
    for _ in range(4):
        copy = await memory.fork()
        await copy.retrieve(Query("work"))
        await copy.close()
    await memory.close()


@shared_loop
async def test_logs_are_kept_up_to_their_limit(jail: Jail) -> None:
    limits = replace(jail.limits, log_bytes=1000)
    body = "for i in range(100): print('line', i, 'x' * 50)\nreturn 'done'"
    memory = await jail.open(bad_design(body), seed=1, embedder=LetterEmbedder(), limits=limits)
    assert await memory.retrieve(Query("log")) == "done"
    assert memory.logs[0].startswith("line 0")
    assert sum(len(line) + 1 for line in memory.logs) <= 1001
    await memory.close()
