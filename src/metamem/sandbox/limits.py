"""What a guest of the jail may use: in its whole life, and in one call."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """Limits of one process, from its start to its end."""

    memory_mb: int = 1024  # private memory, the interpreter and its libraries included
    total_cpu: int = 3600  # seconds of CPU, held by the kernel
    log_bytes: int = 65_536  # of logs kept; what comes after is dropped


@dataclass(frozen=True, slots=True)
class CallLimits:
    """Limits of one call. CPU time is the guest's alone; wall time only catches hangs."""

    cpu: float  # seconds
    wall: float = 60.0  # seconds, not counting the host's own work
    line_bytes: int = 1 << 20  # the longest single message to the host
    questions: int = 200  # to the host
