"""How much a search may try."""

from dataclasses import dataclass

from metamem.core.errors import UsageError


@dataclass(frozen=True, slots=True)
class Budget:
    """What a search may spend. Zero: no limit of that kind."""

    designs: int = 0  # proposals, whatever became of them
    seconds: float = 0.0

    def share(self, part: int, parts: int) -> "Budget":
        """What may be spent by the end of one of several equal parts."""
        return Budget(self.designs * part // parts, self.seconds * part / parts)

    def __post_init__(self) -> None:
        if self.designs < 0 or self.seconds < 0:
            raise UsageError("a budget cannot be negative")
        if not self.designs and not self.seconds:
            raise UsageError("a search needs a budget", hint="give --designs or --seconds")
