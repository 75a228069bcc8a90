"""Worlds behind a process boundary: for engines that are native, slow to load, or may hang.

A child process holds one world at a time and is kept for the next one, since loading an engine
often costs more than an episode. One that dies or does not answer in time is killed, and the
fault is the engine's, never the agent's: `EngineFault`, which the runner retries.
"""

import atexit
import importlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import IO, Any

from metamem.core import extras
from metamem.core.errors import EngineFault, MetamemError
from metamem.core.protocols import World
from metamem.core.scratch import private_folder
from metamem.core.system import die_with, ending
from metamem.core.types import Observation

_LONGEST_COMPLAINT = 2000


class _Child:
    """One process that serves worlds of one factory."""

    def __init__(self, factory: str, extra: str) -> None:
        self.factory, self._extra = factory, extra
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, factory, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._rest = b""

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def call(self, request: dict[str, Any], seconds: float) -> Any:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
            reply = json.loads(self._line(time.monotonic() + seconds))
        except (OSError, ValueError) as error:
            self.kill()
            raise EngineFault(f"the world's process {self.factory} failed: {error}") from error
        if "broken" in reply:
            self.kill()
            raise extras.broken(self._extra, reply["broken"])
        if "error" in reply:
            self.kill()  # whatever state it is in now, no later world should inherit it
            raise EngineFault(f"the world of {self.factory} failed: {reply['error']}")
        return reply["ok"]

    def _line(self, deadline: float) -> bytes:
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        while (end := self._rest.find(b"\n")) < 0:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                raise OSError("no answer in time")
            data = os.read(descriptor, 1 << 16)
            if not data:
                raise OSError(f"it died ({ending(self._process.wait())})")
            self._rest += data
        line, self._rest = self._rest[:end], self._rest[end + 1 :]
        return line

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with suppress(OSError):
                pipe.close()


_idle: dict[str, list[_Child]] = {}


def _end_all() -> None:
    for children in _idle.values():
        for child in children:
            child.kill()
    _idle.clear()


atexit.register(_end_all)


class RemoteWorld:
    """A world that `factory` ("package.module:function") makes of `data` and `seed` elsewhere.

    `seconds` for one answer are fewer than an executor waits for a sign of life from its worker,
    so that it is the world that is found to hang, not the worker. `extra` brings the engine: a
    factory that cannot be loaded is `Broken`, which nobody retries.
    """

    def __init__(
        self,
        factory: str,
        data: Mapping[str, Any],
        seed: int,
        *,
        seconds: float = 30.0,
        extra: str = "",
    ) -> None:
        self._seconds = seconds
        waiting = _idle.setdefault(factory, [])
        self._child: _Child | None = waiting.pop() if waiting else _Child(factory, extra)
        self._call("open", data=dict(data), seed=seed)

    def reset(self) -> Observation:
        return _observation(self._call("reset"))

    def step(self, action: str) -> Observation:
        return _observation(self._call("step", action=action))

    def close(self) -> None:
        if self._child is None:
            return
        child, factory = self._child, self._child.factory
        try:
            self._call("close")
        except EngineFault:
            return  # it is dead, and the episode is over
        self._child = None
        _idle[factory].append(child)

    def _call(self, operation: str, **data: Any) -> Any:
        if self._child is None:
            raise EngineFault("the world is closed")
        try:
            return self._child.call({"op": operation, **data}, self._seconds)
        except MetamemError:
            self._child = None
            raise


def _observation(data: list[Any]) -> Observation:
    text, actions, reward, done = data
    return Observation(text, tuple(actions), reward, done)


# --- the child ------------------------------------------------------------------------------


def _serve(factory: str, requests: IO[bytes], replies: IO[bytes]) -> None:
    def answer(reply: dict[str, Any]) -> None:
        replies.write(json.dumps(reply).encode() + b"\n")
        replies.flush()

    module, _, name = factory.partition(":")
    try:
        make = getattr(importlib.import_module(module), name)
    except Exception as error:  # a package may do anything while it loads
        requests.readline()
        answer({"broken": f"{factory} does not load: {extras.reason(error)}"})
        return
    world: World | None = None
    for line in requests:
        request = json.loads(line)
        try:
            value: Any = None
            if request["op"] == "open":
                world = make(request["data"], request["seed"])
            else:
                assert world is not None
                if request["op"] == "close":
                    world.close()
                    world = None
                else:
                    seen = (
                        world.reset() if request["op"] == "reset" else world.step(request["action"])
                    )
                    value = [seen.text, list(seen.actions), seen.reward, seen.done]
            reply = {"ok": value}
        except Exception as error:
            said = error.message if isinstance(error, MetamemError) else extras.reason(error)
            reply = {"error": said[:_LONGEST_COMPLAINT]}
        answer(reply)


def main() -> None:
    factory, parent = sys.argv[1], int(sys.argv[2])
    if not die_with(parent):
        return  # the parent died before this process asked to die with it
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when this ends
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever an engine prints must not break into the protocol
    with private_folder("worlds") as folder:  # engines leave files behind when they are killed
        os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
        _serve(factory, sys.stdin.buffer, replies)


if __name__ == "__main__":
    main()
