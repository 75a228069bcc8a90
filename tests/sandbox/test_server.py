"""The fork server: what happens when it or the host dies, and who may use it."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy
import pytest

import metamem
from metamem.core.errors import EngineFault
from metamem.core.types import Design, Query
from metamem.designs.jailed import Jail
from metamem.sandbox import bubblewrap, gvisor
from tests.designs.embedder import LetterEmbedder

ROOT = Path(__file__).parents[2]
ECHO = Design(
    """
from metamem.designs import Memory
class Echo(Memory):
    async def retrieve(self, query): return query.goal
    async def update(self, experience): pass
"""
)
ISOLATIONS = [
    pytest.param(
        "bwrap",
        marks=pytest.mark.skipif(
            not bubblewrap.works(), reason="the isolation bwrap does not work here"
        ),
    ),
    "self",
    pytest.param(
        "runsc",
        marks=pytest.mark.skipif(
            not gvisor.works(), reason="the isolation runsc does not work here"
        ),
    ),
]


@pytest.mark.parametrize("isolation", ISOLATIONS)
async def test_a_dead_server_is_an_engine_fault_and_is_replaced(isolation: str) -> None:
    async with Jail(isolation=isolation) as jail:
        memory = await jail.open(ECHO, seed=1, embedder=LetterEmbedder())
        assert jail.sandbox.pid is not None
        os.kill(jail.sandbox.pid, signal.SIGKILL)
        with pytest.raises(EngineFault):
            for _ in range(100):
                await memory.retrieve(Query("x"))
                await asyncio.sleep(0.02)
        again = await jail.open(ECHO, seed=1, embedder=LetterEmbedder())
        assert await again.retrieve(Query("alive")) == "alive"


@pytest.mark.parametrize(
    "isolation", ISOLATIONS[:2]
)  # in gVisor it is not one process: see test_gvisor
async def test_a_process_killed_from_outside_is_an_engine_fault(isolation: str) -> None:
    async with Jail(isolation=isolation) as jail:
        memory = await jail.open(ECHO, seed=1, embedder=LetterEmbedder())
        assert jail.sandbox.pid is not None
        await asyncio.sleep(0.1)  # until the spare is there too
        workers = _workers(jail.sandbox.pid)
        for worker in workers:
            os.kill(worker, signal.SIGKILL)
        assert _outlived(workers) == []
        with pytest.raises(EngineFault, match="from outside"):
            for _ in range(100):
                await memory.retrieve(Query("x"))
                await asyncio.sleep(0.02)
        again = await jail.open(ECHO, seed=1, embedder=LetterEmbedder())
        assert await again.retrieve(Query("alive")) == "alive"


@pytest.mark.parametrize("isolation", ISOLATIONS[:2])
async def test_the_next_process_is_made_beforehand_and_ends_with_the_jail(isolation: str) -> None:
    jail = Jail(isolation=isolation)
    memories = [await jail.open(ECHO, seed=1, embedder=LetterEmbedder()) for _ in range(3)]
    assert jail.sandbox.pid is not None
    await asyncio.sleep(0.1)
    workers = _workers(jail.sandbox.pid)
    assert len(workers) == 4
    assert [await memory.retrieve(Query("x")) for memory in memories] == ["x"] * 3
    await jail.close()
    assert _outlived(workers) == []


HOST = """
import asyncio, sys
from metamem.core.types import Design, Query
from metamem.designs.jailed import Jail
from tests.designs.embedder import LetterEmbedder
LOOP = Design('''
from metamem.designs import Memory
class Loop(Memory):
    async def retrieve(self, query):
        while True: pass
    async def update(self, experience): pass
''')
async def main():
    async with Jail(isolation=sys.argv[1]) as jail:
        memory = await jail.open(LOOP, seed=1, embedder=LetterEmbedder())
        copy = await memory.fork()
        print(jail.sandbox.pid, flush=True)
        await asyncio.gather(memory.retrieve(Query("")), copy.retrieve(Query("")))
asyncio.run(main())
"""


def _workers(pid: int) -> list[int]:
    """The processes at the end of the line: the jailed ones."""
    return [p for p in _descendants(pid) if not _descendants(p)]


def _descendants(pid: int) -> list[int]:
    children = []
    for listing in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            children += [int(child) for child in listing.read_text().split()]
    return [p for child in children for p in (child, *_descendants(child))]


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_when_the_host_is_killed_everything_in_the_jail_dies(isolation: str) -> None:
    host = subprocess.Popen(
        [sys.executable, "-c", HOST, isolation], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert host.stdout is not None
    server = int(host.stdout.readline())
    left = [server, *_descendants(server)]
    assert len(left) >= 3  # the server, the memory and its copy
    host.kill()
    host.wait()
    host.stdout.close()
    assert _outlived(left) == []


def _outlived(pids: list[int]) -> list[int]:
    """Which of the processes do not end within ten seconds."""
    left = pids
    for _ in range(200):
        left = [pid for pid in left if _alive(pid)]
        if not left:
            break
        signal.sigtimedwait([], 0.05)
    return left


def _alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_an_ordinary_user_has_the_same_jail(isolation: str) -> None:
    """Run as `nobody` where the tests run as root; else the other tests show it already."""
    if os.getuid() != 0:
        pytest.skip("not root: every other test is this one")
    python = shutil.which("python3", path="/usr/local/bin:/usr/bin")
    folders = [
        str(ROOT),
        str(Path(metamem.__file__).parents[1]),
        str(Path(numpy.__file__).parents[1]),
    ]
    probe = "import numpy, metamem.designs, tests.designs.embedder"
    as_nobody = {"user": 65534, "group": 65534, "extra_groups": [], "cwd": "/"}
    environment = {"PYTHONPATH": ":".join(folders), "PATH": os.defpath}
    if python is None or subprocess.run(
        [python, "-c", probe], env=environment, capture_output=True, **as_nobody
    ).returncode:  # fmt: skip
        pytest.skip("no interpreter that an ordinary user can run with these libraries")
    ended = subprocess.run(
        [python, "-m", "tests.sandbox.smoke", isolation],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        **as_nobody,
    )
    assert ended.returncode == 0, ended.stderr
    copies = "by snapshots" if isolation == "runsc" else "with forks"
    assert ended.stdout == f"{isolation} works {copies}\n"
