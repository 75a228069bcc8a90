"""How much processor time a program takes with all that came of it, jails included.

What a process computed is told to whoever waits for its end. Jails and workers are often ended without
anybody waiting (the first process of a jail takes the others with it), and what they computed is then told to
nobody. So all that lives is looked at once a second: what is there in sum only grows, since what ended
and was waited for is in the account of who waited; where the sum is smaller than before, something was ended
unheard, and what it had used until the last look is kept.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

EVERY = 1.0  # seconds
_TICKS = os.sysconf("SC_CLK_TCK")
_PROC = Path("/proc")


@dataclass(slots=True)
class Computed:
    """Seconds of processor time until now."""

    seconds: float = 0.0
    _last: float = field(default=0.0, repr=False)

    def look(self) -> None:
        now = _of_all()
        self.seconds += max(0.0, now - self._last)
        self._last = now


@contextmanager
def computing() -> Iterator[Computed]:
    """Counts while the block runs, from nothing. Linux alone: elsewhere what was waited for is counted."""
    found = Computed()
    found._last = _of_all()
    over = threading.Event()

    def watch() -> None:
        while not over.wait(EVERY):
            found.look()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield found
    finally:
        over.set()
        watcher.join()
        found.look()


def _of_all() -> float:
    """Of this process and all that live and came of it, with what they waited for."""
    if not _PROC.is_dir():
        own = os.times()
        return own.user + own.system + own.children_user + own.children_system
    used, parents = _processes()
    ours = {os.getpid()}
    for pid in sorted(parents, key=lambda one: len(_line(one, parents))):
        if parents[pid] in ours:
            ours.add(pid)
    return sum(used[pid] for pid in ours if pid in used) / _TICKS


def _line(pid: int, parents: dict[int, int]) -> list[int]:
    """A process and all before it, its parent first."""
    line = [pid]
    while (before := parents.get(line[-1], 0)) and before not in line:
        line.append(before)
    return line


def _processes() -> tuple[dict[int, int], dict[int, int]]:
    """By number: ticks used, of itself and of those it waited for; and who started it."""
    used, parents = {}, {}
    for place in _PROC.iterdir():
        if not place.name.isdigit():
            continue
        try:
            told = (place / "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue  # it has ended since
        fields = told.rpartition(")")[2].split()  # its name may hold anything
        parents[int(place.name)] = int(fields[1])
        used[int(place.name)] = sum(map(int, fields[11:15]))
    return used, parents
