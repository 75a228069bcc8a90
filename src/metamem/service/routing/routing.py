"""Who gets a task, for many callers at once: chosen, told of, explained, judged.

Every verb goes the way of all verbs: its rate is limited, rights are checked, it is done through `sight`,
and the audit says so. Choosing and telling need the right to write to the scope, since both are kept there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from metamem.core.access import Caller
from metamem.core.amounts import many
from metamem.core.errors import UnknownName, UsageError
from metamem.core.ids import derive_seed
from metamem.routing import Settings, log
from metamem.routing.choosing import checked_arms
from metamem.routing.reading import Entry
from metamem.routing.sides import sides
from metamem.routing.telling import why
from metamem.routing.words import Arm, Belief, Context, Outcome
from metamem.service.access.acting import allow
from metamem.service.access.names import same_name
from metamem.service.database import new_id, now_ms
from metamem.service.designs.clean import without_secrets
from metamem.service.routing.judging import judge
from metamem.service.routing.routers import LiveRouters
from metamem.service.routing.settings import SettingsInUse
from metamem.service.routing.watching import progress
from metamem.service.routing.words import (
    COST_WEIGHT,
    LATENCY_WEIGHT,
    ROUTER,
    Believed,
    Contender,
    PolicyValue,
    Routed,
    RoutedArm,
    RouteTold,
    RouteWhy,
    RoutingJudged,
    RoutingStanding,
    contenders,
)
from metamem.service.sight import Right, sight
from metamem.service.writing.fields import named
from metamem.store.engine import Execute

if TYPE_CHECKING:
    from metamem.service.service import MemoryService

MOST_LETTERS = 8000  # of a task that are kept
MOST_TAGS, LONGEST_TAG = 20, 200
LONGEST_NAME = 100
SILENT = 10  # decisions without a single outcome that are worth a warning
ONE_SIDED = 200  # decisions in a row for the same arm that are worth one
NO_TAGS: Mapping[str, str] = {}
HELD_BACK = (
    " It was decided with the settings before a change that is watched: chance holds back half of the"
    " tasks from it, to see whether it hurts."
)


class Routing:
    """The verbs of routing over one memory service."""

    def __init__(self, service: "MemoryService") -> None:
        self._service, self._database = service, service.database
        self._settings = SettingsInUse(service.database)
        self._routers = LiveRouters(service.database)

    def route(
        self,
        caller: Caller,
        scope: str,
        task: str,
        arms: Sequence[Contender | str],
        *,
        seen: str = "",
        tags: Mapping[str, str] = NO_TAGS,
        router: str = ROUTER,
        cost_weight: float = COST_WEIGHT,
        latency_weight: float = LATENCY_WEIGHT,
    ) -> Routed:
        """Draw an arm for a task, and keep how likely each was."""
        with self._service.acts.acting(caller, "route", [scope]) as act:
            allowed = checked_arms([_arm(each) for each in contenders(arms)])
            context = _context(task, seen, tags)
            name = _name(router)
            caller = self._service.ready(act, scope)
            number = self._number(caller, scope, "write")
            identifier, used = new_id("d"), self._settings.of(scope)
            if len(allowed) == 1:
                used = replace(used, watch="")  # nothing to choose, and so nothing to compare
            settings, held_back = used.dealt(identifier)
            settings = settings.weighing(cost_weight, latency_weight)
            live = self._routers.get(number, name, settings)
            with live.lock:
                choice = live.router.choose(context, allowed, derive_seed(identifier))
                speaks = live.router.speaking(context, allowed)
            made = log.Decision(
                identifier,
                number,
                name,
                0,
                now_ms(),
                caller.who,
                context,
                choice,
                speaks,
                settings,
                watched=used.watch,
                held_back=held_back,
            )
            with self._database.writing() as execute:
                self._database.alone(execute, f"router {number} {name}")
                # Whoever erased the scope meanwhile has erased the right to it as well.
                sight(execute, caller, "write", [scope])
                log.enter(execute, made)
                act.target = identifier
                act.enter(execute)
        told = why(choice, speaks) + (HELD_BACK if made.held_back else "")
        return Routed(identifier, choice.arm, choice.propensity, told, _believed(choice.beliefs))

    def reward(self, caller: Caller, decision: str, outcome: Outcome) -> RouteTold:
        """Tell what came of a decision. The first word counts; saying it again changes nothing."""
        with self._service.acts.acting(caller, "reward", target=decision) as act:
            with self._database.writing(durable=True) as execute:
                made, scope = self._found(execute, caller, decision, "write")
                act.scopes = [scope]
                new = log.tell(execute, made, outcome, at=now_ms(), who=caller.who)
                act.enter(execute)
            return RouteTold(made.id, made.choice.arm, new)

    def explain(self, caller: Caller, decision: str) -> RouteWhy:
        """Why a task went where it went."""
        with (
            self._service.acts.acting(caller, "why_route", target=decision) as act,
            self._database.reading() as execute,
        ):
            made, scope = self._found(execute, caller, decision, "read")
            act.scopes = [scope]
            outcome = made.outcome
            return RouteWhy(
                decision=made.id,
                scope=scope,
                router=made.router,
                number=made.number,
                made_at=made.at,
                task=made.context.task,
                arm=made.choice.arm,
                propensity=made.choice.propensity,
                why=why(made.choice, made.speaks) + (HELD_BACK if made.held_back else ""),
                arms=_believed(made.choice.beliefs),
                settings=made.settings.to_json(),
                rewarded=outcome is not None,
                success=outcome.success if outcome else None,
                cost=outcome.cost if outcome else None,
                latency=outcome.latency if outcome else None,
            )

    def standing(self, caller: Caller, scope: str, router: str = ROUTER) -> RoutingStanding:
        """How much was decided and came back, by arm, and a warning where the loop is open."""
        with self._service.acts.acting(caller, "routing", [scope]):
            allow(caller, "read", [scope])
            name = _name(router)
            with self._database.reading() as execute:
                (number,) = sight(execute, caller, "read", [scope]).scopes
                found = log.counts(execute, number, name)
                newest = log.newest_arms(execute, number, name, ONE_SIDED)
                known = tuple(log.routers(execute, number))
                latest = log.newest_settings(execute, number, name) or Settings()
            used = self._settings.of(scope)
            settings = used.settings.weighing(latest.cost_weight, latest.latency_weight)
            arms = tuple(RoutedArm(arm, *each) for arm, each in found.items())
            decisions = sum(arm.drawn for arm in arms)
            outcomes = sum(arm.outcomes for arm in arms)
            return RoutingStanding(
                scope,
                name,
                known,
                decisions,
                outcomes,
                arms,
                settings.to_json(),
                used.origin,
                "; ".join(filter(None, (used.problem, warning(decisions, outcomes, newest)))),
                self._watched(used.watch),
            )

    def judge(
        self,
        caller: Caller,
        scope: str,
        router: str = ROUTER,
        *,
        cost_weight: float | None = None,
        latency_weight: float | None = None,
    ) -> RoutingJudged:
        """What the router learned from the earlier part of its log, judged by the later part: at the
        weights that are given, else at those of its newest decision."""
        with self._service.acts.acting(caller, "judge_routing", [scope]):
            allow(caller, "read", [scope])
            name = _name(router)
            with self._database.reading() as execute:
                (number,) = sight(execute, caller, "read", [scope]).scopes
                came = sorted(log.arrived(execute, number, name), key=lambda each: each.number)
                latest = log.newest_settings(execute, number, name) or Settings()
            if len(came) < 2:
                raise UsageError(
                    f"a log of {many(len(came), 'decision')} with an outcome says nothing",
                    hint="tell outcomes as they come: metamem route reward",
                )
            settings = (
                self._settings.of(scope)
                .settings.weighing(latest.cost_weight, latest.latency_weight)
                .weighing(cost_weight, latency_weight)
            )
            entries = [
                Entry(c.context, c.odds, c.arm, c.outcome, c.priors, f"decision {c.number}")
                for c in came
            ]
            found = judge(entries, settings)
        values = [PolicyValue(v.policy, v.ips, v.snips, v.robust) for v in found.policies]
        return RoutingJudged(
            scope,
            name,
            settings.cost_weight,
            settings.latency_weight,
            found.learned_from,
            found.judged_by,
            tuple(values),
            found.rival,
            found.gain,
            found.lower_bound,
            found.better,
            found.reason,
            tuple(dict.fromkeys(v.robust.note for v in found.policies if v.robust.note)),
        )

    def warning(self) -> str:
        """For health: whether any router is asked and never told."""
        with self._database.reading() as execute:
            rows = execute(
                "SELECT COUNT(*) FROM (SELECT d.scope, d.router FROM route_decisions d"
                " LEFT JOIN route_outcomes o ON o.decision = d.id GROUP BY d.scope, d.router"
                " HAVING COUNT(*) >= ? AND COUNT(o.seq) = 0) AS silent",
                (SILENT,),
            )
        ((count,),) = rows
        if not count:
            return ""
        are = "is" if count == 1 else "are"
        return f"{many(count, 'router')} {are} asked and never told what came of it: nothing is learned"

    def _watched(self, watch: str) -> str:
        """How far the watch of a change is, where one is watched."""
        if not watch:
            return ""
        with self._database.reading() as execute:
            return progress(sides(execute, watch))

    def _number(self, caller: Caller, scope: str, right: Right) -> int:
        with self._database.reading() as execute:
            (number,) = sight(execute, caller, right, [scope]).scopes
            return number

    def _found(
        self, execute: Execute, caller: Caller, decision: str, right: Right
    ) -> tuple[log.Decision, str]:
        """A decision that the caller has a right to, and its scope; others are not there."""
        view = sight(execute, caller, right)
        made = log.decision(execute, decision)
        if made.scope not in view.scopes:
            raise UnknownName(f"there is no decision {decision!r}", hint="a route names its own")
        return made, str(view.scopes[made.scope])


def warning(decisions: int, outcomes: int, newest: Sequence[str]) -> str:
    """What somebody should look at; empty where all is well."""
    if not decisions:
        return "nobody asked for a route yet"
    if not outcomes and decisions >= SILENT:
        return (
            f"of {decisions} decisions none has an outcome, so that nothing is learned: tell what came"
            " of them with metamem route reward"
        )
    if len(newest) >= ONE_SIDED and len(set(newest)) == 1:
        return (
            f"the newest {len(newest)} decisions all went to {newest[0]}, whatever the floor says:"
            " is another arm still there?"
        )
    return ""


def erase_routes(execute: Execute, scope: int, person: str) -> dict[str, int]:
    """Decisions of a scope, or those of one person in it, with what came of them. That a scope lost
    something, its generation says; routers then learn anew."""
    if not person:
        return {"routes": log.erase(execute, scope)}
    names = execute("SELECT DISTINCT who FROM route_decisions WHERE scope = ?", (scope,))
    whose = [who for (who,) in names if same_name(who, person)]
    return {"routes": sum(log.erase(execute, scope, who) for who in whose)}


def _arm(given: Contender) -> Arm:
    if len(given.name) > LONGEST_NAME:
        raise UsageError(f"the name of an arm has at most {LONGEST_NAME} letters")
    return Arm(without_secrets(given.name), given.success, given.cost, given.latency)


def _name(router: str) -> str:
    if not router.strip() or len(router) > LONGEST_NAME:
        raise UsageError(f"the name of a router has 1 to {LONGEST_NAME} letters")
    return named(router, "router")


def _context(task: str, seen: str, tags: Mapping[str, str]) -> Context:
    if not task.strip():
        raise UsageError("a route is for a task", hint="say what is to be done")
    if len(tags) > MOST_TAGS or any(
        not isinstance(v, str) or len(k) > LONGEST_TAG or len(v) > LONGEST_TAG
        for k, v in tags.items()
    ):
        raise UsageError(f"tags are texts, {MOST_TAGS} at most, of {LONGEST_TAG} letters at most")
    cleaned = {without_secrets(k): without_secrets(v) for k, v in tags.items()}
    return Context(
        without_secrets(task)[:MOST_LETTERS], without_secrets(seen)[:MOST_LETTERS], cleaned
    )


def _believed(beliefs: Sequence[Belief]) -> tuple[Believed, ...]:
    return tuple(
        Believed(b.arm, b.propensity, b.worth, b.spread, b.success, b.cost, b.latency, b.seen)
        for b in beliefs
    )
