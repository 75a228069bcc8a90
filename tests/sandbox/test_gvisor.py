"""gVisor: what a sandbox leaves behind, which is nothing, and whose fault its end is."""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from metamem.core.errors import DesignFailure, EngineFault
from metamem.core.types import Design, Query
from metamem.designs.jailed import Jail
from metamem.designs.limits import Limits
from metamem.sandbox import gvisor
from metamem.sandbox.host import Program, Sandbox
from tests.designs.embedder import LetterEmbedder

pytestmark = pytest.mark.skipif(not gvisor.works(), reason="the isolation runsc does not work here")

ROOT = Path(__file__).parents[2]
DOER = Design(
    """
import os
from metamem.designs import Memory
class Doer(Memory):
    async def retrieve(self, query):
        exec(query.goal)
        return "done"
    async def update(self, experience): pass
"""
)


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where bundles go, so that it can be told which are ours."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def _processes(folder: Path) -> dict[int, str]:
    """Every process that was told of the folder: runsc, its gofer and its sandbox."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if str(folder) in words:
            found[int(entry.name)] = words.split("\0")[0]
    return found


async def _until(holds: Callable[[], bool]) -> bool:
    for _ in range(200):
        if holds():
            return True
        await asyncio.sleep(0.05)
    return False


async def test_a_hung_memory_leaves_nothing_behind(folder: Path) -> None:
    async with Jail(Limits(wall=1), isolation="runsc") as jail:
        memory = await jail.open(DOER, seed=1, embedder=LetterEmbedder())
        [bundles] = folder.iterdir()
        assert len(_processes(folder)) >= 3
        assert len(list(bundles.iterdir())) == 1
        with pytest.raises(DesignFailure) as failure:
            await memory.retrieve(Query("import time; time.sleep(1000)"))
        assert failure.value.kind == "wall"
        assert await _until(lambda: not _processes(folder) and not list(bundles.iterdir()))
    assert list(folder.iterdir()) == []


async def test_two_jails_are_strangers_and_leave_nothing_behind(folder: Path) -> None:
    async with Jail(isolation="runsc") as one, Jail(isolation="runsc") as other:
        memories = await asyncio.gather(
            one.open(DOER, seed=1, embedder=LetterEmbedder()),
            other.open(DOER, seed=1, embedder=LetterEmbedder()),
        )
        for memory in memories:
            assert await memory.retrieve(Query("pass")) == "done"
    assert list(folder.iterdir()) == []
    assert await _until(lambda: not _processes(folder))


@pytest.mark.parametrize("part", ["runsc", "runsc-sandbox"])
async def test_a_sandbox_that_is_killed_is_an_engine_fault(folder: Path, part: str) -> None:
    async with Jail(isolation="runsc") as jail:
        memory = await jail.open(DOER, seed=1, embedder=LetterEmbedder())
        names = {pid: Path(name).name for pid, name in _processes(folder).items()}
        os.kill(next(pid for pid, name in names.items() if name == part), signal.SIGKILL)
        with pytest.raises(EngineFault, match="from outside"):
            for _ in range(100):
                await memory.retrieve(Query("pass"))
                await asyncio.sleep(0.02)


async def test_a_memory_cannot_blame_the_sandbox() -> None:
    """Not even by ending as runsc would say of one that was killed."""
    async with Jail(isolation="runsc") as jail:
        memory = await jail.open(DOER, seed=1, embedder=LetterEmbedder())
        with pytest.raises(DesignFailure, match="status 137") as failure:
            await memory.retrieve(Query("os._exit(137)"))
        assert failure.value.kind == "crash"


async def test_cpu_time_in_all_is_held_and_does_not_count_the_start() -> None:
    work = "import time\nend = time.process_time() + 0.4\nwhile time.process_time() < end: pass"
    async with Jail(Limits(total_cpu=1), isolation="runsc") as jail:
        memory = await jail.open(DOER, seed=1, embedder=LetterEmbedder())
        assert await memory.retrieve(Query(work)) == "done"
        with pytest.raises(DesignFailure, match="in all") as failure:
            for _ in range(20):
                await memory.retrieve(Query(work))
        assert failure.value.kind == "timeout"


async def test_a_program_that_cannot_start_says_why(folder: Path) -> None:
    sandbox = Sandbox(Program("no_such_module:serve", (), ("json",)), isolation="runsc")
    with pytest.raises(EngineFault, match="no_such_module"):
        await sandbox.spawn(replace(Limits(), wall=30))
    await sandbox.close()
    assert list(folder.iterdir()) == []


HOST = """
import asyncio
from metamem.designs.jailed import Jail
from tests.designs.embedder import LetterEmbedder
from tests.sandbox.test_gvisor import DOER
async def main():
    async with Jail(isolation="runsc") as jail:
        await jail.open(DOER, seed=1, embedder=LetterEmbedder())
        print(jail.sandbox.pid, flush=True)
        await asyncio.sleep(1000)
asyncio.run(main())
"""


@pytest.mark.parametrize("keeper_too", [False, True])
async def test_when_the_host_is_killed_nothing_is_left(folder: Path, keeper_too: bool) -> None:
    host = subprocess.Popen(  # noqa: ASYNC220 (nothing else runs in this loop)
        [sys.executable, "-c", HOST],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert host.stdout is not None
    with host.stdout:
        keeper = int(await asyncio.to_thread(host.stdout.readline))
    assert len(_processes(folder)) >= 3
    if keeper_too:
        os.kill(keeper, signal.SIGKILL)
    host.kill()
    host.wait()
    assert await _until(lambda: not _processes(folder))
    if keeper_too:  # nobody was left to clear up: the next keeper does
        assert list(folder.iterdir())
        async with Jail(isolation="runsc"):
            assert len(list(folder.iterdir())) == 1
    assert await _until(lambda: not list(folder.iterdir()))
