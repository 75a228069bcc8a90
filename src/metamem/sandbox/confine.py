"""The last steps of a new process before it runs code it does not trust. There is no way back."""

import fcntl
import os
import resource
import socket
import struct
from dataclasses import dataclass
from pathlib import Path

from metamem.sandbox import landlock, libc, seccomp

CHANNEL = 3  # the descriptor on which every jailed process speaks with the host
MAX_FILES = 32
LISTENER, DONE = b"listener", b"confined"  # what the fork server is told

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS, _SIGKILL = 1, 38, 9
_CAPABILITY_VERSION = 0x20080522


@dataclass(frozen=True, slots=True)
class Confinement:
    """Made once by the fork server, applied by every process it forks."""

    rules: int | None  # a Landlock ruleset, where the kernel has Landlock
    strict: bytes
    notify: bytes | None  # None: no forks of running processes


def prepare(readable: list[str], *, forks: bool) -> Confinement:
    rules = landlock.ruleset([Path(p) for p in readable]) if landlock.abi() else None
    return Confinement(rules, seccomp.strict(forks=forks), seccomp.notify() if forks else None)


def die_with_parent() -> None:
    libc.syscall("prctl", _PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)


def promise_no_privileges() -> None:
    """Nothing this process runs can gain rights: the kernel asks that of who installs filters."""
    libc.syscall("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def _set_limits(memory_bytes: int, cpu_seconds: int) -> None:
    slack = 2 << 30  # libraries mapped from files count as address space, not as memory
    for kind, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_STACK, 8 << 20),
        (resource.RLIMIT_DATA, memory_bytes),
        (resource.RLIMIT_AS, memory_bytes + slack),
    ):
        resource.setrlimit(kind, (value, value))
    # First a signal that says why; a process that ignores it is killed a second later.
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))


def _drop_capabilities() -> None:
    header = libc.buffer(struct.pack("=Ii", _CAPABILITY_VERSION, 0))
    libc.syscall("capset", header, libc.buffer(bytes(24)))


def enter(
    confinement: Confinement,
    channel: int,
    server: int,
    *,
    memory_bytes: int,
    cpu_seconds: int,
) -> None:
    """Confine this process, and say so on `server`, which also gets the listener, if any."""
    os.setsid()  # a group of its own, so that a whole family can be killed at once
    die_with_parent()
    os.dup2(0, 1)
    os.dup2(0, 2)
    _set_limits(memory_bytes, cpu_seconds)
    promise_no_privileges()
    _drop_capabilities()
    if confinement.rules is not None:
        landlock.enforce(confinement.rules)
    if confinement.notify is not None:
        listener = seccomp.install(confinement.notify, listener=True)
        with socket.socket(fileno=os.dup(server)) as handshake:
            socket.send_fds(handshake, [LISTENER], [listener])
    # From here on the only descriptors are the null device, the channel to the host and, until
    # this function returns, the handshake with the fork server.
    kept = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, 16) for descriptor in (channel, server)]
    for number, descriptor in enumerate(kept, CHANNEL):
        os.dup2(descriptor, number, inheritable=False)
    os.closerange(CHANNEL + 2, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    resource.setrlimit(resource.RLIMIT_NOFILE, (MAX_FILES, MAX_FILES))
    seccomp.install(confinement.strict)
    os.write(CHANNEL + 1, DONE)
    os.close(CHANNEL + 1)
