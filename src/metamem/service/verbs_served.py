"""Designs that serve scopes, as requests: asking them, telling them, and comparing them live."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from metamem.core.access import Scope
from metamem.core.types import Experience, Query, Step
from metamem.service.designs.words import Advised, Against, Experienced, Standing, Trial
from metamem.service.operation import Call, Operation
from metamem.service.verbs_scopes import OneScope

_COMPARISON = "/v1/scopes/{tenant}/{kind}/{name}/comparison"


@dataclass(frozen=True, slots=True)
class Advise:
    scope: str
    goal: str
    observation: str = ""
    actions: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    session: str = ""


@dataclass(frozen=True, slots=True)
class Tell:
    scope: str
    experience: Experience
    moment: str = ""
    useful: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Compare(OneScope):
    design: str
    share: float = 0.5
    against: Against = "nothing"


@dataclass(frozen=True, slots=True)
class Ended:
    """Whether a comparison was running."""

    ended: bool


ADVISE = Operation(
    "advise",
    "POST",
    "/v1/advice",
    Advise,
    Advised,
    "What the design that serves a scope advises; it may be nothing. Give `fenced` to the agent, and"
    " name `moment` when you tell what came of it.",
    lambda service, given: service.advise(
        given.scope,
        Query(given.goal, given.observation, given.actions, given.steps),
        session=given.session,
    ),
    writes=True,
    waits=True,
)
EXPERIENCE = Operation(
    "experience",
    "POST",
    "/v1/experiences",
    Tell,
    Experienced,
    "What an agent lived through, kept for good: the design that serves the scope learns from it."
    " `moment` names the advice that it came of, `useful` the facts that were of use.",
    lambda service, given: service.experience(
        given.scope, given.experience, moment=given.moment, useful=given.useful
    ),
    writes=True,
    waits=True,
)
STANDING = Operation(
    "standing",
    "GET",
    _COMPARISON,
    OneScope,
    Standing,
    "How the live comparison of a scope stands, and how much came back of what was asked there.",
    lambda service, given: service.standing(given.scope),
    waits=True,
)
COMPARE = Operation(
    "compare",
    "POST",
    _COMPARISON,
    Compare,
    Trial,
    "Begin a live comparison: a share of the sessions is held back from a design that is in use, or"
    " waits to be.",
    lambda service, given: service.compare(
        given.scope, given.design, share=given.share, against=given.against
    ),
    writes=True,
    waits=True,
)
END_COMPARISON = Operation(
    "end_comparison",
    "DELETE",
    _COMPARISON,
    OneScope,
    Ended,
    "End a live comparison: from now on nobody is held back.",
    lambda service, given: Ended(service.end_comparison(given.scope)),
    writes=True,
    waits=True,
)

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    ADVISE,
    EXPERIENCE,
    STANDING,
    COMPARE,
    END_COMPARISON,
)


def advise(scope: str, query: Query, *, session: str = "") -> Call[Advised]:
    asked = Advise(scope, query.goal, query.observation, query.actions, query.steps, session)
    return ADVISE(asked)


def experience(
    scope: str, lived: Experience, *, moment: str = "", useful: Sequence[str] = ()
) -> Call[Experienced]:
    return EXPERIENCE(Tell(scope, lived, moment, tuple(useful)))


def standing(scope: str) -> Call[Standing]:
    return STANDING(_one(scope))


def compare(
    scope: str, design: str, *, share: float = 0.5, against: Against = "nothing"
) -> Call[Trial]:
    one = _one(scope)
    return COMPARE(Compare(one.tenant, one.kind, one.name, design, share, against))


def end_comparison(scope: str) -> Call[Ended]:
    return END_COMPARISON(_one(scope))


def _one(scope: str) -> OneScope:
    parsed = Scope.parse(scope)
    return OneScope(parsed.tenant, parsed.kind, parsed.name)
