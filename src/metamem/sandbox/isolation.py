"""Which layers can hold untrusted code on this machine, and the refusal where none can."""

import os
import platform
from dataclasses import dataclass
from typing import Literal

from metamem.core.errors import JailUnavailable, UsageError
from metamem.sandbox import bubblewrap, gvisor, landlock, seccomp, syscalls

Layer = Literal["bwrap", "self", "runsc"]
LAYERS: tuple[Layer, ...] = ("bwrap", "self", "runsc")
CHOICE = "METAMEM_JAIL"  # the environment variable that says what "auto" means

# What holds a memory in each layer, by the names of the reports.
_PARTS = {
    "bwrap": ("bubblewrap", "seccomp", "landlock"),
    "self": ("seccomp", "landlock"),
    "runsc": ("gVisor", "seccomp"),
}


@dataclass(frozen=True, slots=True)
class LayerReport:
    """One layer, whether it is active here, and what that means."""

    name: str
    active: bool
    note: str


def _seccomp() -> bool:
    return syscalls.machine_known() and seccomp.available()


def _landlock() -> int:
    return landlock.abi() if syscalls.machine_known() else 0


def layers() -> list[LayerReport]:
    """What there is here, for people."""
    return [_REPORTS[name]() for name in _REPORTS]


def _bubblewrap_report() -> LayerReport:
    if bubblewrap.works():
        note = "own namespaces and an empty file system"
    elif bubblewrap.executable() is None:
        note = "not installed, or user namespaces are switched off"
    else:
        note = "installed, but it may not make namespaces here"
    return LayerReport("bubblewrap", bubblewrap.works(), note)


def _seccomp_report() -> LayerReport:
    note = (
        "system calls by allow-list"
        if _seccomp()
        else f"no filters in this kernel, or an unknown machine ({platform.machine()})"
    )
    return LayerReport("seccomp", _seccomp(), note)


def _landlock_report() -> LayerReport:
    version = _landlock()
    note = f"version {version}: files by allow-list" if version else "not in this kernel"
    return LayerReport("landlock", version > 0, note)


def _gvisor_report() -> LayerReport:
    if gvisor.works():
        note = f"a kernel of its own for each memory, slow to start; by {CHOICE}=runsc only"
    elif gvisor.executable() is None:
        note = "optional: runsc is not installed"
    else:
        note = "optional: runsc is installed, but cannot start a sandbox here"
    return LayerReport("gVisor", gvisor.works(), note)


_REPORTS = {
    "bubblewrap": _bubblewrap_report,
    "seccomp": _seccomp_report,
    "landlock": _landlock_report,
    "gVisor": _gvisor_report,
}


def describe() -> str:
    """One line: the layer that would be used, or why there is none."""
    try:
        layer = choose("auto")
    except JailUnavailable as refusal:
        return refusal.message
    active = [name for name in _PARTS[layer] if _REPORTS[name]().active]
    return f"{layer}: {', '.join(active)}, resource limits"


def choose(layer: str) -> Layer:
    """The layer to use: the one asked for, here or in the environment, or the best that is fast.

    Never none: where the one asked for does not work, the answer is a refusal.
    """
    if layer == "auto":
        layer = os.environ.get(CHOICE) or "auto"
    if layer not in ("auto", *LAYERS):
        raise UsageError(
            f"no jail layer called {layer!r}",
            hint=f"known: auto, {', '.join(LAYERS)} (also in {CHOICE})",
        )
    if not _seccomp():
        raise JailUnavailable(
            "learned code cannot be run safely here: there are no seccomp filters",
            hint="use Linux on x86_64 or aarch64 with CONFIG_SECCOMP_FILTER",
        )
    if layer == "runsc":
        return _choose_gvisor()
    if layer in ("auto", "bwrap") and bubblewrap.works():
        return "bwrap"
    if layer == "bwrap":
        raise JailUnavailable(
            "bubblewrap is missing or may not make namespaces here",
            hint="install the package `bubblewrap` and allow user namespaces",
        )
    if not _landlock():
        raise JailUnavailable(
            "learned code cannot be run safely here: neither bubblewrap nor Landlock works",
            hint="install the package `bubblewrap`, or use a kernel with Landlock (5.13 or newer)",
        )
    return "self"


def _choose_gvisor() -> Layer:
    if gvisor.works():
        return "runsc"
    if gvisor.executable() is None:
        raise JailUnavailable(
            "gVisor was asked for, but its program `runsc` is not installed",
            hint="install the package `runsc` (see gvisor.dev), or ask for another layer",
        )
    raise JailUnavailable(
        "gVisor was asked for, but `runsc` cannot start a sandbox here",
        hint="it needs user namespaces and ptrace: try `runsc --network=none do true`",
    )
