"""Work that is due every hour, done by processes of their own: what parts above the service register.

One process at a time for each, at low priority, so that hooks never wait for it. Whether something is really
due it knows by itself; starting it too often does no harm.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from metamem.core.registry import BUILT_IN

KIND = "hourly"
EVERY = 3600.0  # seconds
FIRST = 30.0  # seconds after the beginning: what just started has other things to do
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
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self.ran = 0
        self.failed = 0

    def look(self) -> None:
        """Called now and then."""
        for name, path in BUILT_IN.get(KIND, {}).items():
            self._see(name)
            if name not in self._running and self._clock() - self._last[name] >= self._every:
                self._last[name] = self._clock()
                self._running[name] = subprocess.Popen(
                    [
                        sys.executable,
                        "-P",
                        "-c",
                        _START,
                        str(_LOW),
                        path.partition(":")[0],
                        str(self._memories),
                    ],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )

    def close(self) -> None:
        """What runs is told to stop: it goes on from its cursor the next time."""
        for process in self._running.values():
            process.terminate()
        for process in self._running.values():
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._running.clear()

    def _see(self, name: str) -> None:
        process = self._running.get(name)
        if process is None or process.poll() is None:
            return
        del self._running[name]
        self.ran += 1
        self.failed += process.returncode != 0
