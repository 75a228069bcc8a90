"""Things to attack: a secret, a file, a process and sockets that nobody else needs."""

import os
import secrets
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import metamem
from metamem.sandbox.syscalls import required

_PROCESS = """
import ctypes, sys, time
secret = ctypes.create_string_buffer(sys.argv[1].encode())
print(ctypes.addressof(secret), flush=True)
time.sleep(600)
"""


class Canaries:
    """A context manager; `harmed()` names what an attack has touched."""

    def __init__(self) -> None:
        self.token = secrets.token_hex(8)
        self._folder = tempfile.TemporaryDirectory(prefix="metamem-canary-")
        self.folder = Path(self._folder.name)
        self.secret = self.folder / "secret"
        self.victim = self.folder / "victim"
        self.secret.write_text(self.token)
        self._restore_victim()
        self._tcp = socket.create_server(("127.0.0.1", 0))
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", 0))
        self._unix = socket.socket(socket.AF_UNIX)
        self._unix.bind(str(self.folder / "socket"))
        self._abstract = socket.socket(socket.AF_UNIX)
        self._abstract.bind(f"\0metamem-{self.token}")
        self._unix.listen()
        self._abstract.listen()
        for listening in (self._tcp, self._udp, self._unix, self._abstract):
            listening.setblocking(False)
        self._process: subprocess.Popen[str] | None = None
        self._address = 0

    def __enter__(self) -> "Canaries":
        return self

    def __exit__(self, *error: object) -> None:
        self._end_process()
        for each in (self._tcp, self._udp, self._unix, self._abstract):
            each.close()
        self._folder.cleanup()

    @property
    def environment(self) -> dict[str, str]:
        return {"METAMEM_CANARY": self.token, "PATH": os.defpath}

    def parameters(self) -> dict[str, Any]:
        return {
            "token": self.token,
            "secret": str(self.secret),
            "victim": str(self.victim),
            "folder": str(self.folder),
            "package": str(Path(metamem.__file__).parent),
            "host": os.getpid(),
            "pid": self._running().pid,
            "address": self._address,
            "tcp": self._tcp.getsockname()[1],
            "udp": self._udp.getsockname()[1],
            "unix": str(self.folder / "socket"),
            "abstract": f"metamem-{self.token}",
            "clone": required("clone"),
        }

    def harmed(self) -> list[str]:
        """What was touched since the last time it was asked; all is whole again afterwards."""
        harm = []
        if self._process is not None and self._process.poll() is not None:
            harm.append("the process")
            self._end_process()
        state = self.victim.stat() if self.victim.exists() else None
        if state is None or self._victim_state != (state.st_ctime_ns, state.st_size):
            harm.append("the file")
            self._restore_victim()
        if {p.name for p in self.folder.iterdir()} != {"secret", "victim", "socket"}:
            harm.append("the folder")
        for listening in (self._tcp, self._unix, self._abstract):
            try:
                listening.accept()[0].close()
                harm.append(f"the socket {listening.getsockname()}")
            except BlockingIOError:
                pass
        try:
            self._udp.recv(10)
            harm.append("the udp socket")
        except BlockingIOError:
            pass
        return harm

    def _running(self) -> "subprocess.Popen[str]":
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _PROCESS, self.token],
                env=self.environment,
                stdout=subprocess.PIPE,
                text=True,
            )
            assert self._process.stdout is not None
            self._address = int(self._process.stdout.readline())
        return self._process

    def _end_process(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            assert self._process.stdout is not None
            self._process.stdout.close()
            self._process = None

    def _restore_victim(self) -> None:
        for path in self.folder.iterdir():
            if path.name not in ("secret", "socket"):
                path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        self.victim.write_text("whole")
        state = self.victim.stat()
        self._victim_state = (state.st_ctime_ns, state.st_size)
