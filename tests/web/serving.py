"""A real server in a process of its own, on loopback."""

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2 as httpx

from metamem.service.client import MemoryClient
from metamem.service.connecting import connect

SHOP = "local/project/webshop"


@dataclass
class Served:
    process: subprocess.Popen[str]
    folder: Path
    url: str
    socket: str
    key: str  # of the owner, with all rights

    def client(self, key: str | None = None) -> MemoryClient:
        return MemoryClient(self.url, self.key if key is None else key)

    def owner(self) -> MemoryClient:
        """Over the socket, as the owner of the file."""
        return MemoryClient(f"unix:{self.socket}")

    def ask(self, method: str, path: str, **more: object) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.key}"} | dict(more.pop("headers", {}))  # type: ignore[call-overload]
        return httpx.request(
            method, self.url + path, headers=headers, trust_env=False, timeout=60, **more
        )

    def stop(self, how: int = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        return self.process.wait(30)


def start(folder: Path, *more: str, key: str = "", files_at_most: int = 0) -> Served:
    """Start a server, and wait until it says where it is."""

    def bound_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (files_at_most, files_at_most))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    socket = folder / "own.sock"
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "metamem.cli.main", "serve", "--json", "--port", "0"),
            *("--memory", str(folder), "--socket", str(socket), *more),
        ],
        stdout=subprocess.PIPE,
        stderr=(folder / "log").open("a") if folder.exists() else None,
        text=True,
        preexec_fn=bound_files if files_at_most else None,
        env={**os.environ, "METAMEM_URL": "", "METAMEM_KEY": ""},
    )
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        said += line
        if line.startswith("}"):
            break
    else:
        raise RuntimeError(f"the server did not start: {process.wait()}")
    place = json.loads(said)
    return Served(process, folder, place["url"], place["socket"], key)


def make_key(folder: Path, **settings: object) -> str:
    with connect(folder) as memories:
        settings.setdefault("rights", ("read", "write", "manage"))
        settings.setdefault("per_minute", 0)
        return memories.administration.make_key(**settings).secret  # type: ignore[arg-type]


def prepare(folder: Path) -> str:
    """A folder with a scope; a key that may do all."""
    folder.mkdir(parents=True, exist_ok=True)
    with connect(folder) as memories:
        memories.administration.add_scope(SHOP)
    return make_key(folder)


@contextmanager
def serving(folder: Path, *more: str) -> Iterator[Served]:
    served = start(folder, *more, key=prepare(folder))
    try:
        yield served
    finally:
        if served.process.poll() is None:
            served.stop()
        if served.process.stdout:
            served.process.stdout.close()
