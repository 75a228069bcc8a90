"""The fork server: loads the libraries once, then forks a confined process for each request.

It runs inside the outer wall (bubblewrap, where there is one), trusts only the host, and never
reads a byte that a jailed process wrote.
"""

import errno
import gc
import importlib
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NoReturn

from metamem.sandbox import confine, libc, seccomp

_HANDSHAKE_SECONDS = 10
_IDLE_SECONDS = 1
_MAX_MESSAGE = 1 << 16


@dataclass(slots=True)
class _Family:
    """A process and all its forks: they share one listener and one process group."""

    group: int
    listener: int | None
    members: set[int] = field(default_factory=set)
    waiting: deque[seccomp.Notice] = field(default_factory=deque)  # one fork at a time
    forking: tuple[int, int] | None = None  # key and channel of the fork under way
    parent: int = 0  # the pid of the process that makes it


@dataclass(slots=True)
class _Process:
    key: int
    pidfd: int
    family: _Family
    grant: tuple[int, int] | None = None  # key and channel of the one fork it may make
    punished: bool = False  # ended by this server for what it, or its family, did


class _Server:
    def __init__(self, control: socket.socket, setup: dict[str, Any]) -> None:
        self._control = control
        self.forks = setup["forks"] and _can_listen()
        self._confinement = confine.prepare(setup["readable"], forks=self.forks)
        module, _, name = setup["entry"].partition(":")
        self._entry = getattr(importlib.import_module(module), name)
        self._processes: dict[int, _Process] = {}  # by pid
        self._pids: dict[int, int] = {}  # by key
        self._listeners: dict[int, _Family] = {}
        self._pidfds: set[int] = set()
        self._epoll = select.epoll()
        self._epoll.register(control.fileno(), select.EPOLLIN)

    def run(self) -> None:
        while True:
            events = self._epoll.poll(_IDLE_SECONDS)
            self._obey()
            if not events:
                self._reap()  # a fork that died nameless has no descriptor to announce it
            for descriptor, event in events:
                if descriptor in self._listeners and event & select.EPOLLIN:
                    self._hear(self._listeners[descriptor])
                elif descriptor in self._pidfds:
                    self._reap()

    # --- the host ---

    def _obey(self) -> None:
        """Take every command that has come. Grants come before the forks that need them."""
        while True:
            try:
                data, descriptors = receive_now(self._control)
            except BlockingIOError:
                return
            if not data:
                self._end()
            command = json.loads(data)
            key = command["key"]
            if command["op"] == "spawn":
                self._spawn(key, descriptors[0], command)
            elif command["op"] == "grant":
                self._grant(key, descriptors[0], command["of"])
            elif command["op"] == "kill":
                self._kill_family(key)

    def _tell(self, event: str, key: int, *descriptors: int, **details: Any) -> None:
        message = json.dumps({"event": event, "key": key, **details}).encode()
        try:
            socket.send_fds(self._control, [message], list(descriptors))
        except OSError:
            self._end()

    def _end(self) -> None:
        """The host is gone: leave nothing behind."""
        for pid in self._processes:
            os.kill(pid, signal.SIGKILL)
        os._exit(0)

    # --- processes ---

    def _spawn(self, key: int, channel: int, command: dict[str, Any]) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        pid = libc.fork()
        if pid == 0:
            self._become(channel, theirs.fileno(), command)
        os.close(channel)
        theirs.close()
        with ours:
            ours.settimeout(_HANDSHAKE_SECONDS)
            listener, word = None, b""
            try:
                word, descriptors, _, _ = socket.recv_fds(ours, _MAX_MESSAGE, 1)
                if word == confine.LISTENER:
                    listener, word = descriptors[0], ours.recv(_MAX_MESSAGE)
            except TimeoutError:
                pass
        if word != confine.DONE:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            if listener is not None:
                os.close(listener)
            self._tell("refused", key, reason=word.decode(errors="replace"))
            return
        family = _Family(pid, listener)
        if listener is not None:
            self._listeners[listener] = family
            self._epoll.register(listener, select.EPOLLIN)
        self._enrol(key, pid, family)

    def _become(self, channel: int, handshake: int, command: dict[str, Any]) -> NoReturn:
        """The new process: confine it, run it, and never come back."""
        try:
            confine.enter(
                self._confinement,
                channel,
                handshake,
                memory_bytes=command["memory_bytes"],
                cpu_seconds=command["cpu_seconds"],
            )
        except BaseException as error:
            os.write(handshake, repr(error).encode()[:1000])
            os._exit(1)
        try:
            self._entry()
        finally:
            os._exit(1)

    def _enrol(self, key: int, pid: int, family: _Family) -> None:
        pidfd = os.pidfd_open(pid)
        family.members.add(pid)
        self._processes[pid] = _Process(key, pidfd, family)
        self._pids[key] = pid
        self._pidfds.add(pidfd)
        self._epoll.register(pidfd, select.EPOLLIN)
        self._tell("started", key, pidfd)

    def _reap(self) -> None:
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            process = self._processes.pop(pid, None)
            if process is None:
                continue  # a fork that was killed before it had said who it is
            del self._pids[process.key]
            self._pidfds.discard(process.pidfd)
            os.close(process.pidfd)
            if process.grant is not None:
                os.close(process.grant[1])
            process.family.members.discard(pid)
            if process.family.forking is not None and process.family.parent == pid:
                self._kill_group(process.family)  # its fork has no name by which to end it
            self._close_if_empty(process.family)
            self._tell(
                "ended",
                process.key,
                code=os.waitstatus_to_exitcode(status),
                cpu=usage.ru_utime + usage.ru_stime,
                punished=process.punished,
            )

    def _close_if_empty(self, family: _Family) -> None:
        if not family.members and family.listener is not None:
            if family.forking is not None:
                os.close(family.forking[1])
            del self._listeners[family.listener]
            os.close(family.listener)
            family.listener = None

    def _kill_family(self, key: int) -> None:
        pid = self._pids.get(key)
        if pid is not None:
            self._kill_group(self._processes[pid].family)

    def _kill_group(self, family: _Family) -> None:
        for pid in family.members:
            self._processes[pid].punished = True
        with suppress(ProcessLookupError):
            os.killpg(family.group, signal.SIGKILL)

    def _punish(self, pid: int) -> None:
        if pid in self._processes:
            self._processes[pid].punished = True
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    # --- forks of running processes ---

    def _grant(self, key: int, channel: int, parent: int) -> None:
        process = self._processes.get(self._pids.get(parent, -1))
        if process is None or process.family.listener is None:
            os.close(channel)
            return
        if process.grant is not None:
            os.close(process.grant[1])
        process.grant = (key, channel)

    def _hear(self, family: _Family) -> None:
        assert family.listener is not None
        try:
            notice = seccomp.receive(family.listener)
        except OSError:
            return  # its process has died meanwhile
        if notice.marker:
            self._christen(family, notice)
        else:
            family.waiting.append(notice)
        while family.waiting and family.forking is None:
            self._fork(family, family.waiting.popleft())

    def _fork(self, family: _Family, notice: seccomp.Notice) -> None:
        assert family.listener is not None
        self._obey()  # the grant was sent before the fork was asked for, but may still be unread
        process = self._processes.get(notice.pid)
        with suppress(OSError):  # its process may have died meanwhile
            if process is None or process.grant is None:
                seccomp.answer(family.listener, notice, errno.EPERM)
            elif _holds_files(process):
                seccomp.answer(family.listener, notice, errno.EBUSY)
            else:
                seccomp.let_pass(family.listener, notice)
                family.forking, process.grant = process.grant, None
                family.parent = notice.pid

    def _christen(self, family: _Family, notice: seccomp.Notice) -> None:
        """A new fork gets its own channel in place of its parent's, and its name."""
        assert family.listener is not None
        if family.forking is None or notice.pid in self._processes:
            self._punish(notice.pid)  # nobody makes this call by accident
            return
        (key, channel), family.forking = family.forking, None
        try:
            seccomp.give_descriptor(family.listener, notice, channel, confine.CHANNEL)
        except OSError as error:
            self._tell("refused", key, reason=f"the copy died: {error}")
            return
        finally:
            os.close(channel)
        try:
            self._enrol(key, notice.pid, family)
            seccomp.answer(family.listener, notice)
        except OSError:
            return  # it has been ended already


