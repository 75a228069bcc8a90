"""A design that dies of an experience: that one is skipped, and everything else goes on."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from metamem.core.errors import AllowanceSpent, DesignFailure
from metamem.core.protocols import CallSite
from metamem.core.types import Design, Experience, Query
from metamem.designs.jailed import Jail
from metamem.designs.limits import Limits
from metamem.hosting import feeding
from metamem.hosting.memory import HostedMemory, Rollout
from metamem.hosting.opening import open_kept
from metamem.hosting.snapshots import SnapshotFolder
from metamem.models.hashed_embedder import HashedEmbedder
from tests.hosting.logs import SharedLog
from tests.hosting.test_shared_log import A, seen, told

FRAGILE = Design('''
import os
import time

from metamem.designs import Memory


class Fragile(Memory):
    """Dies of some goals."""

    def __init__(self, tools):
        super().__init__(tools)
        self.seen = []

    async def update(self, experience):
        self.seen.append(experience.goal)
        if experience.goal.startswith("exit"):
            os._exit(3)
        while experience.goal == "busy":
            pass
        if experience.goal == "hang":
            time.sleep(60)
        if experience.goal == "odd":
            raise ValueError("odd")
        if experience.goal == "ask":
            self.seen.append(await self.tools.llm.ask("what now?"))

    async def retrieve(self, query):
        if query.goal == "die":
            os._exit(3)
        return " ".join(self.seen)
''')
LIMITS = Limits(update_cpu=0.5, wall=1.5)


@pytest.fixture
async def jail() -> AsyncIterator[Jail]:
    async with Jail(LIMITS) as opened:
        yield opened


async def opened(
    jail: Jail, log: SharedLog, folder: Path, design: Design = FRAGILE, **settings: Any
) -> HostedMemory:
    kept = SnapshotFolder(folder)
    return await open_kept(jail, design, log, kept, seed=0, embedder=HashedEmbedder(), **settings)


@pytest.mark.parametrize("poison", ["exit", "busy"])
async def test_what_a_design_dies_of_is_skipped_now_and_ever_after(
    jail: Jail, tmp_path: Path, poison: str
) -> None:
    log = SharedLog("a", "odd")
    memory = await opened(jail, log, tmp_path)
    with pytest.raises(DesignFailure):
        await told(memory, poison)
    assert await seen(memory) == ["a", "odd"]
    await told(memory, "b")
    assert await seen(memory) == ["a", "odd", "b"]
    assert (memory.position, memory.failed_updates) == (4, 2)  # "odd" was half taken in
    assert memory.notes[0].startswith("experience 2 of the log is skipped")
    await memory.close(keep=False)
    memory = await opened(jail, log, tmp_path)  # all is replayed, and it dies again
    assert await seen(memory) == ["a", "odd", "b"]
    assert (memory.position, memory.failed_updates) == (4, 2)
    assert memory.notes[0].startswith("experience 2 of the log is skipped")
    await memory.close()
    memory = await opened(jail, log, tmp_path)
    assert (memory.replayed, memory.failed_updates, memory.notes) == (0, 2, [])
    other = await opened(jail, log, tmp_path, A)
    assert await seen(other) == ["a", "odd", poison, "b"]


async def test_all_that_wait_for_a_memory_that_dies_are_served(jail: Jail, tmp_path: Path) -> None:
    memory = await opened(jail, SharedLog("a"), tmp_path)
    work = [told(memory, "exit"), *(seen(memory) for _ in range(5)), told(memory, "b")]
    first, *rest = await asyncio.gather(*work, return_exceptions=True)
    assert isinstance(first, DesignFailure)
    assert all(answer in (["a"], ["a", "b"], None) for answer in rest)
    assert await seen(memory) == ["a", "b"]


@pytest.mark.slow
async def test_what_the_clock_stopped_gets_another_chance_before_it_is_skipped(
    jail: Jail, tmp_path: Path
) -> None:
    memory = await opened(jail, SharedLog("a"), tmp_path)
    with pytest.raises(DesignFailure) as caught:
        await told(memory, "hang")
    assert (caught.value.kind, memory.notes) == ("wall", [])
    assert await seen(memory) == ["a"]
    assert memory.notes[0].startswith("experience 1 of the log is skipped")


async def test_a_design_that_dies_again_and_again_is_given_up(
    jail: Jail, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeding, "SKIPS_PER", 10)
    log = SharedLog(*(f"{n}" for n in range(10)))
    memory = await opened(jail, log, tmp_path)
    for number in range(feeding.FEW_SKIPS + 1):
        with pytest.raises(DesignFailure, match="ended its process"):
            await told(memory, f"exit {number}")
    assert len(await seen(memory)) == 10  # one more is allowed for ten experiences
    with pytest.raises(DesignFailure, match="ended its process"):
        await told(memory, "exit")
    for call in (seen(memory), told(memory, "more")):
        with pytest.raises(DesignFailure, match=r"died of 5 of the 1\d experiences") as caught:
            await call
        assert "another design" in caught.value.hint
    await memory.close()
    with pytest.raises(DesignFailure, match=r"died of 5 of the 1\d experiences"):
        await opened(jail, log, tmp_path)
    assert "more" in await seen(await opened(jail, log, tmp_path, A))


@pytest.mark.parametrize("rollout", ["frozen", "streaming"])
async def test_a_retrieval_that_dies_leaves_a_memory_that_can_be_asked(
    jail: Jail, tmp_path: Path, rollout: Rollout
) -> None:
    memory = await opened(jail, SharedLog("a"), tmp_path, rollout=rollout)
    await told(memory, "b")
    with pytest.raises(DesignFailure, match="ended its process"):
        await memory.retrieve(Query("die"), CallSite())
    assert await seen(memory) == ["a", "b"]
    assert (memory.failed_updates, memory.notes) == (0, [])


async def test_what_the_host_could_not_serve_is_learned_when_it_can(
    jail: Jail, tmp_path: Path
) -> None:
    money = False

    async def model(prompt: str, schema: dict[str, Any] | None, system: str) -> str:
        if not money:
            raise AllowanceSpent("no money")
        return "answered"

    memory = await opened(
        jail, SharedLog("a"), tmp_path, call_site_of=lambda position: CallSite(model=model)
    )
    with pytest.raises(AllowanceSpent):
        await told(memory, "ask")
    assert await seen(memory) == ["a"]
    with pytest.raises(AllowanceSpent):
        await memory.update(Experience(goal="b"))
    money = True
    await memory.update(Experience(goal="c"))
    assert await seen(memory) == ["a", "ask", "answered", "b", "c"]
    assert (memory.position, memory.failed_updates, memory.notes) == (4, 0, [])
