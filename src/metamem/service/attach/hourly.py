"""Work that is due every hour, done by processes of their own: what parts above the service register.

One process at a time for each, at low priority, so that hooks never wait for it. What the last one that failed
said is kept for those who ask. Whether something is really
due it knows by itself; starting it too often does no harm.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from metamem.core.registry import BUILT_IN
from metamem.service.writing.clean import one_line

KIND = "hourly"
EVERY = 3600.0  # seconds
FIRST = 30.0  # seconds after the beginning: what just started has other things to do
_SAID = 2_000  # bytes of what a process said that are looked at
_LOW = 10  # how far it stands back behind others
_START = (
    "import os, runpy, sys; os.nice(int(sys.argv.pop(1)));"
    " runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)"
)


class Hourly:
    """Starts each module when its time has come, and sees how it ended."""

    def __init__(
        self,
        memories: Path,
        *,
        every: float = EVERY,
        first: float = FIRST,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._memories, self._every, self._clock = memories, every, clock
        begin = clock() + first - every
        self._last = dict.fromkeys(BUILT_IN.get(KIND, {}), begin)
        self._running: dict[str, tuple[subprocess.Popen[bytes], IO[bytes]]] = {}
        self.ran = 0
        self.failed = 0
        self._troubles: dict[str, str] = {}  # of each that failed the last time

    @property
    def trouble(self) -> str:
        """Of those that failed the last time; what went well since is not told any more."""
        return "; ".join(dict.fromkeys(self._troubles.values()))

    def look(self) -> None:
        """Called now and then."""
        for name, path in BUILT_IN.get(KIND, {}).items():
            self._see(name)
            if name not in self._running and self._clock() - self._last[name] >= self._every:
                self._last[name] = self._clock()
                self._running[name] = self._started(path.partition(":")[0])

    def status(self) -> dict[str, Any]:
        """How often something ran, and how that went."""
        return {"ran": self.ran, "failed": self.failed, "trouble": self.trouble}

    def close(self) -> None:
        """What runs is told to stop: it goes on from its cursor the next time."""
        for process, _ in self._running.values():
            process.terminate()
        for process, said in self._running.values():
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            said.close()
        self._running.clear()

    def _started(self, module: str) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
        said = tempfile.TemporaryFile()  # noqa: SIM115  it has no name, and is closed when the process ended
        command = [
            sys.executable,
            "-P",
            "-c",
            _START,
            str(_LOW),
            module,
            str(self._memories),
        ]
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said
        )
        return process, said

    def _see(self, name: str) -> None:
        process, said = self._running.get(name, (None, None))
        if process is None or said is None or process.poll() is None:
            return
        del self._running[name]
        self.ran += 1
        self._troubles.pop(name, None)
        if process.returncode:
            self.failed += 1
            self._troubles[name] = _last_line(said) or f"it ended with code {process.returncode}"
        said.close()


def _last_line(said: IO[bytes]) -> str:
    said.seek(max(0, said.seek(0, 2) - _SAID))
    lines = said.read().decode(errors="replace").strip().splitlines()
    return one_line(lines[-1], _SAID) if lines else ""
