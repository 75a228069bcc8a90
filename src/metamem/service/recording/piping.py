"""A server behind a pipe: what its client writes reaches it, what it says reaches the client, byte for byte.

What passes is queued for a watcher before it is handed on, so that nothing is seen after what it caused; the
watcher looks in a thread of its own. One that cannot keep up misses something; whoever talks never waits for it.
"""

import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FrameType
from typing import Any, Literal

from metamem.core.errors import UsageError

CHUNK = 1 << 16
MOST = 64_000_000  # bytes that wait for the watcher
PR_SET_PDEATHSIG = 1
DRAIN_SECONDS = 0.5  # without a byte, after which a dead server has said all
END_SECONDS = 5.0  # for the watcher, once there is nothing more to hand on
_PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
Side = Literal["client", "server"]


class Watcher:
    """Sees what passes, in order, and may be as slow as it likes."""

    def __init__(self, seen: Callable[[Side, bytes], None], missed: Callable[[Side], None]) -> None:
        self._seen, self._missed = seen, missed
        self._queue: queue.SimpleQueue[tuple[Side, bytes] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self.waiting = 0  # bytes
        self._gaps: set[Side] = set()
        self._thread = threading.Thread(target=self._watch, name="watcher", daemon=True)
        self._thread.start()

    def show(self, side: Side, data: bytes) -> None:
        with self._lock:
            if self.waiting + len(data) > MOST:
                self._gaps.add(side)
                return
            self.waiting += len(data)
            gap = side in self._gaps
            self._gaps.discard(side)
        if gap:
            self._queue.put((side, b""))  # which says that something is missing
        self._queue.put((side, data))

    def end(self) -> bool:
        """Nothing more comes. Whether all was looked at."""
        self._queue.put(None)
        self._thread.join(END_SECONDS)
        return not self._thread.is_alive()

    def _watch(self) -> None:
        while (item := self._queue.get()) is not None:
            side, data = item
            with self._lock:
                self.waiting -= len(data)
            with suppress(Exception):  # what cannot be understood is let pass
                self._seen(side, data) if data else self._missed(side)


class Pump(threading.Thread):
    """Hands on until there is no more, or nobody who takes it; then both ends know."""

    def __init__(
        self, source: int, target: int, show: Callable[[bytes], None], close: Callable[[], None]
    ) -> None:
        super().__init__(daemon=True)  # it may wait for somebody who says nothing more
        self._source, self._target, self._show, self._close = source, target, show, close
        self.at: Literal["reading", "writing"] = "reading"
        self.moved = 0  # bytes

    def run(self) -> None:
        with suppress(OSError):
            while data := os.read(self._source, CHUNK):
                self._show(data)
                self.at, left = "writing", memoryview(data)
                while left:
                    left = left[os.write(self._target, left) :]
                self.at, self.moved = "reading", self.moved + len(data)
        self._close()

    def drain(self) -> None:
        """Wait until all is handed on that is there, though somebody may hold the source open."""
        before = -1
        while self.is_alive() and (self.at == "writing" or self.moved != before):
            before = self.moved
            self.join(DRAIN_SECONDS)


def carried(command: Sequence[str], watcher: Watcher, given: int = 0, taken: int = 1) -> int:
    """Run a server between two files, until it ends; its exit code, as shells have it."""
    # From before the server runs: a signal that comes while it starts is meant for it as well.
    early: list[int] = []
    before: dict[int, Any] = {
        number: signal.signal(number, lambda got, _: early.append(got)) for number in _PASSED_ON
    }
    try:
        server = _started(command)

        def pass_on(number: int, _: FrameType | None = None) -> None:
            with suppress(ProcessLookupError):
                server.send_signal(number)

        for handled in _PASSED_ON:
            signal.signal(handled, pass_on)
        for came in early:
            pass_on(came)
        return _between(server, watcher, given, taken)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _started(command: Sequence[str]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            preexec_fn=_dying_with_parent(),
        )
    except OSError as error:
        raise UsageError(
            f"{command[0]} cannot be run: {error.strerror}",
            hint="give the server's command after --",
        ) from None


def _between(server: subprocess.Popen[bytes], watcher: Watcher, given: int, taken: int) -> int:
    assert server.stdin is not None and server.stdout is not None
    stdin, stdout = server.stdin, server.stdout

    def nobody_asks() -> None:
        with suppress(OSError):
            stdin.close()
        _let_go(given)

    def nobody_answers() -> None:
        with suppress(OSError):
            stdout.close()
        _let_go(taken)

    asking = Pump(given, stdin.fileno(), lambda data: watcher.show("client", data), nobody_asks)
    answering = Pump(
        stdout.fileno(), taken, lambda data: watcher.show("server", data), nobody_answers
    )
    asking.start()
    answering.start()
    code = server.wait()
    answering.drain()
    return code if code >= 0 else 128 - code


def _let_go(file: int) -> None:
    """The other end of a file of ours learns that nobody is here. Its number stays taken: whatever is
    opened next must not be written to as if it were our output."""
    nothing = os.open(os.devnull, os.O_RDWR)
    with suppress(OSError):
        os.dup2(nothing, file)
    os.close(nothing)


def _dying_with_parent() -> Callable[[], None] | None:
    """In the server, before it begins: it must not outlive a recorder that was killed."""
    if sys.platform != "linux":
        return None
    import ctypes

    control, number = ctypes.CDLL(None).prctl, int(signal.SIGKILL)
    return lambda: control(PR_SET_PDEATHSIG, number)
