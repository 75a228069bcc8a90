"""What differs from one operating system to another, in one place."""

import ctypes
import os
import platform
import signal

_PR_SET_PDEATHSIG = 1


def is_linux() -> bool:
    """Whether the kernel's own calls, by number, mean what they mean on Linux."""
    return platform.system() == "Linux"


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def die_with(parent: int) -> bool:
    """Have the kernel kill this process when its parent dies; False where that has happened.

    Elsewhere than on Linux a process has to notice by itself that nobody speaks to it any more.
    """
    if is_linux():
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    return os.getppid() == parent


def ending(code: int | None) -> str:
    """How a process ended, in words, from what `subprocess` says of it."""
    return f"by {signal.Signals(-code).name}" if code and code < 0 else f"exit code {code}"
