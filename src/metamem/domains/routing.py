"""Routing as a domain of parameters: how a router weighs, believes and explores, set once for all tasks.

A task here is a stream: tasks come one after another, the router draws an arm for each, sees what came of
that arm and of no other, and learns. What counts is the mean worth of what it drew, at rates that the
domain names: they are the user's, and the router's own weights are free.

Streams are generated, or drawn from rows of one's own in which the outcome of every arm is known.
"""

import json
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from metamem.core.errors import DataError, UsageError
from metamem.core.ids import content_id, derive_seed
from metamem.core.protocols import Trial
from metamem.core.types import Scored, Task
from metamem.domains.base import ParamsBase
from metamem.routing import SPACE, Context, Outcome, Router, Settings

SIZES = {"train": 24, "valid": 40, "test": 40, "shift": 40}
PARTS = {"train": 0.4, "valid": 0.2, "test": 0.2, "shift": 0.2}  # of rows of one's own, in order
LEAST, MOST = -0.5, 1.0
_KINDS = (
    "translate the letter",
    "repair the failing test",
    "summarise the report",
    "book a table",
    "plan the journey",
    "check the invoice",
)
_AROUND = ("please", "today", "again", "soon", "our", "customer", "with", "care", "before", "noon")


@dataclass(frozen=True, slots=True)
class Row:
    """A task and what each arm would have made of it."""

    context: Context
    outcomes: Mapping[str, Outcome]


class RoutingDomain(ParamsBase):
    name = "routing"
    reward_range = (LEAST, MOST)
    space = SPACE
    suggestions: Mapping[str, Any] = {
        "designs": 40,
        "confirm": 6,
        "confirm_seeds": 1,
        "final_repeats": 1,
    }
    trial: Mapping[str, Any] = {"rounds": 10}

    def __init__(
        self,
        data: str = "generated",
        rounds: int = 120,
        cost_worth: float = 0.1,
        latency_worth: float = 0.002,
        effect: float = 1.0,
        seed: int = 0,
    ) -> None:
        """`data` is `generated` or a JSONL file; `rounds` is how many tasks a stream has at most;
        `effect` says how much arms differ: at 0 all are worth the same."""
        if rounds < 2:
            raise UsageError(f"a stream needs two tasks or more, not {rounds}")
        if not 0.0 <= effect <= 1.0:
            raise UsageError(f"the effect lies from 0 to 1, not at {effect}")
        if not all(math.isfinite(w) and w >= 0 for w in (cost_worth, latency_worth)):
            raise UsageError("what cost and latency are worth must not be negative")
        self._rows = None if data == "generated" else read_rows(Path(data).expanduser())
        self._rounds, self._effect, self._seed = rounds, effect, seed
        self._rates = Settings(cost_weight=cost_worth, latency_weight=latency_worth)
        told = [[r.context.task, dict(r.context.tags), repr(r.outcomes)] for r in self._rows or ()]
        self.version = content_id(
            "routing", 1, told, rounds, cost_worth, latency_worth, effect, seed, SIZES
        )[:12]

    def describe(self) -> str:
        data = "generated streams" if self._rows is None else f"{len(self._rows)} rows of one's own"
        return (
            "Set a router that gives each task of a stream to one of several arms and learns from what"
            f" came of it: the mean of success less cost and latency. Data: {data}; in shift the arms"
            " change places halfway."
        )

    def tasks(self, split: str) -> list[Task]:
        return [
            Task(f"{split}-{n:03d}", f"route a stream of {self._rounds} tasks", "stream")
            for n in range(SIZES[split])
        ]

    def baselines(self) -> tuple[str, ...]:
        return ("greedy", "curious")

    def preset(self, name: str) -> Mapping[str, Any]:
        presets: dict[str, dict[str, Any]] = {
            "greedy": {"boldness": 0.0},
            "curious": {"boldness": 2.0, "floor": 0.2},
        }
        if name not in presets:
            return super().preset(name)
        return self.space.completed(presets[name])

    def invariants(self) -> tuple[str, ...]:
        return (
            "a router sees the outcome of the arm that it drew, and of no other",
            "every arm is drawn with the floor's propensity at least",
        )

    async def score(self, values: Mapping[str, Any], task: Task, trial: Trial) -> Scored:
        rows = self._stream(task.id, trial.seed)
        router, rates = Router(Settings.of(values)), Router(self._rates)
        worth = explored = 0.0
        for number, row in enumerate(rows):
            choice = router.choose(row.context, list(row.outcomes), derive_seed(trial.seed, number))
            outcome = row.outcomes[choice.arm]
            router.learn(row.context, choice.arm, outcome)
            worth += rates.worth(outcome)
            explored += choice.explores
        reward = min(max(worth / len(rows), LEAST), MOST)
        return Scored(reward, {"explored": explored / len(rows)})

    def _stream(self, task: str, seed: int) -> Sequence[Row]:
        """The rows of one stream: the same for every setting."""
        split = task.partition("-")[0]
        luck = random.Random(derive_seed("stream", self._seed, task, seed))
        if self._rows is None:
            return generated(luck, self._rounds, self._effect, turns=split == "shift")
        own = part(self._rows, split)
        return luck.sample(own, min(self._rounds, len(own)))


