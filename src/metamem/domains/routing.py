"""Routing as a domain of parameters: how a router believes, explores and forgets, set once for all tasks.

A task here is a stream: tasks come one after another, the router draws an arm for each, sees what came of
that arm and of no other, and learns. What counts is the mean worth of what it drew: success less cost and
latency, at the weights that the domain is given. They are the user's, and no part of what is learned.

Streams are generated, or cut from rows of one's own in which the outcome of every arm is known. No row is
in two streams: they are what the statistics count, and must not share their luck.
"""

import itertools
import math
import random
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from metamem.core.access import Scope
from metamem.core.errors import DataError, UsageError
from metamem.core.ids import content_id, derive_seed
from metamem.core.protocols import Trial
from metamem.core.types import SPLITS, Scored, Task
from metamem.domains.base import ParamsBase, Sizes
from metamem.routing import SPACE, Context, Outcome, Router, Settings
from metamem.routing.reading import ROW, Row, read_rows

GENERATED = "generated"
PARTS = {"train": 0.25, "valid": 0.45, "test": 0.15, "shift": 0.15}  # of rows, in order of time
LEAST = Sizes(16, 30, 8, 8)  # streams below which a split of rows says nothing
MOST = 1.0  # a success that cost nothing
ARMS: Mapping[str, tuple[float, float, float]] = {  # success, cost and seconds on average
    "quick": (0.5, 0.1, 5.0),
    "careful": (0.6, 0.5, 30.0),
    "expert": (0.65, 1.5, 60.0),
}
MOST_SPENT = 1.85  # times the average cost and seconds
_KINDS = (
    "translate the letter",
    "repair the failing test",
    "summarise the report",
    "book a table",
    "plan the journey",
    "check the invoice",
)
_AROUND = ("please", "today", "again", "soon", "our", "customer", "with", "care", "before", "noon")


class RoutingDomain(ParamsBase):
    name = "routing"
    reward_range = (-0.5, MOST)  # at the usual weights
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
        data: str = GENERATED,
        rounds: int = 30,
        cost_weight: float = Settings().cost_weight,
        latency_weight: float = Settings().latency_weight,
        effect: float = 1.0,
        shuffled: bool = False,
        train: int = 48,
        valid: int = 300,
        test: int = 100,
        shift: int = 100,
        scope: str = "",
        seed: int = 0,
    ) -> None:
        """`data` is `generated` or a JSONL file; `rounds` is how many tasks a stream has, and `train` to
        `shift` are how many streams a split has at most. `cost_weight` and `latency_weight` are what a
        unit of cost and a second are worth, as parts of a success. `effect` says how much arms differ in
        generated streams: at 0 all are worth the same. `shuffled` deals the outcomes of each task among
        the arms by chance, so that nothing is left to learn. What is learned is for all routers, or for
        those of a `scope`."""
        if rounds < 2:
            raise UsageError(f"a stream needs two tasks or more, not {rounds}")
        if not 0.0 <= effect <= 1.0:
            raise UsageError(f"the effect lies from 0 to 1, not at {effect}")
        self._weights = Settings(cost_weight=cost_weight, latency_weight=latency_weight)
        self._rounds, self._effect = rounds, effect
        self._shuffled, self._seed = shuffled, seed
        self._sizes = Sizes(train, valid, test, shift)
        self.origin = str(Scope.parse(scope)) if scope else ""
        self._streams: Mapping[str, Sequence[Sequence[Row]]] | None = None
        told: list[Any] = []
        if data != GENERATED:
            rows = _rows(data)
            self._streams = cut(rows, rounds, self._sizes)
            told = [
                [r.context.task, r.context.seen, dict(r.context.tags), repr(r.outcomes)]
                for r in rows
            ]
        self.reward_range = (0.0 - self._most_taken(), MOST)
        self._stream = lru_cache(maxsize=512)(self._made)
        self.version = content_id(
            "routing", 2, told, rounds, cost_weight, latency_weight, effect, shuffled,
            self._sizes.as_list(), seed,
        )[:12]  # fmt: skip

    def describe(self) -> str:
        s = self._weights
        streams = f"streams of {self._rounds} tasks each"
        if self._streams is None:
            data = f"Data: generated {streams}; in shift the arms change places halfway."
        else:
            counts = ", ".join(f"{len(self._streams[split])} in {split}" for split in SPLITS)
            data = f"Data: rows of one's own in the order of time, as {streams} ({counts})."
        shuffled = " Outcomes are dealt among the arms by chance." if self._shuffled else ""
        return (
            "Set a router that gives each task of a stream to one of several arms and learns from what"
            f" came of it. What counts is the mean of success less {s.cost_weight:g} × cost and"
            f" {s.latency_weight:g} × latency. {data}{shuffled}"
        )

    def tasks(self, split: str) -> list[Task]:
        count = self._sizes.of(split) if self._streams is None else len(self._streams[split])
        goal = f"route a stream of {self._rounds} tasks"
        return [Task(f"{split}-{n:03d}", goal, "stream") for n in range(count)]

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
            "what cost and latency are worth is not learned",
        )

    async def score(self, values: Mapping[str, Any], task: Task, trial: Trial) -> Scored:
        rows, s = self._stream(task.id, trial.seed), self._weights
        router = Router(Settings.learned(values).weighing(s.cost_weight, s.latency_weight))
        worth = explored = 0.0
        for number, row in enumerate(rows):
            choice = router.choose(row.context, list(row.outcomes), derive_seed(trial.seed, number))
            outcome = row.outcomes[choice.arm]
            router.learn(row.context, choice.arm, outcome)
            worth += router.worth(outcome)
            explored += choice.explores
        least, most = self.reward_range
        reward = min(max(worth / len(rows), least), most)  # sums may miss an end by a hair
        return Scored(reward, {"explored": explored / len(rows)})

    def _made(self, task: str, seed: int) -> Sequence[Row]:
        """The rows of one stream: the same for every setting."""
        split, _, number = task.partition("-")
        luck = random.Random(derive_seed("stream", self._seed, task, seed))
        if self._streams is not None:
            rows = self._streams[split][int(number)]
        else:
            rows = generated(luck, self._rounds, self._effect, turns=split == "shift")
        return [_shuffled(row, luck) for row in rows] if self._shuffled else rows

    def _most_taken(self) -> float:
        """By cost and latency from a success, at the most."""
        if self._streams is None:
            taken = [
                Outcome(0.0, cost * MOST_SPENT, s * MOST_SPENT) for _, cost, s in ARMS.values()
            ]
        else:
            every = (row for streams in self._streams.values() for rows in streams for row in rows)
            taken = [o for row in every for o in row.outcomes.values()]
        return max(outcome.success - self._weights.worth(outcome) for outcome in taken)


