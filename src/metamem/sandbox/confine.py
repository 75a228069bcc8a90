"""The last steps of a new process before it runs code it does not trust. There is no way back."""

import os
import resource
import socket
import struct
from dataclasses import dataclass

from metamem.sandbox import landlock, libc, seccomp

CHANNEL = 3  # the descriptor on which every jailed process speaks with the host
MAX_FILES = 32

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS, _SIGKILL = 1, 38, 9
_CAPABILITY_VERSION = 0x20080522


@dataclass(frozen=True, slots=True)
class Confinement:
    """Made once by the fork server, applied by every process it forks."""

    rules: int | None  # a Landlock ruleset, where the kernel has Landlock
    strict: bytes
    notify: bytes | None  # None: no forks of running processes


def prepare(readable: list[str], *, forks: bool) -> Confinement:
    from pathlib import Path

    rules = landlock.ruleset([Path(p) for p in readable]) if landlock.abi() else None
    return Confinement(rules, seccomp.strict(forks=forks), seccomp.notify() if forks else None)


def die_with_parent() -> None:
    libc.syscall("prctl", _PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)


def _set_limits(memory_bytes: int, cpu_seconds: int) -> None:
    slack = 2 << 30  # libraries mapped from files count as address space, not as memory
    for kind, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_NOFILE, MAX_FILES),
        (resource.RLIMIT_DATA, memory_bytes),
        (resource.RLIMIT_AS, memory_bytes + slack),
        (resource.RLIMIT_CPU, cpu_seconds),
    ):
        resource.setrlimit(kind, (value, value))


def _drop_capabilities() -> None:
    header = libc.buffer(struct.pack("=Ii", _CAPABILITY_VERSION, 0))
    libc.syscall("capset", header, libc.buffer(bytes(24)))


def enter(
    confinement: Confinement,
    channel: int,
    server: socket.socket,
    *,
    memory_bytes: int,
    cpu_seconds: int,
) -> None:
    """Confine this process. `server` is told of success by the listener (or a plain byte)."""
    os.setsid()  # a group of its own, so that a whole family can be killed at once
    die_with_parent()
    os.dup2(0, 1)
    os.dup2(0, 2)
    _set_limits(memory_bytes, cpu_seconds)
    libc.syscall("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _drop_capabilities()
    if confinement.rules is not None:
        landlock.enforce(confinement.rules)
    if confinement.notify is not None:
        listener = seccomp.install(confinement.notify, listener=True)
        socket.send_fds(server, [b"+"], [listener])
    else:
        server.send(b"+")
    # From here on the only descriptors are the null device and the channel to the host.
    os.dup2(channel, CHANNEL, inheritable=False) if channel != CHANNEL else None
    os.closerange(CHANNEL + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[1] + 4096)
    seccomp.install(confinement.strict)
