"""The table over all domains: designs down, domains across, and who wins where."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from metamem.core.figures import Scale
from metamem.runs.table import TableRow


@dataclass(frozen=True, slots=True)
class AtHome:
    """A domain's own learned design against the best of those learned elsewhere."""

    against: str
    gain: float
    p: float


@dataclass(frozen=True, slots=True)
class CrossDomain:
    name: str
    run: str  # whose design speaks for the domain
    learned: str  # the design's id
    promoted: bool
    complete: bool  # all that can be played was
    missing: Mapping[str, str]  # why a design has no cell, by its name
    winner: str  # the name of the best design; empty where nothing was played
    home: AtHome | None
    reward_range: tuple[float, float] = (0.0, 1.0)

    @property
    def scale(self) -> Scale:
        return Scale(*self.reward_range)

    def to_json(self) -> dict[str, Any]:
        data = asdict(self)
        if self.scale.shares:
            del data["reward_range"]
        return data


@dataclass(frozen=True, slots=True)
class CrossRow:
    """A design, and how it did in each domain in which it was played."""

    name: str
    cells: Mapping[str, TableRow]  # by domain

    def to_json(self) -> dict[str, Any]:
        cells = {
            domain: {"mean": cell.mean, "low": cell.low, "high": cell.high}
            for domain, cell in self.cells.items()
        }
        return {"name": self.name, "cells": cells}


@dataclass(frozen=True, slots=True)
class CrossTable:
    split: str
    domains: tuple[CrossDomain, ...]
    rows: tuple[CrossRow, ...]

    @property
    def complete(self) -> bool:
        return all(domain.complete for domain in self.domains)

    def to_json(self) -> dict[str, Any]:
        return {
            "split": self.split,
            "domains": [domain.to_json() for domain in self.domains],
            "rows": [row.to_json() for row in self.rows],
        }