def generated(luck: random.Random, rounds: int, effect: float, *, turns: bool) -> list[Row]:
    """Arms that differ from kind to kind, and in what they cost; a better one costs more, mostly.

    With `turns` the arms change places halfway: what was learned is wrong from then on.
    """
    arms = tuple(ARMS)
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
            average, cost, latency = ARMS[arm]
            lift = 0.3 if good[kind] == arm else -0.1
            chance = 0.55 + effect * (average - 0.55 + lift) + hard
            spent = min(luck.lognormvariate(0.0, 0.3), MOST_SPENT)
            outcomes[arm] = Outcome(
                float(drawn < chance),
                0.5 + effect * (cost * spent - 0.5),
                20.0 + effect * (latency * spent - 20.0),
            )
        made.append(Row(Context(f"{kind} {words}"), outcomes))
    return made


def cut(rows: Sequence[Row], rounds: int, most: Sizes) -> dict[str, list[Sequence[Row]]]:
    """Streams of rows that follow one another, by split: no row is in two of them. Where there are more
    than are asked for, they are taken from all of the split evenly."""
    streams: dict[str, list[Sequence[Row]]] = {}
    for split in SPLITS:
        own = part(rows, split)
        whole = [own[n : n + rounds] for n in range(0, len(own) - rounds + 1, rounds)]
        count = min(len(whole), most.of(split))
        streams[split] = [whole[n * len(whole) // count] for n in range(count)]
    fewest = Sizes(*(min(LEAST.of(split), most.of(split)) for split in SPLITS))
    for split in SPLITS:
        if len(streams[split]) < fewest.of(split):
            raise DataError(
                f"{len(rows)} rows make {len(streams[split])} streams of {rounds} tasks for {split},"
                f" where {fewest.of(split)} are needed: no row may be in two streams",
                hint=f"it takes {needed(rounds, fewest)} rows; with fewer, shorter streams (--setting"
                f" rounds=N), of which the shortest take {needed(2, fewest)}",
            )
    return streams


def needed(rounds: int, streams: Sizes) -> int:
    """How many rows it takes for so many streams of so many tasks."""

    def enough(count: int) -> bool:
        return all(len(part(range(count), split)) >= streams.of(split) * rounds for split in SPLITS)

    # Parts are rounded, so that one may have a row more than its share.
    least = max((streams.of(split) * rounds - 1) / PARTS[split] for split in SPLITS)
    return next(count for count in itertools.count(math.floor(least)) if enough(count))


def part(rows: Sequence[Any], split: str) -> Sequence[Any]:
    """The rows of a split: in the order in which they came, so that shift is the latest."""
    ends = np.cumsum(list(PARTS.values())) * len(rows)
    place = list(PARTS).index(split)
    return rows[round(ends[place - 1]) if place else 0 : round(ends[place])]


def _rows(data: str) -> list[Row]:
    if data.startswith("scope:"):
        raise UsageError(
            "settings are not learned from a router's own log: it says what came of the arm that was"
            " drawn, and a router of other settings would have drawn, and learned, otherwise",
            hint=f"give rows in which the outcome of every arm is known, one a line: {ROW}",
        )
    return read_rows(Path(data).expanduser())


def _shuffled(row: Row, luck: random.Random) -> Row:
    dealt = luck.sample(list(row.outcomes.values()), len(row.outcomes))
    return Row(row.context, dict(zip(row.outcomes, dealt, strict=True)))
