"""How designs are served, and what went wrong with them."""

import time
from collections import Counter, deque
from dataclasses import asdict, dataclass
from typing import Any

from metamem.core.errors import StoreError

MOST_REPORTS = 200


@dataclass(frozen=True, slots=True)
class Serving:
    """How designs are served."""

    advice_tokens: int = 1500
    most_open: int = 16  # memories at once, over all scopes
    idle_seconds: float = 600.0  # after which a memory is closed; it is opened again on demand
    patience: float = 10.0  # seconds that a call waits for a memory to be opened, or to learn
    look_every: float = 2.0  # seconds for which a look at the ledger counts
    # After which what failed is tried again: a design that could not be opened, a model that did not
    # answer.
    retry_seconds: float = 60.0
    answer_seconds: float = 60.0  # that a retrieval waits for a model's answer
    isolation: str = "auto"  # of the jail
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """Something that went wrong with a design. Nobody's words are in it."""

    at: float  # seconds since 1970
    scope: str
    design: str
    what: str


class Reports:
    """What served designs did, in numbers, and what went wrong."""

    def __init__(self) -> None:
        self.latest: deque[Report] = deque(maxlen=MOST_REPORTS)
        self.counted: Counter[str] = Counter()

    def add(self, scope: str, design: str, error: BaseException) -> str:
        """For operators what happened; for callers, returned, that it did. The design's own words
        are left out of both: they may quote what it was told."""
        what = getattr(error, "kind", "") or type(error).__name__
        if isinstance(error, StoreError):
            what = error.message
        self.counted["failed"] += 1
        self.latest.append(Report(time.time(), scope, design, what))
        return f"memory failed: {what}"

    def status(self) -> dict[str, Any]:
        return {
            "counts": dict(self.counted),
            "reports": [asdict(report) for report in self.latest],
        }


USUAL = Serving()
