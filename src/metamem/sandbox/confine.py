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
_PRECISION = 1 << 20


@dataclass(frozen=True, slots=True)
class Confinement:
    """Made once by the fork server, applied by every process it forks."""

    rules: int | None  # a Landlock ruleset, where the kernel has Landlock
    strict: bytes
    notify: bytes | None  # None: no forks of running processes


def prepare(readable: list[str], *, forks: bool) -> Confinement:
    rules = landlock.ruleset([Path(p) for p in readable]) if landlock.abi() else None
    return Confinement(rules, seccomp.strict(forks=forks), seccomp.notify() if forks else None)


def die_with_parent(by: int = _SIGKILL) -> None:
    """Have the kernel send this process a signal when the thread that made it ends."""
    libc.syscall("prctl", _PR_SET_PDEATHSIG, by, 0, 0, 0)


def promise_no_privileges() -> None:
    """Nothing this process runs can gain rights: the kernel asks that of who installs filters."""
    libc.syscall("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def fixed_limits(memory_bytes: int) -> dict[str, int]:
    """The kernel's limits that nothing in a process's life changes, by their names."""
    slack = 2 << 30  # libraries mapped from files count as address space, not as memory
    return {
        "RLIMIT_CORE": 0,
        "RLIMIT_FSIZE": 0,
        "RLIMIT_MEMLOCK": 0,
        "RLIMIT_MSGQUEUE": 0,
        "RLIMIT_STACK": 8 << 20,
        "RLIMIT_DATA": memory_bytes,
        "RLIMIT_AS": memory_bytes + slack,
    }


def _limit_cpu(seconds: int) -> None:
    """First a signal that says why; a process that ignores it is killed a second later."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))


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
    for kind, value in fixed_limits(memory_bytes).items():
        resource.setrlimit(getattr(resource, kind), (value, value))
    _limit_cpu(cpu_seconds)
    promise_no_privileges()
    _drop_capabilities()
    if confinement.rules is not None:
        landlock.enforce(confinement.rules)
    if confinement.notify is not None:
        listener = seccomp.install(confinement.notify, listener=True)
        with socket.socket(fileno=os.dup(server)) as handshake:
            socket.send_fds(handshake, [LISTENER], [listener])
    _seal(confinement.strict, channel, server)


def enter_guest(channel: int, keeper: int, *, memory_bytes: int, cpu_seconds: int) -> None:
    """Confine this process where gVisor has done the rest, and say so on `keeper`.

    Of memory gVisor limits no more than the address space. What libraries have taken of that is
    known to nobody beforehand; so memory is counted from here.
    """
    channel, keeper = os.dup(channel), os.dup(keeper)
    null = os.open("/dev/null", os.O_RDWR)
    for standard in range(3):
        os.dup2(null, standard)
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    space = min(most, most - _room(most) + memory_bytes)
    resource.setrlimit(resource.RLIMIT_AS, (space, space))
    _limit_cpu(cpu_seconds)
    promise_no_privileges()
    _seal(seccomp.strict(forks=False), channel, keeper)


def _room(most: int) -> int:
    """How much more can be mapped, found by trying: where there is no /proc, nobody says."""
    import mmap  # of no use elsewhere, and each library costs every fork

    low, high = 0, most
    while high - low > _PRECISION:
        middle = (low + high) // 2
        try:
            mmap.mmap(-1, middle, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ).close()
            low = middle
        except OSError:
            high = middle
    return low


def _seal(strict: bytes, channel: int, server: int) -> None:
    """The last step. From here on the only descriptors are the null device, the channel to the host
    and, until this function returns, the handshake with whoever started this process."""
    kept = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, 16) for descriptor in (channel, server)]
    for number, descriptor in enumerate(kept, CHANNEL):
        os.dup2(descriptor, number, inheritable=False)
    os.closerange(CHANNEL + 2, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    resource.setrlimit(resource.RLIMIT_NOFILE, (MAX_FILES, MAX_FILES))
    seccomp.install(strict)
    os.write(CHANNEL + 1, DONE)
    os.close(CHANNEL + 1)
