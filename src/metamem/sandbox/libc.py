"""Raw system calls. The GIL is kept throughout: between a fork and its hooks nothing else may run."""

import ctypes
import os

from metamem.sandbox.syscalls import required

_libc = ctypes.PyDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long

Pointer = ctypes.Array[ctypes.c_char]


def syscall(name: str, *arguments: int | Pointer | None) -> int:
    """Make a system call; raises OSError as the functions of `os` do."""
    converted = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result: int = _libc.syscall(ctypes.c_long(required(name)), *converted)
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), name)
    return result


def buffer(data: bytes) -> Pointer:
    return ctypes.create_string_buffer(data, len(data))


def address(memory: Pointer) -> int:
    return ctypes.addressof(memory)
