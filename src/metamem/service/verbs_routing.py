"""Routing as requests: who gets a task, what came of it, why, and whether it is worth it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from metamem.core.access import Scope
from metamem.routing.words import Outcome
from metamem.service.operation import Call, Operation
from metamem.service.routing.routing import NO_TAGS
from metamem.service.routing.words import (
    COST_WEIGHT,
    LATENCY_WEIGHT,
    ROUTER,
    Contender,
    Routed,
    RouteTold,
    RouteWhy,
    RoutingJudged,
    RoutingStanding,
    contenders,
)
from metamem.service.verbs_scopes import OneScope

_ROUTING = "/v1/scopes/{tenant}/{kind}/{name}/routing"


@dataclass(frozen=True, slots=True)
class Route:
    scope: str
    task: str
    arms: tuple[Contender, ...]
    seen: str = ""
    tags: Mapping[str, Any] = field(default_factory=dict)
    router: str = ROUTER
    cost_weight: float = COST_WEIGHT  # of a success, for each unit of cost
    latency_weight: float = LATENCY_WEIGHT  # of a success, for each second


@dataclass(frozen=True, slots=True)
class Reward:
    decision: str
    success: float
    cost: float = 0.0
    latency: float = 0.0


@dataclass(frozen=True, slots=True)
class OneDecision:
    decision: str


@dataclass(frozen=True, slots=True)
class OneRouter(OneScope):
    router: str = ROUTER


@dataclass(frozen=True, slots=True)
class JudgedRouter(OneRouter):
    cost_weight: float | None = None  # none: as at its newest decision
    latency_weight: float | None = None


ROUTE = Operation(
    "route",
    "POST",
    "/v1/routes",
    Route,
    Routed,
    "Who gets a task, of the arms that are allowed: drawn by how likely each is the best, and kept with"
    " the propensity of every one. Name `decision` when you tell what came of it. `cost_weight` and"
    " `latency_weight` are what a unit of cost and a second take off a success.",
    lambda service, given: service.route(
        given.scope,
        given.task,
        given.arms,
        seen=given.seen,
        tags=given.tags,
        router=given.router,
        cost_weight=given.cost_weight,
        latency_weight=given.latency_weight,
    ),
    writes=True,
)
REWARD = Operation(
    "reward",
    "POST",
    "/v1/routes/{decision}/reward",
    Reward,
    RouteTold,
    "Tell what came of a decision: success from 0 to 1, what it cost, how many seconds it took. The"
    " first word counts.",
    lambda service, given: service.reward(
        given.decision, Outcome(given.success, given.cost, given.latency)
    ),
    writes=True,
)
WHY_ROUTE = Operation(
    "why_route",
    "GET",
    "/v1/routes/{decision}",
    OneDecision,
    RouteWhy,
    "Why a task went where it went: what was expected of every arm, and what came of it.",
    lambda service, given: service.why_route(given.decision),
)
ROUTING = Operation(
    "routing",
    "GET",
    _ROUTING,
    OneRouter,
    RoutingStanding,
    "How a scope's router stands: decisions and outcomes by arm, and a warning where nothing comes back.",
    lambda service, given: service.routing(given.scope, given.router),
)
JUDGE_ROUTING = Operation(
    "judge_routing",
    "GET",
    f"{_ROUTING}/judged",
    JudgedRouter,
    RoutingJudged,
    "Whether what the router learned is better than one arm for all tasks: off-policy, by its own log.",
    lambda service, given: service.judge_routing(
        given.scope,
        given.router,
        cost_weight=given.cost_weight,
        latency_weight=given.latency_weight,
    ),
    waits=True,
)

OPERATIONS: tuple[Operation[Any, Any], ...] = (ROUTE, REWARD, WHY_ROUTE, ROUTING, JUDGE_ROUTING)


def route(
    scope: str,
    task: str,
    arms: Sequence[Contender | str],
    *,
    seen: str = "",
    tags: Mapping[str, str] = NO_TAGS,
    router: str = ROUTER,
    cost_weight: float = COST_WEIGHT,
    latency_weight: float = LATENCY_WEIGHT,
) -> Call[Routed]:
    given = contenders(arms)
    return ROUTE(Route(scope, task, given, seen, dict(tags), router, cost_weight, latency_weight))


def reward(decision: str, outcome: Outcome) -> Call[RouteTold]:
    return REWARD(Reward(decision, outcome.success, outcome.cost, outcome.latency))


def why_route(decision: str) -> Call[RouteWhy]:
    return WHY_ROUTE(OneDecision(decision))


def routing(scope: str, router: str = ROUTER) -> Call[RoutingStanding]:
    return ROUTING(_one(scope, router))


def judge_routing(
    scope: str,
    router: str = ROUTER,
    *,
    cost_weight: float | None = None,
    latency_weight: float | None = None,
) -> Call[RoutingJudged]:
    one = Scope.parse(scope)
    return JUDGE_ROUTING(
        JudgedRouter(one.tenant, one.kind, one.name, router, cost_weight, latency_weight)
    )


def _one(scope: str, router: str) -> OneRouter:
    parsed = Scope.parse(scope)
    return OneRouter(parsed.tenant, parsed.kind, parsed.name, router)
