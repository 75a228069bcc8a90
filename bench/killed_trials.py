"""Work that is killed at random moments, each on a copy of its own: see `bench.killed`."""

import random
import shutil
import signal
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

TRIES = 3  # for each moment, at most: how long work takes changes with the load of the machine


class Work(Protocol):
    """Something that takes a while and may be killed."""

    name: str
    checked: str  # what is looked at after each moment, in words

    def prepare(self, folder: Path) -> None: ...

    def run(self, folder: Path) -> None:
        """All of it, or what is left of it."""
        ...

    def check_killed(self, folder: Path, before: Path) -> None:
        """That what a killed process left is whole; AssertionError else."""
        ...

    def outcome(self, folder: Path) -> Any:
        """What the work made, so that two can be compared; ids and times of day left out."""
        ...


@dataclass(frozen=True)
class Found:
    """What came of some moments."""

    name: str
    tried: int
    killed: int  # while the work was under way
    seconds: float  # that the work takes undisturbed
    wrong: tuple[str, ...]


def trials(work: Work, moments: int, seed: int) -> Found:
    """Kill the work at so many random moments of it, each on a copy of its own."""
    luck, wrong, killed, tried = random.Random(seed), [], 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        prepared = Path(scratch) / "prepared"
        prepared.mkdir()
        work.prepare(prepared)
        whole = _copied(prepared, Path(scratch) / "whole")
        seconds = _time(work, whole)
        expected = work.outcome(whole)
        while killed < moments and tried < TRIES * moments:  # some come when all is done
            tried += 1
            folder = _copied(prepared, Path(scratch) / "trial")
            share = luck.random()
            killed += _kill(work, folder, share * seconds)
            try:
                work.check_killed(folder, prepared)
                work.run(folder)
                assert work.outcome(folder) == expected, "it is not what it should have become"
            except AssertionError as error:
                wrong.append(f"trial {tried}, after {share:.0%}: {error}")
            shutil.rmtree(folder)
    return Found(work.name, tried, killed, seconds, tuple(wrong))


_processes = get_context("forkserver")
_processes.set_forkserver_preload(["bench.killed_works"])


def _begin(work: Work, folder: Path, ready: Connection) -> None:
    ready.send("begun")
    work.run(folder)


def _time(work: Work, folder: Path) -> float:
    process, began = _start(work, folder)
    process.join()
    assert process.exitcode == 0
    return time.monotonic() - began


def _kill(work: Work, folder: Path, after: float) -> bool:
    """Whether the process was still at it."""
    process, began = _start(work, folder)
    time.sleep(max(0.0, after - (time.monotonic() - began)))
    with suppress(ProcessLookupError):  # it was through
        process.kill()
    process.join()
    return process.exitcode == -signal.SIGKILL


def _start(work: Work, folder: Path) -> tuple[Any, float]:
    here, there = _processes.Pipe(duplex=False)
    process = _processes.Process(target=_begin, args=(work, folder, there))
    process.start()
    there.close()
    here.recv()
    here.close()
    return process, time.monotonic()


def _copied(folder: Path, to: Path) -> Path:
    shutil.copytree(folder, to)
    return to
