"""What the kernel knows of processes that must not be asked themselves: CPU time, and sleep."""

import time
from collections.abc import Callable
from pathlib import Path

from metamem.core.errors import EngineFault

Clock = Callable[[], float]  # seconds of CPU used so far; 0.0 once the process has ended
Asleep = Callable[[], bool]  # whether it waits now; one that only lacks a free core does not


def of_process(pidfd: int) -> Clock:
    """The clock of one process."""
    pid = _pid(pidfd)
    return lambda: _read(pid)


def of_tree(pidfd: int) -> Clock:
    """One clock for a process and all that descend from it now.

    For a sandbox that is several processes to the kernel, of which none is made after its start.
    """
    pids = _with_descendants(_pid(pidfd))
    return lambda: sum(_read(pid) for pid in pids)


def sleep_of(pidfd: int) -> Asleep:
    """Whether one process is asleep."""
    pid = _pid(pidfd)
    return lambda: _state(pid) == "S"


def _state(pid: int) -> str:
    try:
        told = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return ""  # it has ended, or may not be looked at
    return told.rpartition(")")[2].split()[0]  # the name before it may hold anything


def _read(pid: int) -> float:
    """Process 0 stands for one that had ended before it was looked for."""
    if not pid:
        return 0.0
    try:
        return time.clock_gettime((~pid << 3) | 2)
    except OSError:
        return 0.0  # it has ended; the channel's end says so too


def _with_descendants(pid: int) -> list[int]:
    found = [pid]
    for parent in found:
        for listing in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                found += [int(child) for child in listing.read_text().split()]
            except OSError:
                continue  # a thread that ended meanwhile
    return found


def _pid(pidfd: int) -> int:
    for line in Path(f"/proc/self/fdinfo/{pidfd}").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == "Pid" and int(value):
            return max(int(value), 0)
    raise EngineFault("the kernel does not say which process a descriptor stands for")
