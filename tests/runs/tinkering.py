"""Domains and proposers of parameters that tests of whole runs need, each named by its path."""

import math
from collections.abc import Mapping
from random import Random
from typing import Any

from metamem.core.ids import derive_seed
from metamem.core.space import Bool, Float, Int, Space
from metamem.core.types import Scored, Task
from metamem.domains.base import ParamsBase
from metamem.search.parameters import Gaussian
from metamem.search.proposer import Proposal, Request


class Ridge(ParamsBase):
    """Two numbers that matter, a little luck of each set's own, and quickly played."""

    name = "ridge"
    version = "1"
    space = Space({"x": Float(0.0, 1.0, 0.1), "n": Int(0, 9, 0)})

    def tasks(self, split: str) -> list[Task]:
        return [Task(f"{split}-{n}", "climb") for n in range(32)]

    async def score(self, values: Mapping[str, Any], task: Task, trial: Any) -> Scored:
        luck = Random(derive_seed(trial.seed, dict(values))).gauss(0.0, 0.05)
        return Scored(min(max(0.4 + 0.3 * values["x"] + values["n"] / 60 + luck, 0.0), 1.0))


class Spoilt(Ridge):
    """Its score is no number for some values, as long as nobody has mended it."""

    name = "spoilt"
    mended = False

    async def score(self, values: Mapping[str, Any], task: Task, trial: Any) -> Scored:
        if values["n"] > 1 and not type(self).mended:
            return Scored(math.nan)
        return await super().score(values, task, trial)


class Barren(Ridge):
    """Has no tasks."""

    name = "barren"

    def tasks(self, split: str) -> list[Task]:
        return []


class Switch(Ridge):
    """Two points are all there is."""

    name = "switch"
    space = Space({"on": Bool(False)})

    async def score(self, values: Mapping[str, Any], task: Task, trial: Any) -> Scored:
        return Scored(0.5)


class Onesided(Gaussian):
    """Says that it has two operators, and never asks the second."""

    operators = ("gaussian", "other")


class Copies:
    """Hands in the values that it was given."""

    kind = "params"

    async def propose(self, request: Request) -> Proposal:
        given = request.parents[0].design
        return Proposal(given, (given.id,), "copies", "nothing is changed")
