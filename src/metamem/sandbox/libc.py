"""Raw system calls. The GIL is kept throughout."""

import ctypes
import os
import signal

from metamem.sandbox.syscalls import required

_libc = ctypes.PyDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long

Pointer = ctypes.Array[ctypes.c_char]


def syscall(name: str, *arguments: int | Pointer | None) -> int:
    """Make a system call; raises OSError as the functions of `os` do."""
    result = attempt(name, *arguments)
    if result < 0:
        raise OSError(-result, os.strerror(-result), name)
    return result


def attempt(name: str, *arguments: int | Pointer | None) -> int:
    """Make a system call that may well fail: minus the error's number is the answer then."""
    converted = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result: int = _libc.syscall(ctypes.c_long(required(name)), *converted)
    return -ctypes.get_errno() if result < 0 else result


def fork(flags: int = signal.SIGCHLD) -> int:
    """Copy this process, which must have one thread only; 0 in the copy.

    `os.fork` runs the interpreter's and the libraries' hooks, which prepare for threads, and give
    `random` new luck. Here are no threads, and luck is to be inherited. The hooks would write to
    some two hundred pages, each of which the kernel would have to copy first.
    """
    return syscall("clone", flags, 0, 0, 0, 0)


def buffer(data: bytes) -> Pointer:
    return ctypes.create_string_buffer(data, len(data))


def address(memory: Pointer) -> int:
    return ctypes.addressof(memory)
