"""What is kept of a run: how long it worked and, once it is finished, what came of it.

It is stored as JSON with a version. A new field with a default needs no new version: summaries of
older runs lack it, and older programs leave it out. One whose meaning changes does.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from metamem.core.calls import Spending
from metamem.core.errors import DataError
from metamem.core.figures import Scale
from metamem.core.stored import restored
from metamem.core.types import SPLITS
from metamem.promotion.gate import Decision
from metamem.runs.explanation import Explanation
from metamem.runs.rounds import Round
from metamem.runs.table import LEARNED, TableRow

VERSION = 1  # 0: before there were versions; it is read in the same way


@dataclass(frozen=True, slots=True)
class SearchCounts:
    """What came of the proposals of an arm."""

    proposed: int
    accepted: int  # new, and evaluated
    duplicate: int
    rejected: int
    improved: int  # did better than their parent
    warnings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "warnings": list(self.warnings)}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "SearchCounts":
        return restored(SearchCounts, data, warnings=tuple(data.get("warnings", ())))


@dataclass(frozen=True, slots=True)
class Summary:
    """A run that has not finished has seconds, perhaps an error, and nothing else."""

    seconds: float = 0.0  # worked on by all processes together
    error: str = ""  # why it stopped or failed
    learned: str | None = None  # the id of the best candidate
    promoted: bool = False
    decision: Decision | None = None  # None: not finished
    control: str | None = None  # the id of the best design of the blind search
    search: SearchCounts | None = None
    explanation: Explanation | None = None
    tables: Mapping[str, tuple[TableRow, ...]] = field(default_factory=dict)  # by split
    models: tuple[Spending, ...] = ()  # by role and model
    reward_range: tuple[float, float] = (0.0, 1.0)
    reward_name: str = ""  # what stands over them, where the domain says it
    rounds: tuple[Round, ...] = ()  # none where all was collected in one

    @property
    def scale(self) -> Scale:
        """How its rewards are shown."""
        return Scale(*self.reward_range, self.reward_name)

    def row(self, split: str, name: str = LEARNED) -> TableRow | None:
        return next((row for row in self.tables.get(split, ()) if row.name == name), None)

    def by_luck(self, split: str) -> TableRow | None:
        """The row of the blind search, whatever it is called."""
        rows = self.tables.get(split, ())
        others = (r for r in rows if not r.human and r.name != LEARNED and not r.lacks)
        return next((row for row in others if row.design == self.control), None)

    def to_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "learned": self.learned,
            "promoted": self.promoted,
            "decision": self.decision.to_json() if self.decision else None,
            "control": self.control,
            "search": self.search.to_json() if self.search else None,
            "explanation": self.explanation.to_json() if self.explanation else None,
            "tables": {split: [r.to_json() for r in rows] for split, rows in self.tables.items()},
            "models": [spent.to_json() for spent in self.models],
        }
        if self.rounds:
            found["rounds"] = [each.to_json() for each in self.rounds]
        if not self.scale.shares:
            found["reward_range"] = list(self.reward_range)
        if self.reward_name:
            found["reward_name"] = self.reward_name
        if self.decision is None:  # nothing is said of what there is not yet
            found = {name: value for name, value in found.items() if value}
        error = {"error": self.error} if self.error else {}
        return {"version": VERSION, "seconds": self.seconds, **error, **found}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Summary":
        """Of any version, also of a run that stopped, failed, or is under way."""
        version = data.get("version", 0)
        if version > VERSION:
            raise DataError(
                f"the summary of a run has version {version}; this metamem knows {VERSION}",
                hint="upgrade metamem",
            )
        decision, search = data.get("decision"), data.get("search")
        explanation, tables = data.get("explanation"), data.get("tables", {})
        return restored(
            Summary,
            data,
            decision=Decision.from_json(decision) if decision else None,
            search=SearchCounts.from_json(search) if search else None,
            explanation=Explanation.from_json(explanation) if explanation else None,
            tables={
                split: tuple(TableRow.from_json(row) for row in tables[split])
                for split in SPLITS  # test before shift, however the archive keeps them
                if split in tables
            },
            models=tuple(Spending.from_json(spent) for spent in data.get("models", ())),
            reward_range=tuple(data.get("reward_range", (0.0, 1.0))),
            rounds=tuple(Round.from_json(each) for each in data.get("rounds", ())),
        )
