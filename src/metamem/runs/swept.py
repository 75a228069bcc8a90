"""What sweeps found: the same designs with growing memory, and with several agents."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from metamem.core.figures import Scale
from metamem.evaluation.rules import Rules
from metamem.runs.table import TableRow

TOLD = ("evaluation", "mean", "low", "high", "tokens", "failures", "comparison")


def _cell(row: TableRow) -> dict[str, Any]:
    """The design is told once for all cells of a line."""
    return {name: value for name, value in row.to_json().items() if name in TOLD}


def _range(scale: Scale) -> dict[str, Any]:
    """Told where rewards are no shares."""
    return {} if scale.shares else {"reward_range": [scale.low, scale.high]}


@dataclass(frozen=True, slots=True)
class CurveLine:
    """A design; comparisons are with its own smallest memory."""

    name: str
    design: str
    points: Mapping[int, TableRow]  # by the size of memory

    def to_json(self) -> dict[str, Any]:
        points = [{"size": size, **_cell(row)} for size, row in self.points.items()]
        return {"name": self.name, "design": self.design, "points": points}


@dataclass(frozen=True, slots=True)
class Curve:
    domain: str
    split: str
    agent: str
    tasks: int
    rules: Rules  # of all sizes, save how much is collected
    sizes: tuple[int, ...]
    rows: tuple[CurveLine, ...]
    reward_range: tuple[float, float] = (0.0, 1.0)

    @property
    def scale(self) -> Scale:
        """How its rewards are shown."""
        return Scale(*self.reward_range)

    def to_json(self) -> dict[str, Any]:
        return {
            "domain": self.domain,
            "split": self.split,
            "agent": self.agent,
            "tasks": self.tasks,
            "rules": {n: v for n, v in asdict(self.rules).items() if n != "collect"},
            "sizes": list(self.sizes),
            "rows": [row.to_json() for row in self.rows],
            **_range(self.scale),
        }


@dataclass(frozen=True, slots=True)
class TransferLine:
    """A design; comparisons are with no memory and the same agent."""

    name: str
    design: str
    cells: Mapping[str, TableRow]  # by agent

    def to_json(self) -> dict[str, Any]:
        cells = {agent: _cell(row) for agent, row in self.cells.items()}
        return {"name": self.name, "design": self.design, "cells": cells}


@dataclass(frozen=True, slots=True)
class Transfer:
    domain: str
    split: str
    agents: tuple[str, ...]
    against: str
    tasks: int
    rules: Rules
    rows: tuple[TransferLine, ...]
    reward_range: tuple[float, float] = (0.0, 1.0)

    @property
    def scale(self) -> Scale:
        """How its rewards are shown."""
        return Scale(*self.reward_range)

    def to_json(self) -> dict[str, Any]:
        return {
            "domain": self.domain,
            "split": self.split,
            "agents": list(self.agents),
            "against": self.against,
            "tasks": self.tasks,
            "rules": asdict(self.rules),
            "rows": [row.to_json() for row in self.rows],
            **_range(self.scale),
        }
