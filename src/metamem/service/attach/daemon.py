"""The daemon: one for all sessions of a user. It answers hooks and keeps what their transcripts say.

It listens on a unix socket in a folder of the user's own, and lets in nobody else. It holds a fixed
number of threads, and no child processes but git for a moment when a session starts
and one at low priority once an hour; whoever comes while all are busy is turned away, and the
hook goes on without an answer.
"""

import fcntl
import json
import os
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

from metamem.core.access import Scope
from metamem.core.errors import Busy, MetamemError, StoreError
from metamem.service.attach.advising import Advisers
from metamem.service.attach.answering import Answer, Answering
from metamem.service.attach.beginnings import Beginnings
from metamem.service.attach.hidden import Hidden
from metamem.service.attach.hourly import Hourly
from metamem.service.attach.pace import Pace
from metamem.service.attach.places import LOCK, SOCKET, STARTING, Meeting
from metamem.service.attach.spool import Claimed, Spool
from metamem.service.importing.keeping import Keeper
from metamem.service.importing.places import Places
from metamem.service.importing.sources import HOSTS, Source
from metamem.service.service import MemoryService

THREADS = 4  # that answer
WAITING = 16  # who wait for one; more are turned away
MOST = 5_000_000  # bytes of a request
HEAD = 200  # bytes of its first line
SECONDS = 2.0  # to say what one wants
SWITCH_SECONDS = 0.0005  # a thread that answers waits no longer for one that reads transcripts
BREATH = 0.1  # seconds between two looks, however many hooks call for one
LOOK_EVERY = 5.0  # seconds, though nobody says that there is something to look at
IDLE = 8 * 3600.0  # seconds without anybody, after which it ends; the next hook starts it again
_CREDENTIALS = struct.Struct("3i")


@dataclass(slots=True)
class Counts:
    """What it did, for `status`."""

    answered: int = 0
    silent: int = 0
    failed: int = 0
    late: int = 0  # answers whose hooks had gone on without
    turned_away: int = 0
    sessions: int = 0  # looks at transcripts
    stored: int = 0
    calls: int = 0  # of tools
    facts: int = 0  # that were made of sessions by rule
    damaged: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, **more: int) -> None:
        with self._lock:
            for name, count in more.items():
                setattr(self, name, getattr(self, name) + count)

    def to_json(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in self.__slots__ if name[0] != "_"}


