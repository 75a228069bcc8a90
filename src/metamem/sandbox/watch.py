"""Looks after a command while it runs: how many processes it has, their CPU time, its tree."""

import asyncio
import os
import time
from collections import deque
from pathlib import Path
from typing import Literal

from metamem.sandbox.tree import is_over

EndedBy = Literal["cpu", "wall", "processes", "tree", ""]

_LOOK_SECONDS = 0.05
_SIZE_SECONDS = 0.5  # between two looks at the tree,
_SIZE_SHARE = 20  # or so many times what the last one took
_TICKS = os.sysconf("SC_CLK_TCK")


class Watch:
    """What the kernel's own limits do not hold: the number of processes, the size of the tree."""

    def __init__(self, root: int, tree: Path, processes: int, tree_bytes: int) -> None:
        self._root, self._tree = root, tree
        self._processes, self._tree_bytes = processes, tree_bytes
        self._looks: deque[tuple[float, float]] = deque(maxlen=2)  # when, and the most CPU time

    async def until_over(self) -> EndedBy:
        """Return when there is too much of something. The kernel's own limit on processes does not
        bind the superuser."""
        next_size = time.monotonic() + _SIZE_SECONDS
        while True:
            if self._count() > self._processes:
                return "processes"
            if time.monotonic() >= next_size:
                begun = time.monotonic()
                if await self.tree_is_over():
                    return "tree"
                now = time.monotonic()
                next_size = now + max(_SIZE_SECONDS, _SIZE_SHARE * (now - begun))
            await asyncio.sleep(_LOOK_SECONDS)

    async def tree_is_over(self) -> bool:
        return await asyncio.to_thread(is_over, self._tree, self._tree_bytes)

    def may_have_used(self, cpu: float) -> bool:
        """Whether one of the processes that ran just now can have used up so many seconds of CPU.

        The kernel holds its limit by ticks, of which a busy machine counts more than it shows: so
        one that has used half of them may have, and one that has used less has not.
        """
        now = time.monotonic()
        return any(used + (now - at) >= cpu / 2 for at, used in self._looks)

    def _count(self) -> int:
        """How many processes descend from the root, counted no further than just past the limit."""
        at, most, count = time.monotonic(), 0.0, 0
        waiting = [self._root]
        while waiting and count <= self._processes:
            pid = waiting.pop()
            try:
                children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
                most = max(most, _cpu(pid))
            except OSError:
                continue  # it has ended
            waiting += [int(child) for child in children]
            count += len(children)
        self._looks.append((at, most))
        return count


def _cpu(pid: int) -> float:
    """Seconds of CPU that a process has used, without its children."""
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / _TICKS
