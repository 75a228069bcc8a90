"""The keeper of gVisor sandboxes: stands where else the fork server is, and speaks as it.

It runs outside of any jail, trusts only the host, reads nothing that a guest wrote, and leaves
nothing behind when the host goes away. Each guest has a sandbox of its own, started from a bundle
in a folder that is removed with it.
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from metamem.sandbox import confine, gvisor
from metamem.sandbox.server import receive_now

_LOOK_SECONDS = 1
_START_SECONDS = 120
_MAX_MESSAGE = 1 << 16
_BOOT = "import sys; sys.path += {search_path!r}; from metamem.sandbox.guest import main; main()"


@dataclass(slots=True)
class _Guest:
    """One sandbox, starting or started."""

    key: int
    runsc: subprocess.Popen[bytes]
    pidfd: int
    bundle: Path
    words: Path  # what runsc says, and the guest's first program until the guest itself runs
    socket: socket.socket  # on which that program says that it has started, and how it ended
    deadline: float
    said: bytes = b""

    @property
    def started(self) -> bool:
        return self.said.startswith(confine.DONE)


class _Keeper:
    def __init__(self, control: socket.socket, setup: dict[str, Any], folder: Path) -> None:
        self._control = control
        self._setup = setup
        self._folder = folder
        self._guests: dict[int, _Guest] = {}  # by the descriptor of their sockets
        self._epoll = select.epoll()
        self._epoll.register(control.fileno(), select.EPOLLIN)

    def run(self) -> None:
        """Keep until the host goes away."""
        while True:
            for descriptor, _ in self._epoll.poll(_LOOK_SECONDS):
                if descriptor in self._guests:
                    self._hear(self._guests[descriptor])
                elif not self._obey():
                    return
            for guest in self._guests.values():
                if not guest.started and time.monotonic() > guest.deadline:
                    guest.runsc.kill()  # its socket is closed with it

    def end(self) -> None:
        for guest in self._guests.values():
            guest.runsc.kill()
        for guest in self._guests.values():
            guest.runsc.wait()

    def _obey(self) -> bool:
        """Take every command that has come; False where the host is gone."""
        while True:
            try:
                data, descriptors = receive_now(self._control)
            except BlockingIOError:
                return True
            if not data:
                return False
            command = json.loads(data)
            if command["op"] == "spawn":
                self._spawn(command, descriptors[0])

    def _tell(self, event: str, key: int, *descriptors: int, **details: Any) -> None:
        message = json.dumps({"event": event, "key": key, **details}).encode()
        with suppress(OSError):  # the host is gone, which is heard next
            socket.send_fds(self._control, [message], list(descriptors))

    # --- one sandbox, from its start to its end ---

    def _spawn(self, command: dict[str, Any], channel: int) -> None:
        key = command["key"]
        bundle = self._folder / str(key)
        bundle.mkdir()
        start = {
            "entry": self._setup["entry"],
            "preload": self._setup["preload"],
            "memory_bytes": command["memory_bytes"],
            "cpu_seconds": command["cpu_seconds"],
        }
        boot = _BOOT.format(search_path=self._setup["search_path"])
        argv = [*self._setup["python"], "-c", boot, json.dumps(start)]
        shown = [Path(path) for path in self._setup["readable"]]
        gvisor.write_bundle(
            bundle,
            argv,
            self._setup["environment"],
            shown,
            memory_bytes=command["memory_bytes"],
        )
        ours, theirs = socket.socketpair()
        words = bundle / "words"
        with theirs, words.open("wb") as out:
            runsc = subprocess.Popen(
                gvisor.command(self._setup["runsc"], bundle),
                env={},
                cwd="/",
                stdin=channel,
                stdout=theirs.fileno(),
                stderr=out,
                start_new_session=True,
                preexec_fn=confine.die_with_parent,  # safe: there are no threads here
            )
        os.close(channel)
        pidfd = os.pidfd_open(runsc.pid)
        deadline = time.monotonic() + _START_SECONDS
        self._guests[ours.fileno()] = _Guest(key, runsc, pidfd, bundle, words, ours, deadline)
        self._epoll.register(ours.fileno(), select.EPOLLIN)

    def _hear(self, guest: _Guest) -> None:
        """The guest's first program speaks, or the whole sandbox is gone."""
        data = guest.socket.recv(_MAX_MESSAGE)
        if not data:
            self._bury(guest)
            return
        before = guest.started
        guest.said += data
        if guest.started and not before:
            self._tell("started", guest.key, guest.pidfd)

    def _bury(self, guest: _Guest) -> None:
        del self._guests[guest.socket.fileno()]
        guest.socket.close()
        guest.runsc.kill()
        guest.runsc.wait()
        words = guest.words.read_text(errors="replace").strip()[-2000:]
        os.close(guest.pidfd)
        gvisor.remove_bundle(guest.bundle)
        if not guest.started:
            self._tell("refused", guest.key, reason=words or "runsc ended without a word")
            return
        # A sandbox that does not say how its guest ended was itself ended, or broke.
        said = guest.said.removeprefix(confine.DONE)
        end = json.loads(said) if said else {"code": -signal.SIGKILL, "cpu": 0.0}
        self._tell("ended", guest.key, **end, punished=False)


def _leave(number: int, frame: object) -> NoReturn:
    signal.signal(number, signal.SIG_IGN)  # clearing up must not be disturbed
    sys.exit(0)


def main() -> None:
    """Started by the host with the control socket's descriptor as the only argument."""
    signal.signal(signal.SIGTERM, _leave)
    confine.die_with_parent(by=signal.SIGTERM)  # time enough to clear up
    control = socket.socket(fileno=int(sys.argv[1]))
    setup = json.loads(control.recv(_MAX_MESSAGE))
    with gvisor.bundles_folder(setup["folder"]) as folder:
        keeper = _Keeper(control, setup, folder)
        control.send(json.dumps({"event": "ready", "key": 0, "forks": False}).encode())
        try:
            keeper.run()
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            keeper.end()
