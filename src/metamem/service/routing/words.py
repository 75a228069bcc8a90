"""The words of routing as callers say and hear them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from metamem.core.errors import UsageError
from metamem.evaluation.offpolicy import Estimate
from metamem.routing.settings import USUAL

ROUTER = "default"
COST_WEIGHT, LATENCY_WEIGHT = USUAL.cost_weight, USUAL.latency_weight


@dataclass(frozen=True, slots=True)
class Contender:
    """An arm that may get a task, and what its owner believes of it before anything was seen."""

    name: str
    success: float = 0.5
    cost: float = 0.0
    latency: float = 0.0


def contenders(arms: Sequence[Contender | str]) -> tuple[Contender, ...]:
    """Arms of which nothing is believed may be named by their names alone."""
    if isinstance(arms, str) or not all(isinstance(arm, Contender | str) for arm in arms):
        raise UsageError(
            f"arms are a list of names, or of Contender(name, success, cost, latency), not {arms!r}"
        )
    return tuple(Contender(arm) if isinstance(arm, str) else arm for arm in arms)


@dataclass(frozen=True, slots=True)
class Believed:
    """What the router expected of an arm on a task, and how likely it was to draw it."""

    arm: str
    propensity: float
    worth: float
    spread: float
    success: float
    cost: float
    latency: float
    seen: int


@dataclass(frozen=True, slots=True)
class Routed:
    """Who gets a task. Whoever tells what came of it names the decision."""

    decision: str
    arm: str
    propensity: float
    why: str
    arms: tuple[Believed, ...]  # all that were allowed


@dataclass(frozen=True, slots=True)
class RouteTold:
    """That an outcome is in the log for good."""

    decision: str
    arm: str
    new: bool  # False: just that was told before


@dataclass(frozen=True, slots=True)
class RouteWhy:
    """A decision as it was made, and what came of it so far."""

    decision: str
    scope: str
    router: str
    number: int  # among its router's
    made_at: int
    task: str
    arm: str
    propensity: float
    why: str
    arms: tuple[Believed, ...]
    settings: Mapping[str, float]
    rewarded: bool = False
    success: float | None = None  # none: what came of it is not known
    cost: float | None = None
    latency: float | None = None


@dataclass(frozen=True, slots=True)
class RoutedArm:
    """How an arm fares."""

    arm: str
    drawn: int
    outcomes: int
    success: float | None  # mean, over tasks that it was given: they were not dealt evenly


@dataclass(frozen=True, slots=True)
class RoutingStanding:
    """How a router of a scope stands."""

    scope: str
    router: str
    routers: tuple[str, ...]  # all of the scope
    decisions: int
    outcomes: int
    arms: tuple[RoutedArm, ...]  # with those that were lately allowed and never drawn
    settings: Mapping[str, float]  # cost and latency weigh as at the newest decision
    settings_from: str  # `defaults`, or the place of the ledger that has them in use
    warning: str = ""
    watch: str = ""  # how far it is, where these settings are watched


@dataclass(frozen=True, slots=True)
class PolicyValue:
    """What a policy would have been worth on the later part of the log."""

    policy: str
    ips: Estimate
    snips: Estimate
    robust: Estimate


@dataclass(frozen=True, slots=True)
class RoutingJudged:
    """Whether what a router learned is better than one arm for all tasks, by its own log."""

    scope: str
    router: str
    cost_weight: float  # of a success, for each unit of cost
    latency_weight: float  # of a success, for each second
    learned_from: int
    judged_by: int
    policies: tuple[PolicyValue, ...]
    rival: str
    gain: Estimate | None
    lower_bound: float | None
    better: bool
    reason: str
    notes: tuple[str, ...] = field(default=())
