"""Streams of tasks with arms of which it is known how good they are."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from metamem.core.ids import derive_seed
from metamem.routing import Context, Outcome, Router, Settings
from metamem.routing.reading import Entry

KINDS = ("translate the letter", "repair the parser", "summarise the report")
AROUND = ("please", "today", "again", "soon", "for us", "with care")
ARMS = ("ann", "ben", "cid")
QUICK = Settings(dimensions=16)
Chances = Callable[[int], Mapping[str, float]]  # of success, by the kind's number


def suited(kind: int) -> dict[str, float]:
    """Each arm is good at one kind."""
    return {arm: 0.85 if n == kind else 0.4 for n, arm in enumerate(ARMS)}


def one_best(kind: int) -> dict[str, float]:
    return {arm: 0.75 if arm == "ben" else 0.45 for arm in ARMS}


def equal(kind: int) -> dict[str, float]:
    return dict.fromkeys(ARMS, 0.5)


@dataclass(frozen=True)
class Played:
    """What came of a stream."""

    routed: float  # mean chance of success of the arms that were drawn
    best_fixed: float  # of the best single arm
    late: dict[str, float]  # share of each arm in the last third
    log: tuple[Entry, ...]
    router: Router


def play(seed: int, rounds: int, chances: Chances, settings: Settings = QUICK) -> Played:
    luck = np.random.default_rng(derive_seed("stream", seed))
    router = Router(settings)
    fixed = dict.fromkeys(ARMS, 0.0)
    routed, late, log = 0.0, dict.fromkeys(ARMS, 0.0), []
    third = rounds // 3
    for number in range(rounds):
        kind = int(luck.integers(len(KINDS)))
        context = Context(f"{KINDS[kind]} {' '.join(luck.choice(AROUND, 2))}")
        known, drawn = chances(kind), luck.random()
        choice = router.choose(context, ARMS, derive_seed(seed, number))
        outcome = Outcome(float(drawn < known[choice.arm]))
        router.learn(context, choice.arm, outcome)
        log.append(Entry(context, choice.odds, choice.arm, outcome))
        routed += known[choice.arm] / rounds
        for arm in ARMS:
            fixed[arm] += known[arm] / rounds
        if number >= rounds - third:
            late[choice.arm] += 1 / third
    return Played(routed, max(fixed.values()), late, tuple(log), router)
