"""Several memories over one log, which others add to and erase from: none lacks or repeats a line."""

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from metamem.core.errors import StoreError, UsageError
from metamem.core.protocols import CallSite
from metamem.core.types import Design, Experience, Query
from metamem.designs.jailed import Jail
from metamem.hosting.log import FileLog
from metamem.hosting.memory import HostedMemory
from metamem.hosting.opening import open_kept, open_unkept
from metamem.hosting.snapshots import SnapshotFolder
from metamem.models.hashed_embedder import HashedEmbedder
from tests.hosting.logs import SharedLog, line

GOALS = '''
from metamem.designs import Memory


class Goals(Memory):
    """Keeps {} goals."""

    def __init__(self, tools):
        super().__init__(tools)
        self.seen = []

    async def update(self, experience):
        self.seen.append(experience.goal)

    async def retrieve(self, query):
        return " ".join(self.seen)
'''
A, B = Design(GOALS.format("all")), Design(GOALS.format("the"))
EMBEDDER = HashedEmbedder()


@pytest.fixture
async def jail() -> AsyncIterator[Jail]:
    async with Jail() as opened:
        yield opened


async def opened(
    jail: Jail, design: Design, log: SharedLog | FileLog, folder: Path
) -> HostedMemory:
    return await open_kept(jail, design, log, SnapshotFolder(folder), seed=0, embedder=EMBEDDER)


async def seen(memory: HostedMemory) -> list[str]:
    told: str = await memory.retrieve(Query("x"), CallSite())
    return told.split()


def told(memory: HostedMemory, goal: str) -> object:
    return memory.update(Experience(goal=goal))


async def test_what_another_added_meanwhile_is_learned_before_the_next_line(
    jail: Jail, tmp_path: Path
) -> None:
    log = SharedLog("first")
    old = await opened(jail, A, log, tmp_path)
    new = await opened(jail, B, log, tmp_path)
    await told(old, "late")
    await told(new, "after")
    assert await seen(new) == ["first", "late", "after"]
    assert await seen(old) == ["first", "late"]
    await old.catch_up()
    assert await seen(old) == ["first", "late", "after"]
    assert new.position == old.position == 3
    for memory in (old, new):
        await memory.close()
    again = await opened(jail, B, log, tmp_path)
    assert (again.replayed, again.notes) == (0, [])
    assert await seen(again) == ["first", "late", "after"]


async def test_two_memories_may_share_a_log_in_a_folder(jail: Jail, tmp_path: Path) -> None:
    log = FileLog(tmp_path)
    one, two = [await opened(jail, design, log, tmp_path) for design in (A, B)]
    await asyncio.gather(*(told(m, f"{n}") for n, m in enumerate([one, two] * 10)))
    for memory in (one, two):
        await memory.catch_up()
    order = await seen(one)
    assert await seen(two) == order and sorted(map(int, order)) == [*range(20)]
    assert len((tmp_path / "experiences.jsonl").read_text().splitlines()) == 20


@pytest.mark.parametrize("seed", range(3))
async def test_catching_up_beside_updates_repeats_nothing(
    jail: Jail, tmp_path: Path, seed: int
) -> None:
    luck = random.Random(seed)
    log = SharedLog()
    memories = [await opened(jail, design, log, tmp_path) for design in (A, B)]
    for number in range(10):
        await log.append(line(f"x{number}"))
    work = [told(m, f"{n}.{m.position}{i}") for i in range(5) for n, m in enumerate(memories)]
    work += [memory.catch_up() for memory in memories * 4]
    work += [seen(memory) for memory in memories * 2]
    luck.shuffle(work)
    await asyncio.gather(*work)
    for memory in memories:
        await memory.catch_up()
        assert len(log.lines) == memory.position == 20
        assert [line(goal) for goal in await seen(memory)] == log.lines


