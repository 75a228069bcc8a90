"""The log of routing: decisions with the odds of all arms, and outcomes that join them later.

Every function runs inside a block of a database. A router's state is a cache of its log: whoever has read
all of it comes to the same beliefs, in whatever process and order (a router may still answer from those
of a few outcomes before).
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from metamem.core.errors import DataError, UnknownName, UsageError
from metamem.core.ids import canonical_json
from metamem.routing.choosing import Speaking
from metamem.routing.settings import Settings
from metamem.routing.words import Arm, Belief, Choice, Context, Outcome
from metamem.store.engine import Execute, Value
from metamem.store.sql.base import insert, insert_new

LATELY = 200  # decisions whose allowed arms are looked up
_DECISION = (
    "id, scope, router, number, at, who, context, beliefs, speaks, settings, arm, propensity,"
    " watched, held_back"
)


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision as it stands in the log, with its outcome where that is known."""

    id: str
    scope: int
    router: str
    number: int
    at: int
    who: str
    context: Context
    choice: Choice
    speaks: Mapping[str, Speaking]
    settings: Settings
    outcome: Outcome | None = None
    watched: str = ""  # the change of settings that was watched then
    held_back: bool = False  # from that change: the settings are those before it


@dataclass(frozen=True, slots=True)
class Arrived:
    """An outcome that came, with the decision that it belongs to."""

    seq: int
    number: int
    context: Context
    odds: Mapping[str, float]
    arm: str
    outcome: Outcome
    priors: Mapping[str, Arm]  # what was said of each arm that was allowed


def enter(execute: Execute, made: Decision) -> Decision:
    """Enter a decision as its router's next; with its number."""
    ((number,),) = execute(
        "SELECT COALESCE(MAX(number), 0) + 1 FROM route_decisions WHERE scope = ? AND router = ?",
        (made.scope, made.router),
    )
    row: dict[str, Value] = {
        "id": made.id,
        "scope": made.scope,
        "router": made.router,
        "number": number,
        "at": made.at,
        "who": made.who,
        "context": canonical_json(asdict(made.context)),
        "beliefs": canonical_json([asdict(belief) for belief in made.choice.beliefs]),
        "speaks": canonical_json({arm: list(said) for arm, said in made.speaks.items()}),
        "settings": canonical_json(made.settings.to_json()),
        "arm": made.choice.arm,
        "propensity": made.choice.propensity,
        "watched": made.watched,
        "held_back": int(made.held_back),
    }
    insert(execute, "route_decisions", row)
    return decision(execute, made.id)


def tell(execute: Execute, made: Decision, outcome: Outcome, *, at: int, who: str) -> bool:
    """Enter what came of a decision; False where just that was told before. Another outcome of the same
    decision is refused: what was learned from cannot be taken back."""
    row: dict[str, Value] = {
        "decision": made.id,
        "scope": made.scope,
        "router": made.router,
        "at": at,
        "who": who,
        "success": outcome.success,
        "cost": outcome.cost,
        "latency": outcome.latency,
    }
    if insert_new(execute, "route_outcomes", row):
        return True
    if decision(execute, made.id).outcome != outcome:
        raise UsageError(
            f"what came of {made.id} was told before, and it was something else",
            hint="the first word counts: metamem route explain shows it",
        )
    return False


def decision(execute: Execute, identifier: str) -> Decision:
    found = execute(f"SELECT {_DECISION} FROM route_decisions WHERE id = ?", (identifier,))
    if not found:
        raise UnknownName(f"there is no decision {identifier!r}", hint="a route names its own")
    came = execute(
        "SELECT success, cost, latency FROM route_outcomes WHERE decision = ?", (identifier,)
    )
    return _decision(found[0], Outcome(*came[0]) if came else None)


def arrived(execute: Execute, scope: int, router: str, after: int = 0) -> Iterator[Arrived]:
    """Outcomes of a router that came after one, in the order of their coming."""
    rows = execute(
        "SELECT o.seq, d.number, d.context, d.beliefs, d.arm, o.success, o.cost, o.latency"
        " FROM route_outcomes o JOIN route_decisions d ON d.id = o.decision"
        " WHERE o.scope = ? AND o.router = ? AND o.seq > ? ORDER BY o.seq",
        (scope, router, after),
    )
    for seq, number, context, beliefs, arm, *came in rows:
        believed = read_beliefs(beliefs)
        odds = {each.arm: each.propensity for each in believed}
        priors = {each.arm: Arm(each.arm, *each.before) for each in believed}
        yield Arrived(seq, number, _context(context), odds, arm, Outcome(*came), priors)


