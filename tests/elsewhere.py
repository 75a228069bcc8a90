"""Other systems, played on Linux: what they lack is taken away before a program starts.

Written as `sitecustomize.py` into a folder on the path of a Python process, with METAMEM_TEST_SYSTEM
set to `darwin` or `wsl1`. What a system does not have fails as it would there; a system call by
number, which would do something else there, ends the process at once.
"""

import ctypes
import errno
import os
import platform
import select
import signal
import sys
import sysconfig

DARWIN = os.environ["METAMEM_TEST_SYSTEM"] == "darwin"
NOT_ON_DARWIN = {
    os: ("sched_getaffinity", "pidfd_open", "memfd_create", "O_PATH", "O_TMPFILE", "getrandom"),
    select: ("epoll", "EPOLLIN"),
    signal: ("pidfd_send_signal",),
}
if DARWIN:
    for module, names in NOT_ON_DARWIN.items():
        for name in names:
            if hasattr(module, name):
                delattr(module, name)

import shutil
import urllib.request  # noqa: F401 - loaded under the name of macOS it would ask for its proxies

CAUGHT = 99  # the exit code of a process that made a Linux system call where there are none


def _no_bubblewrap(which):
    return lambda name, *more, **options: (
        None if name in ("bwrap", "runsc") else which(name, *more, **options)
    )


class _Refused:
    """`syscall` and `prctl` of a kernel that knows neither seccomp nor Landlock."""

    restype = None

    def __call__(self, *arguments):
        if DARWIN:
            os.write(2, b"a Linux system call was made elsewhere\n")
            os._exit(CAUGHT)
        ctypes.set_errno(errno.ENOSYS)
        return -1


def _symbols(lookup):
    def found(library, name):
        if name == "prctl" and DARWIN:
            raise AttributeError(name)
        return _Refused() if name in ("syscall", "prctl") else lookup(library, name)

    return found


shutil.which = _no_bubblewrap(shutil.which)
ctypes.CDLL.__getattr__ = _symbols(ctypes.CDLL.__getattr__)
if DARWIN:
    sysconfig.get_config_vars()  # read while it can be found under this system's own name
    sys.platform = "darwin"
    platform.system = lambda: "Darwin"
    platform.machine = lambda: "x86_64"  # where the numbers of system calls look familiar
else:
    platform.release = lambda: "4.4.0-19041-Microsoft"
