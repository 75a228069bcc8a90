"""System call numbers of the machines this jail knows, and what may be called.

`ALLOWED` names what CPython, numpy and networkx need once they are loaded, and nothing more: no
sockets, no processes or threads, no signals to others, no way to duplicate a descriptor.
"""

import platform

from metamem.core.system import is_linux

# name: (x86_64, aarch64); None where the machine does not have the call.
_NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "access": (21, None),
    "brk": (12, 214),
    "clock_getres": (229, 114),
    "clock_gettime": (228, 113),
    "clock_nanosleep": (230, 115),
    "clone": (56, 220),
    "clone3": (435, 435),
    "close": (3, 57),
    "close_range": (436, 436),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "fcntl": (72, 25),
    "fstat": (5, 80),
    "futex": (202, 98),
    "getcpu": (309, 168),
    "getcwd": (79, 17),
    "getdents64": (217, 61),
    "getegid": (108, 177),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getpid": (39, 172),
    "getppid": (110, 173),
    "getrandom": (318, 278),
    "getrusage": (98, 165),
    "gettid": (186, 178),
    "gettimeofday": (96, 169),
    "getuid": (102, 174),
    "ioctl": (16, 29),
    "lseek": (8, 62),
    "lstat": (6, None),
    "madvise": (28, 233),
    "membarrier": (324, 283),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "mremap": (25, 216),
    "munmap": (11, 215),
    "nanosleep": (35, 101),
    "newfstatat": (262, 79),
    "open": (2, None),
    "openat": (257, 56),
    "pidfd_getfd": (438, 438),
    "pidfd_open": (434, 434),
    "poll": (7, None),
    "ppoll": (271, 73),
    "prctl": (157, 167),
    "pread64": (17, 67),
    "prlimit64": (302, 261),
    "pselect6": (270, 72),
    "read": (0, 63),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "readv": (19, 65),
    "restart_syscall": (219, 128),
    "rseq": (334, 293),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sched_getaffinity": (204, 123),
    "sched_yield": (24, 124),
    "seccomp": (317, 277),
    "select": (23, None),
    "set_robust_list": (273, 99),
    "sigaltstack": (131, 132),
    "stat": (4, None),
    "statx": (332, 291),
    "sysinfo": (99, 179),
    "time": (201, None),
    "times": (100, 153),
    "uname": (63, 160),
    "vhangup": (153, 58),
    "write": (1, 64),
    "writev": (20, 66),
    "capset": (126, 91),
    "landlock_create_ruleset": (444, 444),
    "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
    "add_key": (248, 217),
    "bpf": (321, 280),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "keyctl": (250, 219),
    "mount": (165, 40),
    "perf_event_open": (298, 241),
    "request_key": (249, 218),
    "setns": (308, 268),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
}

# Allowed whatever their arguments.
# fmt: off
ALLOWED = (
    "access", "brk", "clock_getres", "clock_gettime", "clock_nanosleep", "close",
    "close_range", "exit", "exit_group", "faccessat", "faccessat2", "fstat", "futex", "getcpu",
    "getcwd", "getdents64", "getegid", "geteuid", "getgid", "getpid", "getppid", "getrandom",
    "getrusage", "gettid", "gettimeofday", "getuid", "lseek", "lstat", "madvise", "membarrier",
    "mprotect", "mremap", "munmap", "nanosleep", "newfstatat", "poll", "ppoll", "pread64",
    "pselect6", "read", "readlink", "readlinkat", "readv", "restart_syscall", "rseq",
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sched_getaffinity", "sched_yield",
    "select", "set_robust_list", "sigaltstack", "stat", "statx", "sysinfo", "time", "times",
    "uname", "write", "writev",
)
# fmt: on

# Refused even to whole programs in a workspace: nothing that builds or tests code needs them.
# fmt: off
REFUSED_IN_WORKSPACE = (
    "add_key", "bpf", "io_uring_enter", "io_uring_register", "io_uring_setup", "keyctl", "mount",
    "perf_event_open", "request_key", "setns", "unshare", "userfaultfd",
)
# fmt: on

_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column, audit number


def machine_known() -> bool:
    """Whether the numbers here are this kernel's. Elsewhere they would mean other calls."""
    return is_linux() and platform.machine() in _MACHINES


def audit_arch() -> int:
    return _MACHINES[platform.machine()][1]


def number(name: str) -> int | None:
    """The number of a system call here, or None where this machine does not have it."""
    return _NUMBERS[name][_MACHINES[platform.machine()][0]]


def required(name: str) -> int:
    found = number(name)
    assert found is not None, f"{name} exists on every machine this jail knows"
    return found