def counts(execute: Execute, scope: int, router: str) -> dict[str, tuple[int, int, float | None]]:
    """By arm: how often it was drawn, how many outcomes are known, and their mean success. Arms that
    were lately allowed are among them, were they drawn or not."""
    rows = execute(
        "SELECT d.arm, COUNT(*), COUNT(o.seq), AVG(o.success)"
        " FROM route_decisions d LEFT JOIN route_outcomes o ON o.decision = d.id"
        " WHERE d.scope = ? AND d.router = ? GROUP BY d.arm ORDER BY d.arm",
        (scope, router),
    )
    found = {arm: (drawn, known, success) for arm, drawn, known, success in rows}
    lately = execute(
        "SELECT beliefs FROM route_decisions WHERE scope = ? AND router = ?"
        " ORDER BY number DESC LIMIT ?",
        (scope, router, LATELY),
    )
    allowed = {each["arm"] for (beliefs,) in lately for each in json.loads(beliefs)}
    return {arm: found.get(arm, (0, 0, None)) for arm in sorted({*found, *allowed})}


def newest_settings(execute: Execute, scope: int, router: str) -> Settings | None:
    """Those of the newest decision."""
    rows = execute(
        "SELECT settings FROM route_decisions WHERE scope = ? AND router = ?"
        " ORDER BY number DESC LIMIT 1",
        (scope, router),
    )
    return Settings.of(json.loads(rows[0][0])) if rows else None


def newest_arms(execute: Execute, scope: int, router: str, most: int) -> list[str]:
    """The arms of the newest decisions at which there was a choice."""
    rows = execute(
        "SELECT arm FROM route_decisions WHERE scope = ? AND router = ? AND propensity < 1"
        " ORDER BY number DESC LIMIT ?",
        (scope, router, most),
    )
    return [arm for (arm,) in rows]


def routers(execute: Execute, scope: int) -> list[str]:
    rows = execute(
        "SELECT DISTINCT router FROM route_decisions WHERE scope = ? ORDER BY router", (scope,)
    )
    return [name for (name,) in rows]


def erase(execute: Execute, scope: int, whose: str | None = None) -> int:
    """Delete the decisions of a scope, or of one who asked there, and their outcomes; how many."""
    who = "" if whose is None else " AND who = ?"
    values: tuple[Value, ...] = (scope,) if whose is None else (scope, whose)
    execute(
        "DELETE FROM route_outcomes WHERE decision IN"
        f" (SELECT id FROM route_decisions WHERE scope = ?{who})",
        values,
    )
    return len(execute(f"DELETE FROM route_decisions WHERE scope = ?{who} RETURNING 1", values))


def _decision(row: Any, outcome: Outcome | None) -> Decision:
    (
        identifier,
        scope,
        router,
        number,
        at,
        who,
        context,
        beliefs,
        speaks,
        settings,
        arm,
        p,
        *more,
    ) = row
    watched, held_back = more
    try:
        believed = read_beliefs(beliefs)
        said = {arm: tuple((w, m) for w, m in each) for arm, each in json.loads(speaks).items()}
        used = Settings.of(json.loads(settings))
    except (TypeError, ValueError) as error:
        raise DataError(f"the decision {identifier} cannot be read: {error}") from error
    choice = Choice(arm, p, believed)
    return Decision(
        identifier,
        scope,
        router,
        number,
        at,
        who,
        _context(context),
        choice,
        said,
        used,
        outcome,
        watched,
        bool(held_back),
    )


def read_beliefs(text: str) -> tuple[Belief, ...]:
    """As they stand in the log; older decisions do not say how their arms were named."""
    found = []
    for each in json.loads(text):
        if "before" in each:
            each["before"] = tuple(each["before"])
        found.append(Belief(**each))
    return tuple(found)


def _context(text: str) -> Context:
    return Context(**json.loads(text))