def generated(luck: random.Random, rounds: int, effect: float, *, turns: bool) -> list[Row]:
    """Arms that differ from kind to kind, and in what they cost; a better one costs more, mostly.

    With `turns` the arms change places halfway: what was learned is wrong from then on.
    """
    arms = ("quick", "careful", "expert")
    base = {"quick": (0.5, 0.1, 5.0), "careful": (0.6, 0.5, 30.0), "expert": (0.65, 1.5, 60.0)}
    good = {kind: luck.choice(arms) for kind in _KINDS}
    weights = [luck.uniform(0.5, 1.5) for _ in _KINDS]
    made = []
    for number in range(rounds):
        if turns and number == rounds // 2:
            good = {kind: arms[(arms.index(arm) + 1) % len(arms)] for kind, arm in good.items()}
        kind = luck.choices(_KINDS, weights)[0]
        words = " ".join(luck.sample(_AROUND, 4))
        hard = luck.gauss(0.0, 0.1)
        drawn = luck.random()  # one luck for all arms: they differ by what they are
        outcomes = {}
        for arm in arms:
            average, cost, latency = base[arm]
            lift = 0.3 if good[kind] == arm else -0.1
            chance = 0.55 + effect * (average - 0.55 + lift) + hard
            spent = luck.lognormvariate(0.0, 0.3)
            outcomes[arm] = Outcome(
                float(drawn < chance),
                0.5 + effect * (cost * spent - 0.5),
                20.0 + effect * (latency * spent - 20.0),
            )
        made.append(Row(Context(f"{kind} {words}"), outcomes))
    return made


def part(rows: Sequence[Row], split: str) -> Sequence[Row]:
    """The rows of a split: in the order in which they came, so that shift is the latest."""
    ends = np.cumsum(list(PARTS.values())) * len(rows)
    place = list(PARTS).index(split)
    return rows[round(ends[place - 1]) if place else 0 : round(ends[place])]


def read_rows(path: Path) -> list[Row]:
    """Rows of a JSONL file: {"task": ..., "outcomes": {arm: {"success": ..., ...}, ...}}."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
    rows: list[Row] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{path.name}, line {number}"
        row = _row(line, where)
        if rows and row.outcomes.keys() != rows[0].outcomes.keys():
            raise DataError(f"{where} has other arms than the rows above")
        rows.append(row)
    if len(rows) < 10:
        raise DataError(
            f"{path} has {len(rows)} rows: ten at least are needed, two for each split",
            hint='a row is {"task": ..., "outcomes": {arm: {"success": 1, "cost": 0.1}, ...}}',
        )
    return rows


def _row(line: str, where: str) -> Row:
    try:
        data = json.loads(line)
        outcomes = {str(arm): Outcome(**told) for arm, told in data["outcomes"].items()}
        tags = {str(name): str(value) for name, value in data.get("tags", {}).items()}
        context = Context(str(data["task"]), str(data.get("seen", "")), tags)
    except UsageError as error:
        raise DataError(f"{where}: {error.message}") from None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise DataError(f"{where} is no row with the outcomes of all arms: {error}") from None
    if len(outcomes) < 2:
        raise DataError(f"{where} has one arm only: there is nothing to choose")
    return Row(context, outcomes)
