"""Which layers can hold untrusted code on this machine, and the refusal where none can."""

import platform
from dataclasses import dataclass
from typing import Literal

from metamem.core.errors import JailUnavailable, UsageError
from metamem.sandbox import bubblewrap, landlock, seccomp, syscalls

Layer = Literal["bwrap", "self"]
LAYERS: tuple[Layer, ...] = ("bwrap", "self")


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
    version = _landlock()
    return [
        LayerReport(
            "bubblewrap",
            bubblewrap.works(),
            "own namespaces and an empty file system"
            if bubblewrap.works()
            else "not installed, or user namespaces are switched off"
            if bubblewrap.executable() is None
            else "installed, but it may not make namespaces here",
        ),
        LayerReport(
            "seccomp",
            _seccomp(),
            "system calls by allow-list"
            if _seccomp()
            else f"no filters in this kernel, or an unknown machine ({platform.machine()})",
        ),
        LayerReport(
            "landlock",
            version > 0,
            f"version {version}: files by allow-list" if version else "not in this kernel",
        ),
    ]


def describe() -> str:
    """One line: the layer that would be used, or why there is none."""
    try:
        layer = choose("auto")
    except JailUnavailable as refusal:
        return refusal.message
    active = [report.name for report in layers() if report.active]
    return f"{layer}: {', '.join(active)}, resource limits"


def choose(layer: str) -> Layer:
    """The layer to use: the one asked for, or the strongest there is. Never none."""
    if layer not in ("auto", *LAYERS):
        raise UsageError(
            f"no jail layer called {layer!r}", hint=f"known: auto, {', '.join(LAYERS)}"
        )
    if not _seccomp():
        raise JailUnavailable(
            "learned code cannot be run safely here: there are no seccomp filters",
            hint="use Linux on x86_64 or aarch64 with CONFIG_SECCOMP_FILTER",
        )
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