async def test_what_was_erased_is_passed_over_and_keeps_its_position(
    jail: Jail, tmp_path: Path
) -> None:
    log = SharedLog("a", "secret", "b")
    memory = await opened(jail, A, log, tmp_path)
    await memory.close()
    log.erase(1)
    log.lines.append(None)  # the last may be gone, too
    memory = await opened(jail, A, log, tmp_path)
    assert "the log was changed since" in memory.notes[0]
    assert (memory.position, memory.failed_updates, memory.replayed) == (4, 0, 2)
    await told(memory, "c")
    assert await seen(memory) == ["a", "b", "c"]
    await memory.close()
    memory = await opened(jail, A, log, tmp_path)
    assert (memory.position, memory.replayed, memory.notes) == (5, 0, [])
    assert await seen(memory) == ["a", "b", "c"]


async def test_a_memory_closed_for_an_erasure_writes_nothing_back(
    jail: Jail, tmp_path: Path
) -> None:
    log = SharedLog("a", "secret")
    for design in (A, B):
        await (await opened(jail, design, log, tmp_path)).close()
    assert len(_snapshots(tmp_path)) == 2
    memory = await opened(jail, A, log, tmp_path)
    await told(memory, "b")
    await memory.close(keep=False)
    log.erase(1)
    await SnapshotFolder(tmp_path).erase()
    assert _snapshots(tmp_path) == []
    await SnapshotFolder(tmp_path / "none").erase()
    memory = await opened(jail, A, log, tmp_path)
    assert await seen(memory) == ["a", "b"]


async def test_a_state_is_not_kept_for_a_log_that_it_did_not_learn_from(
    jail: Jail, tmp_path: Path
) -> None:
    """Whoever erases and forgets to say so: the state still has it, and must not outlive this."""
    log = SharedLog("a", "secret")
    memory = await opened(jail, A, log, tmp_path)
    await told(memory, "later secret")
    log.erase(2)
    await memory.close()
    assert _snapshots(tmp_path) == []
    assert "not the one that this memory learned from" in memory.notes[0]


def _snapshots(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def test_snapshots_are_kept_wherever_their_folder_is_to_be(
    jail: Jail, tmp_path: Path
) -> None:
    log, folder = SharedLog("a"), tmp_path / "by" / "scope"
    memory = await opened(jail, A, log, folder)
    await memory.close()
    assert memory.notes == []
    assert (await opened(jail, A, log, folder)).replayed == 0


async def test_a_log_that_fails_while_it_is_closed_does_not_keep_the_process(
    jail: Jail, tmp_path: Path
) -> None:
    class Failing(SharedLog):
        fails: type[Exception] | None = None

        async def digest(self, position: int) -> str:
            if self.fails:
                raise self.fails("out of order")
            return await super().digest(position)

    for error in (StoreError, ZeroDivisionError):
        log = Failing("a")
        memory = await opened(jail, A, log, tmp_path / error.__name__)
        log.fails = error
        if error is ZeroDivisionError:
            with pytest.raises(ZeroDivisionError):
                await memory.close()
        else:
            await memory.close()
            assert "out of order" in memory.notes[0]
        with pytest.raises(UsageError, match="this memory is closed"):
            await seen(memory)


async def test_a_log_that_began_anew_under_an_open_memory_is_told(
    jail: Jail, tmp_path: Path
) -> None:
    log = SharedLog("a", "b")
    memory = await opened(jail, A, log, tmp_path)
    log.lines.clear()
    with pytest.raises(StoreError, match="has seen 2 experiences, and its log had 0"):
        await told(memory, "c")


async def test_a_file_has_no_digest_beyond_its_end(tmp_path: Path) -> None:
    log = FileLog(tmp_path)
    await log.append("{}")
    assert [read async for read in log.read()] == [(0, "{}")]
    assert [read async for read in log.read(1)] == []
    assert await log.digest(0) != await log.digest(1)
    with pytest.raises(UsageError, match="has 1 lines, not 2"):
        await log.digest(2)


async def test_a_memory_without_a_log_has_nothing_to_catch_up_with(jail: Jail) -> None:
    memory = await open_unkept(jail, A, seed=0, embedder=EMBEDDER)
    with pytest.raises(UsageError, match="no log"):
        await memory.catch_up()
