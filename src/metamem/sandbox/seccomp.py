"""Seccomp filters. `strict` says what a guest may call at all; `notify` hands the one kind of
fork that is allowed to the fork server, which lets it pass only where the host granted it.
"""

import errno
import fcntl
import signal
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from metamem.sandbox import libc
from metamem.sandbox.syscalls import ALLOWED, REFUSED_IN_WORKSPACE, audit_arch, number, required

# A fork whose child belongs to the fork server (CLONE_PARENT | SIGCHLD), so that the server sees
# how it ends. glibc's own fork has other flags: `os.fork` in a guest is refused outright.
FORK_FLAGS = 0x8000 | 17
MARKER = "vhangup"  # a call nobody makes; by it a new fork tells the server who it is

_ALLOW, _ERRNO, _KILL, _NOTIFY = 0x7FFF0000, 0x00050000, 0x80000000, 0x7FC00000
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
_NR, _ARCH, _ARGS = 0, 4, 16
_X32_BIT = 0x40000000
_WORD = 0xFFFFFFFF

_SET_FILTER, _NEW_LISTENER, _GET_ACTION = 1, 1 << 3, 2


@dataclass(frozen=True, slots=True)
class Check:
    """Argument `index`, masked, must equal `value`; with a full mask, in all its 64 bits."""

    index: int
    value: int
    mask: int = _WORD


_WRITING = 0o3 | 0o100 | 0o1000 | 0o20000000  # access mode, O_CREAT, O_TRUNC, O_TMPFILE
_READ_ONLY_OPEN = {"open": 1, "openat": 2}  # which argument holds the flags
_CONDITIONAL: list[tuple[str, tuple[Check, ...]]] = [
    *((name, (Check(index, 0, _WRITING),)) for name, index in _READ_ONLY_OPEN.items()),
    ("mmap", (Check(3, 2, 0xF),)),  # private mappings only: none that two forks could share
    *(("fcntl", (Check(1, command),)) for command in (1, 2, 3)),  # F_GETFD, F_SETFD, F_GETFL
    *(("ioctl", (Check(1, request),)) for request in (0x5401, 0x5450, 0x5451)),  # isatty, cloexec
    ("prlimit64", (Check(0, 0), Check(2, 0))),  # ask for one's own limits, set none
    ("prctl", (Check(0, 1), Check(1, 9))),  # die with the fork server
]

Instruction = bytes


def _op(code: int, value: int, if_true: int = 0, if_false: int = 0) -> Instruction:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _return(action: int) -> Instruction:
    return _op(_RETURN, action)


def _rule(name: str, checks: Iterable[Check], action: int) -> list[Instruction]:
    """If this is the call and every check holds, take the action; else go on behind the rule."""
    nr = number(name)
    if nr is None:
        return []
    tests: list[tuple[Instruction, ...]] = [(_op(_LOAD, _NR),)]
    wanted = [nr]
    for check in checks:
        low = _ARGS + 8 * check.index
        tests.append((_op(_LOAD, low), _op(_AND, check.mask)))
        wanted.append(check.value)
        if check.mask == _WORD:
            tests.append((_op(_LOAD, low + 4),))
            wanted.append(0)
    rule = [_return(action)]
    for loads, value in reversed(list(zip(tests, wanted, strict=True))):
        rule = [*loads, _op(_JUMP_EQUAL, value, 0, len(rule)), *rule]
    return rule


def _header() -> list[Instruction]:
    """Another architecture's calls have other numbers: die rather than misread them."""
    return [
        _op(_LOAD, _ARCH),
        _op(_JUMP_EQUAL, audit_arch(), 1, 0),
        _return(_KILL),
        _op(_LOAD, _NR),
        _op(_JUMP_AT_LEAST, _X32_BIT, 0, 1),
        _return(_KILL),
    ]


def strict(*, forks: bool) -> bytes:
    """What is not named is refused with EPERM."""
    program = _header()
    for name in ALLOWED:
        program += _rule(name, (), _ALLOW)
    for name, checks in _CONDITIONAL:
        program += _rule(name, checks, _ALLOW)
    if forks:
        program += _rule("clone", (Check(0, FORK_FLAGS),), _ALLOW)
        program += _rule(MARKER, (), _ALLOW)
    program += _rule("clone3", (), _ERRNO | errno.ENOSYS)
    program.append(_return(_ERRNO | errno.EPERM))
    return b"".join(program)


def notify() -> bytes:
    program = _header()
    program += _rule("clone", (Check(0, FORK_FLAGS),), _NOTIFY)
    program += _rule(MARKER, (), _NOTIFY)
    program.append(_return(_ALLOW))
    return b"".join(program)


@cache
def workspace() -> bytes:
    """Whole programs run in a workspace, so only what none of them needs is refused."""
    program = _header()
    for name in REFUSED_IN_WORKSPACE:
        program += _rule(name, (), _ERRNO | errno.EPERM)
    program.append(_return(_ALLOW))
    return b"".join(program)


def install(program: bytes, *, listener: bool = False) -> int:
    """Put a filter on this process for good. Returns the listener's descriptor, or 0."""
    code = libc.buffer(program)
    header = libc.buffer(struct.pack("=HxxxxxxQ", len(program) // 8, libc.address(code)))
    return libc.syscall("seccomp", _SET_FILTER, _NEW_LISTENER if listener else 0, header)


def available() -> bool:
    """Whether this kernel has seccomp filters."""
    try:
        action = libc.buffer(struct.pack("=I", _ERRNO))
        return libc.syscall("seccomp", _GET_ACTION, 0, action) == 0
    except OSError:
        return False


# --- the fork server's end of a listener ------------------------------------------------------


def _request(direction: int, nr: int, size: int) -> int:
    return direction << 30 | size << 16 | ord("!") << 8 | nr


_RECEIVE = _request(3, 0, 80)
_SEND = _request(3, 1, 24)
_ADD_FD = _request(1, 3, 24)
_CONTINUE, _SET_FD = 1, 1


@dataclass(frozen=True, slots=True)
class Notice:
    """A call that waits for the fork server's word."""

    id: int
    pid: int
    marker: bool  # a new fork names itself; otherwise a process asks to fork


_PATIENCE = 0.02


def receive(listener: int) -> Notice:
    """The next call that waits; raises OSError where its process has died meanwhile.

    The kernel has no way to ask without waiting: a caller that dies between `poll` and this would
    leave us waiting for the next one. A timer interrupts that wait. The request goes to the
    kernel directly, since `fcntl.ioctl` would, on some versions, only begin to wait again.
    """
    data = libc.buffer(bytes(80))
    before = signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, _PATIENCE, _PATIENCE)
    try:
        libc.syscall("ioctl", listener, _RECEIVE, data)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    identifier, pid, _, nr = struct.unpack_from("=QIIi", data.raw)
    return Notice(identifier, pid, nr == required(MARKER))


def let_pass(listener: int, notice: Notice) -> None:
    fcntl.ioctl(listener, _SEND, struct.pack("=QqiI", notice.id, 0, 0, _CONTINUE))


def answer(listener: int, notice: Notice, error: int = 0) -> None:
    fcntl.ioctl(listener, _SEND, struct.pack("=QqiI", notice.id, 0, -error, 0))


def give_descriptor(listener: int, notice: Notice, source: int, target: int) -> None:
    """Put our descriptor in the place of one of theirs."""
    fcntl.ioctl(listener, _ADD_FD, struct.pack("=QIIII", notice.id, _SET_FD, source, target, 0))