class Daemon:
    def __init__(self, memories: Path, *, idle: float = IDLE) -> None:
        self._meeting = Meeting(memories)
        self._idle = idle
        self._counts = Counts()
        self._began = self._last = time.monotonic()
        self._stopping = threading.Event()
        self._look = threading.Event()
        self._free = threading.Semaphore(THREADS + WAITING)
        self._hourly = Hourly(memories)
        self._trouble = ""

    def run(self) -> bool:
        """Serve until somebody says stop. False where another daemon is there already."""
        self._meeting.make()
        os.chdir(self._meeting.folder)  # so that the socket's name is short
        os.umask(0o077)
        with open(LOCK, "a+b") as lock:  # noqa: PTH123  a name in the folder that we are in
            if not _locked(lock):
                return False
            service = MemoryService(self._meeting.memories)
            try:
                self._serve(service)
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(SOCKET)  # noqa: PTH108
                service.close()
        return True

    def stop(self, *_: Any) -> None:
        self._stopping.set()
        self._look.set()

    def _serve(self, service: MemoryService) -> None:
        places = Places(service.database)
        beginnings = Beginnings(service)
        advisers = Advisers(service.database)
        hidden = Hidden()
        answering = Answering(service, places, beginnings, advisers, hidden)
        kept = (Keeper(service.local(), places), advisers, hidden)
        keeper = threading.Thread(target=self._keep, args=kept, name="keeper", daemon=True)
        with suppress(FileNotFoundError):
            os.unlink(SOCKET)  # noqa: PTH108  of a daemon that was killed: we hold the lock
        with (
            socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener,
            ThreadPoolExecutor(THREADS, "hook") as pool,
        ):
            listener.bind(SOCKET)
            os.chmod(SOCKET, 0o600)  # noqa: PTH101
            listener.listen(64)
            listener.settimeout(0.5)
            with suppress(FileNotFoundError):
                os.unlink(STARTING)  # noqa: PTH108
            keeper.start()
            while not self._stopping.is_set():
                if self._idle and time.monotonic() - self._last > self._idle:
                    break
                try:
                    channel, _ = listener.accept()
                except TimeoutError:
                    continue
                self._last = time.monotonic()
                if not self._free.acquire(blocking=False):
                    self._counts.add(turned_away=1)
                    channel.close()
                    continue
                pool.submit(self._heard, channel, answering)
            self.stop()
        keeper.join()
        self._hourly.close()
        beginnings.close()

    # --- hooks -------------------------------------------------------------------------------

    def _heard(self, channel: socket.socket, answering: Answering) -> None:
        try:
            with channel:
                channel.settimeout(SECONDS)
                if not _is_own_user(channel):
                    return
                kind, host, data = _request(channel)
                if kind == "look":  # nobody waits for an answer
                    self._look.set()
                    return
                told = self._answered(kind, host, data, answering)
                channel.sendall(told.data + b"\0")
            told.delivered()  # nobody waits for that
        except (BrokenPipeError, ConnectionResetError):
            self._counts.add(late=1)
        except (OSError, ValueError):
            self._counts.add(failed=1)
        except MetamemError as error:
            self._counts.add(failed=1)
            self._trouble = error.message
        finally:
            self._free.release()

    def _answered(self, kind: str, host: str, data: bytes, answering: Answering) -> Answer:
        if kind == "status":
            return Answer(json.dumps(self._status()).encode())
        if kind == "stop":
            self.stop()
            return Answer(b"")
        if host not in HOSTS:
            raise ValueError(host)
        told = answering.answer(kind, host, data)
        self._counts.add(answered=1) if told.data else self._counts.add(silent=1)
        return told

    def _status(self) -> dict[str, Any]:
        return {
            "pid": os.getpid(),
            "seconds": round(time.monotonic() - self._began),
            "waiting": Spool(self._meeting.spool).waiting(),
            "trouble": self._trouble,
            "hourly": self._hourly.status(),
            **self._counts.to_json(),
        }

    # --- transcripts -------------------------------------------------------------------------

    def _keep(self, keeper: Keeper, advisers: Advisers, hidden: Hidden) -> None:
        """Look at what hooks pointed to; what cannot be kept now is looked at again."""
        spool, pace = Spool(self._meeting.spool), Pace()
        while not self._stopping.is_set():
            self._look.clear()
            scopes: set[str] = set()
            for claimed in spool.claimed():
                if self._stopping.is_set():
                    return
                if claimed.pointer is None or pace.due(claimed.pointer):
                    with pace.looking(claimed.pointer):
                        scopes |= self._kept(claimed, keeper, hidden)
            for scope in sorted(scopes):
                advisers.kept(Scope.parse(scope))
            self._trouble = advisers.trouble or self._trouble
            self._hourly.look()
            self._look.wait(LOOK_EVERY)
            self._stopping.wait(BREATH)

    def _kept(self, claimed: Claimed, keeper: Keeper, hidden: Hidden) -> set[str]:
        """Keep what a pointer means; the scopes of which there is more now."""
        scopes: set[str] = set()
        for source in self._sources(claimed, hidden):
            try:
                kept = keeper.keep(source)
            except (Busy, StoreError, OSError) as error:
                self._trouble = str(error).split("\n")[0]
                return scopes  # the pointer stays
            except MetamemError as error:  # of the transcript itself: trying again is no use
                self._trouble = error.message
                self._counts.add(failed=1)
                continue
            self._counts.add(
                sessions=1,
                stored=kept.stored,
                calls=kept.calls,
                facts=kept.facts,
                damaged=kept.damaged,
            )
            if kept.calls or kept.stored or kept.rewound:
                scopes.add(kept.scope)
        claimed.done()  # also where the transcript is gone, or never was
        return scopes

    def _sources(self, claimed: Claimed, hidden: Hidden) -> list[Source]:
        """What a pointer means. To find that, the file of a host may have to be read, which may be damaged."""
        try:
            return claimed.pointer.sources(hidden) if claimed.pointer else []
        except (MetamemError, OSError) as error:
            self._trouble = str(error).split("\n")[0]
            self._counts.add(failed=1)
            return []


def main(memories: str, *, idle: float = IDLE) -> None:
    """The program of the daemon's process."""
    daemon = Daemon(Path(memories), idle=idle)
    sys.setswitchinterval(SWITCH_SECONDS)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, cast(Callable[..., None], daemon.stop))
    sys.exit(0 if daemon.run() else 1)


def _locked(lock: IO[bytes]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    lock.truncate(0)
    lock.write(str(os.getpid()).encode())
    lock.flush()
    return True


def _request(channel: socket.socket) -> tuple[str, str, bytes]:
    """`KIND HOST LENGTH`, a line break, and as many bytes."""
    read = b""
    while b"\n" not in read:
        if len(read) > HEAD:
            raise ValueError("no first line")
        part = channel.recv(1 << 16)
        if not part:
            raise ValueError("nothing was asked")
        read += part
    head, _, data = read.partition(b"\n")
    kind, host, length = head.decode("ascii").split(" ")
    if not 0 <= int(length) <= MOST:
        raise ValueError("too much")
    while len(data) < int(length):
        part = channel.recv(1 << 16)
        if not part:
            raise ValueError("cut short")
        data += part
    return kind, host, data[: int(length)]


def _is_own_user(channel: socket.socket) -> bool:
    """Whether the other end belongs to the same user. The folder keeps others out already; where
    the system tells who is there, that is asked, too."""
    asked = getattr(socket, "SO_PEERCRED", None)
    if asked is None:
        return True
    _, user, _ = _CREDENTIALS.unpack(
        channel.getsockopt(socket.SOL_SOCKET, asked, _CREDENTIALS.size)
    )
    return bool(user == os.getuid())
