"""The jail: a fork server that makes confined processes, and the host's side of it."""

from metamem.sandbox.host import Program, Sandbox
from metamem.sandbox.layers import LayerReport, describe, layers
from metamem.sandbox.limits import Limits
from metamem.sandbox.process import Process, RefusedByHost
from metamem.sandbox.workspace import CommandResult, WorkspaceLimits, run_command

__all__ = [
    "CommandResult",
    "LayerReport",
    "Limits",
    "Process",
    "Program",
    "RefusedByHost",
    "Sandbox",
    "WorkspaceLimits",
    "describe",
    "layers",
    "run_command",
]
