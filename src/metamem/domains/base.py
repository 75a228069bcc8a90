"""What most domains have in common, so that a new one says only what is its own."""

from collections.abc import Mapping, Sequence
from typing import Any

from metamem.core.types import Experience, Kind


class DomainBase:
    """Defaults for the less used parts of the domain contract."""

    kind: Kind = "code"
    agent = "reader"
    suggestions: Mapping[str, Any] = {}

    def history(self, group: str) -> Sequence[Experience]:
        return ()

    def baselines(self) -> tuple[str, ...]:
        return ("no_memory", "trajectory_retrieval", "success_retrieval", "action_statistics")

    def invariants(self) -> tuple[str, ...]:
        return ()
