"""How untrusted code can be isolated on this machine, and the refusal where it cannot."""

import os
import platform
from dataclasses import dataclass
from typing import Literal

from metamem.core.errors import JailUnavailable, UsageError
from metamem.core.system import is_linux
from metamem.sandbox import bubblewrap, gvisor, landlock, seccomp, syscalls

Isolation = Literal["bwrap", "self", "runsc"]
ISOLATIONS: tuple[Isolation, ...] = ("bwrap", "self", "runsc")
CONTAINER = "run metamem in a Linux container: the recipe is in docs/installing.md, Other systems"
CHOICE = "METAMEM_JAIL"  # the environment variable that says what "auto" means

# What holds a guest in each of them, by the names of the mechanisms.
_PARTS = {
    "bwrap": ("bubblewrap", "seccomp", "landlock"),
    "self": ("seccomp", "landlock"),
    "runsc": ("gVisor", "seccomp"),
}


@dataclass(frozen=True, slots=True)
class Mechanism:
    """One of the parts that isolate, whether it is active here, and what that means."""

    name: str
    active: bool
    note: str


def _seccomp() -> bool:
    return syscalls.machine_known() and seccomp.available()


def _landlock() -> int:
    return landlock.abi() if syscalls.machine_known() else 0


def mechanisms() -> list[Mechanism]:
    """What there is here, for people."""
    return [_REPORTS[name]() for name in _REPORTS]


def _bubblewrap_report() -> Mechanism:
    if bubblewrap.works():
        note = "own namespaces and an empty file system"
    elif bubblewrap.executable() is None:
        note = "not installed, or user namespaces are switched off"
    else:
        note = "installed, but it may not make namespaces here"
    return Mechanism("bubblewrap", bubblewrap.works(), note)


def _seccomp_report() -> Mechanism:
    note = (
        "system calls by allow-list"
        if _seccomp()
        else f"no filters in this kernel, or an unknown machine ({platform.machine()})"
    )
    return Mechanism("seccomp", _seccomp(), note)


def _landlock_report() -> Mechanism:
    version = _landlock()
    note = f"version {version}: files by allow-list" if version else "not in this kernel"
    return Mechanism("landlock", version > 0, note)


def _gvisor_report() -> Mechanism:
    if gvisor.works():
        note = f"a kernel of its own for each guest, slow to start; by {CHOICE}=runsc only"
    elif gvisor.executable() is None:
        note = "optional: runsc is not installed"
    else:
        note = "optional: runsc is installed, but cannot start a sandbox here"
    return Mechanism("gVisor", gvisor.works(), note)


_REPORTS = {
    "bubblewrap": _bubblewrap_report,
    "seccomp": _seccomp_report,
    "landlock": _landlock_report,
    "gVisor": _gvisor_report,
}


def describe() -> str:
    """One line: the isolation that would be used, or why there is none."""
    try:
        isolation = choose("auto")
    except JailUnavailable as refusal:
        return refusal.message
    active = [name for name in _PARTS[isolation] if _REPORTS[name]().active]
    return f"{isolation}: {', '.join(active)}, resource limits"


def choose(isolation: str) -> Isolation:
    """The isolation to use: the one asked for, here or in the environment, or the best that is fast.

    Never none: where the one asked for does not work, the answer is a refusal.
    """
    if isolation == "auto":
        isolation = os.environ.get(CHOICE) or "auto"
    if isolation not in ("auto", *ISOLATIONS):
        raise UsageError(
            f"no isolation called {isolation!r}",
            hint=f"known: auto, {', '.join(ISOLATIONS)} (also in {CHOICE})",
        )
    if not _seccomp():
        lacking = "there are no seccomp filters" if is_linux() else f"this is {platform.system()}"
        raise JailUnavailable(
            f"learned code cannot be run safely here: {lacking}, and the jail needs a Linux kernel"
            " on x86_64 or aarch64",
            hint=CONTAINER,
        )
    if isolation == "runsc":
        return _choose_gvisor()
    if isolation in ("auto", "bwrap") and bubblewrap.works():
        return "bwrap"
    if isolation == "bwrap":
        raise JailUnavailable(
            "bubblewrap is missing or may not make namespaces here",
            hint="install the package `bubblewrap` and allow user namespaces",
        )
    if not _landlock():
        raise JailUnavailable(
            "learned code cannot be run safely here: neither bubblewrap nor Landlock works",
            hint="install the package `bubblewrap`, or use a kernel with Landlock (5.13 or newer);"
            f" or {CONTAINER}",
        )
    return "self"


def _choose_gvisor() -> Isolation:
    if gvisor.works():
        return "runsc"
    if gvisor.executable() is None:
        raise JailUnavailable(
            "gVisor was asked for, but its program `runsc` is not installed",
            hint="install the package `runsc` (see gvisor.dev), or ask for another isolation",
        )
    raise JailUnavailable(
        "gVisor was asked for, but `runsc` cannot start a sandbox here",
        hint="it needs user namespaces and ptrace: try `runsc --network=none do true`",
    )
