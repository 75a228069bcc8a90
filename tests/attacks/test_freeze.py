"""What one case does is never seen by another, however hard the design tries."""

import asyncio
import base64
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from metamem.core.errors import DesignFailure
from metamem.core.types import Design, Query
from metamem.designs.jailed import Jail
from tests.attacks.canaries import Canaries
from tests.designs.embedder import LetterEmbedder

shared_loop = pytest.mark.asyncio(loop_scope="module")

# `mark()` tries to leave something behind, `seen()` looks for it; `prepare()` runs before.
CHANNELS = {
    "the object": ("", "self.left = True", "hasattr(self, 'left')"),
    "the tools": ("", "self.tools.table('t').add(x=1)", "len(self.tools.table('t')) > 0"),
    "a class": ("", "type(self).left = True", "hasattr(type(self), 'left')"),
    "a module": ("import os", "os.left = True", "hasattr(os, 'left')"),
    "the generator of random numbers": (
        "import random; self.first = random.Random(1).random()",
        "import random; random.random()",
        "random.getstate()[1][-1] != self.state",
    ),
    "the position in a file": (
        "self.file = os.open(os.__file__, os.O_RDONLY); os.closerange = lambda *a: None",
        "os.lseek(self.file, 7, 0)",
        "os.lseek(self.file, 0, 1) == 7",
    ),
    "a pipe": ("self.pipe = os.pipe()", "os.write(self.pipe[1], b'x')", "os.read(self.pipe[0], 1)"),
    "shared memory": (
        "import mmap; self.map = mmap.mmap(-1, 4096)",
        "self.map[0] = 7",
        "self.map[0] == 7",
    ),
    "a copy of the channel": ("self.copy = os.dup(3)", "pass", "True"),
    "flags of a descriptor": (
        "import fcntl; fcntl.fcntl(0, fcntl.F_SETFL, 0)",
        "fcntl.fcntl(0, fcntl.F_SETFL, os.O_NONBLOCK)",
        "fcntl.fcntl(0, fcntl.F_GETFL) & os.O_NONBLOCK",
    ),
}

DESIGN = """
import os, random
from metamem.designs import Memory
class Leaky(Memory):
    def __init__(self, tools):
        super().__init__(tools)
        self.state = random.getstate()[1][-1]
        self.prepared = True
        try:
            exec({prepare!r}, {{**globals(), "self": self}})
        except OSError:
            self.prepared = False
    async def retrieve(self, query):
        if not self.prepared:
            return "nothing"
        if query.goal == "mark":
            import fcntl
            exec({mark!r}, {{**globals(), **locals()}})
            return "marked"
        import fcntl
        return "seen" if eval({seen!r}, {{**globals(), **locals()}}) else "nothing"
    async def update(self, experience):
        pass
"""


@shared_loop
@pytest.mark.parametrize("name", CHANNELS)
async def test_nothing_passes_between_forks(name: str, jail: Jail) -> None:
    prepare, mark, seen = CHANNELS[name]
    design = Design(DESIGN.format(prepare=prepare, mark=mark, seen=seen))
    frozen = await jail.open(design, seed=1, embedder=LetterEmbedder())
    opened = [frozen]
    try:
        opened.append(first := await frozen.fork())
        assert await first.retrieve(Query("mark")) in ("marked", "nothing")
        opened.append(second := await frozen.fork())
        assert await second.retrieve(Query("look")) == "nothing"
        assert await frozen.retrieve(Query("look")) == "nothing"
    except DesignFailure as refused:
        assert name == "the position in a file" and "busy" in str(refused).lower()
    finally:
        for memory in opened:
            await memory.close()


@shared_loop
@pytest.mark.parametrize("name", ["the object", "a class", "a module", "the tools"])
async def test_the_same_marks_are_seen_in_one_process(name: str, jail: Jail) -> None:
    """So that the test above cannot pass by looking in the wrong place."""
    prepare, mark, seen = CHANNELS[name]
    design = Design(DESIGN.format(prepare=prepare, mark=mark, seen=seen))
    memory = await jail.open(design, seed=1, embedder=LetterEmbedder())
    await memory.retrieve(Query("mark"))
    assert await memory.retrieve(Query("look")) == "seen"
    await memory.close()