def _holds_files(process: _Process) -> bool:
    """An open file's position is shared by both copies: one could signal the other by it."""
    for descriptor in range(confine.CHANNEL + 1, confine.MAX_FILES):
        found = libc.attempt("pidfd_getfd", process.pidfd, descriptor, 0)
        if found >= 0:
            os.close(found)
        if found != -errno.EBADF:
            return True  # it does, or it cannot be told, and then it must not pass
    return False


def _can_listen() -> bool:
    """Whether forks can be put to this server, found out by trying in a process of its own.

    The kernel may be too old, somebody outside may hold the one listener there can be, or it may
    be forbidden to look at other processes.
    """
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            confine.promise_no_privileges()
            seccomp.install(seccomp.notify(), listener=True)
            os.write(writer, b"+")
            signal.pause()
        finally:
            os._exit(1)
    os.close(writer)
    try:
        installed = os.read(reader, 1) == b"+"
        os.close(libc.syscall("pidfd_getfd", os.pidfd_open(pid), 0, 0))
    except OSError:
        installed = False
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(reader)
    release = [int(part) for part in os.uname().release.split("-")[0].split(".")[:2]]
    return installed and release >= [5, 9]  # since then descriptors can be given to others


def receive_now(control: socket.socket) -> tuple[bytes, list[int]]:
    """One message and its descriptors (`socket.recv_fds` ignores its flags)."""
    room = socket.CMSG_SPACE(struct.calcsize("i"))
    data, ancillary, _, _ = control.recvmsg(_MAX_MESSAGE, room, socket.MSG_DONTWAIT)
    return data, [struct.unpack("i", payload)[0] for _, _, payload in ancillary]


def main() -> None:
    """Started by the host with the control socket's descriptor as the only argument."""
    confine.die_with_parent()
    sys.modules["ssl"] = None  # type: ignore[assignment]  # no use without a network, and large
    control = socket.socket(fileno=int(sys.argv[1]))
    setup = json.loads(control.recv(_MAX_MESSAGE))
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    for module in setup["preload"]:
        importlib.import_module(module)
    server = _Server(control, setup)
    gc.collect()
    gc.freeze()  # keeps the collector from touching, and so copying, what all forks share
    control.send(json.dumps({"event": "ready", "key": 0, "forks": server.forks}).encode())
    server.run()
