"""Requests to proposers of parameters, as a search would make them."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from metamem.core.ids import derive_seed
from metamem.core.space import Space, Values
from metamem.core.types import Design
from metamem.promotion import Gate
from metamem.search.proposer import OperatorOutcome, ParentView, Proposal, Request, Tried

HUMAN = "human"
Worth = Callable[[Values], float]  # what some values are worth, but for luck


def answered(proposer, request: Request) -> Proposal:
    """A coroutine that never waits, without a loop for each."""
    try:
        proposer.propose(request).send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("it waited")


def asked(
    space: Space,
    tried: list[Tried],
    seed: int = 0,
    history: tuple[OperatorOutcome, ...] = (),
) -> Request:
    """The best of what was tried is the parent, and the next two are lent."""
    ranked = sorted(tried, key=lambda each: -each.mean)
    views = [ParentView(each.design, each.mean) for each in ranked[:3]]
    return Request(parents=views, tried=tried, history=history, seed=seed, space=space)


def people(space: Space, mean: float = 0.0) -> Tried:
    return Tried(space.design(space.defaults()), mean, HUMAN, human=True)


def made(design: Design, mean: float, operator: str) -> Tried:
    return Tried(design, mean, operator)


BATCH, TASKS, NOISE = 6, 40, 0.1


@dataclass
class Ended:
    """What a small search came to."""

    tried: list[Tried]
    outcomes: list[OperatorOutcome]

    @property
    def best(self) -> Tried:
        return max((each for each in self.tried if not each.human), key=lambda each: each.mean)

    def share(self, operator: str, last: int = 0) -> float:
        asked = [outcome.operator for outcome in self.outcomes[-last:]]
        return asked.count(operator) / len(asked)


def searched(space: Space, worth: Worth, proposer: Any, seed: int, designs: int) -> Ended:
    """A search as the loop makes it, without an archive: batches that do not see one another."""

    def mean(design: Design) -> float:
        luck = Random(f"train {seed} {design.id}").gauss(0.0, NOISE / math.sqrt(TASKS / 2))
        return worth(space.read(design)) + luck

    first = space.design(space.defaults())
    ended = Ended([Tried(first, mean(first), HUMAN, human=True)], [])
    seen = {first.id}
    for begin in range(0, designs, BATCH):
        request = asked(space, list(ended.tried), 0, tuple(ended.outcomes))
        batch = [
            answered(proposer, replace(request, seed=derive_seed(seed, begin + n)))
            for n in range(BATCH)
        ]
        for proposal in batch:
            gain = ahead = None
            if proposal.design.id not in seen:
                found = mean(proposal.design)
                parents = [t.mean for t in ended.tried if t.design.id in proposal.parents[:1]]
                ahead = found - max(each.mean for each in ended.tried)
                gain = found - parents[0] if parents else ahead
                ended.tried.append(Tried(proposal.design, found, proposal.operator))
                seen.add(proposal.design.id)
            ended.outcomes.append(OperatorOutcome(proposal.operator, gain, 0.0, ahead))
    return ended


def passes(space: Space, worth: Worth, ended: Ended, seed: int) -> bool:
    """Whether the gate promotes the best, on tasks that the search never saw."""

    def rewards(design: Design) -> dict[str, float]:
        luck, true = Random(f"valid {seed} {design.id}"), worth(space.read(design))
        return {str(n): true + luck.gauss(0.0, NOISE) for n in range(TASKS)}

    people = {"defaults": rewards(ended.tried[0].design)}
    best = {ended.best.design.id: rewards(ended.best.design)}
    return Gate().decide(best, people, seed=seed).promoted is not None