@pytest.mark.parametrize(
    "name", ["the position in a file", "a pipe", "shared memory", "flags of a descriptor"]
)
def test_an_ordinary_fork_lets_them_through(name: str) -> None:
    prepare, mark, seen = CHANNELS[name]
    program = f"""
import fcntl, os
class Self: pass
self = Self()
exec({prepare!r})
if os.fork() == 0:
    exec({mark!r})
    os._exit(0)
os.wait()
print("seen" if eval({seen!r}) else "nothing")
"""
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.stdout == "seen\n", ended.stderr


NAMELESS_FORK = """
from metamem.designs import Memory
from metamem.sandbox import inside, libc
real = libc.syscall
def syscall(name, *arguments):
    if name == "vhangup":  # a fork that will not say who it is
        while True: pass
    return real(name, *arguments)
libc.syscall = syscall
class Evil(Memory):
    async def retrieve(self, query): return "still here"
    async def update(self, experience): pass
"""
SECOND_FORK = """
from metamem.designs import Memory
from metamem.sandbox import inside, libc, seccomp
real = libc.syscall
class Evil(Memory):
    second = "not tried"
    async def retrieve(self, query): return Evil.second
    async def update(self, experience): pass
def syscall(name, *arguments):
    result = real(name, *arguments)
    if name == "clone" and result:
        try:
            Evil.second = "won" if real(name, *arguments) else "won"
        except OSError as error:
            Evil.second = f"stopped: {error}"
    return result
libc.syscall = syscall
"""


def descendants(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []  # it has ended
    return [p for child in children for p in (int(child), *descendants(int(child)))]


@shared_loop
async def test_a_fork_that_hides_is_ended_with_its_family(jail: Jail) -> None:
    limits = replace(jail.limits, wall=1.0)
    memory = await jail.open(
        Design(NAMELESS_FORK), seed=1, embedder=LetterEmbedder(), limits=limits
    )
    await asyncio.sleep(0.2)  # until the next process for such limits is there
    assert jail.sandbox.pid is not None
    before = set(descendants(jail.sandbox.pid))
    with pytest.raises(DesignFailure):
        await memory.fork()
    for _ in range(100):
        if set(descendants(jail.sandbox.pid)) < before:
            break
        await asyncio.sleep(0.05)
    assert set(descendants(jail.sandbox.pid)) < before  # neither the memory nor its fork is left


@shared_loop
async def test_leave_to_fork_is_for_one_fork(jail: Jail) -> None:
    memory = await jail.open(Design(SECOND_FORK), seed=1, embedder=LetterEmbedder())
    copy = await memory.fork()
    assert (await memory.retrieve(Query(""))).startswith("stopped")
    await copy.close()
    await memory.close()


class Bomb:
    """Unpickled where there is no jail, it destroys the victim."""

    def __init__(self, victim: str) -> None:
        self.victim = victim

    def __reduce__(self) -> tuple[object, ...]:
        return open, (self.victim, "w")


PLAIN = """
from metamem.designs import Memory
class Plain(Memory):
    async def retrieve(self, query): return "ok"
    async def update(self, experience): pass
"""


@shared_loop
@pytest.mark.parametrize(
    ("state", "kind"),
    [
        ("bomb", "snapshot"),
        (b"\x80\x04\x8e" + (1 << 40).to_bytes(8, "little"), "memory"),  # claims a terabyte
        (b"not a pickle", "snapshot"),
    ],
)
async def test_a_forged_snapshot_is_opened_in_the_jail_alone(
    state: str | bytes, kind: str, jail: Jail, canaries: Canaries
) -> None:
    canaries.harmed()
    pickled = pickle.dumps(Bomb(str(canaries.victim))) if state == "bomb" else state
    assert isinstance(pickled, bytes)
    memory = await jail.open(Design(PLAIN), seed=1, embedder=LetterEmbedder())
    honest = await memory.snapshot()
    header = honest[: honest.index(b"\n") + 1]
    with pytest.raises(DesignFailure) as failure:
        await jail.open(
            Design(PLAIN),
            seed=1,
            embedder=LetterEmbedder(),
            snapshot=header + base64.b64encode(pickled),
        )
    assert failure.value.kind in (kind, "snapshot")
    assert canaries.harmed() == []
    await memory.close()


def test_the_bomb_works_without_the_jail(canaries: Canaries) -> None:
    canaries.harmed()
    pickle.loads(pickle.dumps(Bomb(str(canaries.victim)))).close()
    assert canaries.harmed() == ["the file"]
