"""What a design may use. JSON-able, because limits are part of every fingerprint."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from metamem.core.errors import UsageError
from metamem.sandbox.limits import CallLimits, ProcessLimits


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one memory. CPU time decides scores; wall time only catches hangs."""

    retrieve_cpu: float = 5.0  # seconds of CPU in one retrieve
    update_cpu: float = 10.0  # seconds of CPU in one update, load, fork, snapshot or restore
    total_cpu: int = 3600  # seconds of CPU in the life of one process, held by the kernel
    wall: float = 60.0  # seconds in one call, not counting the host's own work
    memory_mb: int = 1024  # private memory, the interpreter and its libraries included
    line_bytes: int = 1 << 20  # the longest single message to the host
    snapshot_bytes: int = 64 << 20
    tool_calls: int = 200  # questions to the host in one call
    model_calls: int = 20  # of those, questions to a language model
    log_bytes: int = 65_536  # of logs kept for one memory; what comes after is dropped

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not isinstance(value, int | float) or isinstance(value, bool) or value <= 0:
                raise UsageError(f"the limit {name} must be a number above zero, not {value!r}")

    @property
    def process(self) -> ProcessLimits:
        return ProcessLimits(self.memory_mb, self.total_cpu, self.log_bytes)

    @property
    def retrieve(self) -> CallLimits:
        return CallLimits(self.retrieve_cpu, self.wall, self.line_bytes, self.tool_calls)

    @property
    def update(self) -> CallLimits:
        """Of loads, forks and restores too."""
        return CallLimits(self.update_cpu, self.wall, self.line_bytes, self.tool_calls)

    @property
    def snapshot(self) -> CallLimits:
        return CallLimits(self.update_cpu, self.wall, self.snapshot_bytes, self.tool_calls)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Limits":
        return Limits(**data)
