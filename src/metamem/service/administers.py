"""Administration for one caller, in this process or over the network, alike."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, Protocol, Self, TypeVar

from metamem.core.access import Caller
from metamem.core.types import Experience, Query
from metamem.routing.words import Outcome
from metamem.service.access.audit import Numbered
from metamem.service.access.keys import OVERLAP_MS, PER_MINUTE, Key, NewKey
from metamem.service.access.people import Principal, PrincipalKind, TenantRole
from metamem.service.access.scopes import Membership, ScopeEntry
from metamem.service.administration import Administration, ScopeRights
from metamem.service.contract import Memories
from metamem.service.designs.words import Advised, Against, Experienced, Standing, Trial
from metamem.service.reading_export import ReadIn
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
)
from metamem.service.words import ScopeRole, Visibility

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Me:
    """Who calls, as the credential says, and what they may use."""

    tenant: str
    who: str
    key: str  # the id of the key; empty for the owner of the file
    roles: tuple[str, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    manages: tuple[str, ...]


def me_of(caller: Caller) -> Me:
    sets = (caller.reads, caller.writes, caller.manages)
    reads, writes, manages = (tuple(sorted(map(str, each))) for each in sets)
    roles = tuple(sorted(caller.roles))
    return Me(caller.tenant, caller.who, caller.key, roles, reads, writes, manages)


class Administers(Protocol):
    """Scopes and their members, people, keys and the audit."""

    def me(self) -> Me: ...

    def scopes(self) -> list[ScopeRights]: ...

    def add_scope(self, scope: str, visibility: Visibility = "private") -> ScopeEntry: ...

    def share(self, scope: str, visibility: Visibility) -> ScopeEntry: ...

    def set_settings(self, scope: str, settings: Mapping[str, Any]) -> ScopeEntry: ...

    def members(self, scope: str) -> list[Membership]: ...

    def grant(self, scope: str, name: str, role: ScopeRole) -> list[Membership]: ...

    def ungrant(self, scope: str, name: str) -> list[Membership]: ...

    def people(self) -> list[Principal]: ...

    def add_person(
        self, name: str, kind: PrincipalKind = "person", role: TenantRole = "member"
    ) -> Principal: ...

    def set_role(self, name: str, role: TenantRole) -> Principal: ...

    def disable(self, name: str) -> Principal: ...

    def enable(self, name: str) -> Principal: ...

    def set_team(self, team: str, names: Sequence[str]) -> Principal: ...

    def keys(self) -> list[Key]: ...

    def make_key(
        self,
        who: str = "",
        *,
        label: str = "",
        rights: Sequence[str] = ("read", "write"),
        scopes: Sequence[str] = (),
        per_minute: int = PER_MINUTE,
        most_facts: int | None = None,
        expires_at: int | None = None,
    ) -> NewKey: ...

    def rotate_key(self, key_id: str, overlap_ms: int = OVERLAP_MS) -> NewKey: ...

    def revoke_key(self, key_id: str) -> Key: ...

    def audit(self, after: int = 0, limit: int = 100) -> list[Numbered]: ...


class Connected(Memories, Protocol):
    """All that a caller can do with a memory service, until it is closed."""

    @property
    def administration(self) -> Administers: ...

    def read_export(self, scope: str, lines: Iterable[str]) -> ReadIn:
        """Read what was exported as JSON lines into a scope; what it holds already stays."""
        ...

    def advise(self, scope: str, query: Query, *, session: str = "") -> Advised:
        """What the design that serves a scope advises; it may be nothing."""
        ...

    def experience(
        self, scope: str, lived: Experience, *, moment: str = "", useful: Sequence[str] = ()
    ) -> Experienced:
        """Tell what an agent lived through; `moment` names the advice that it came of."""
        ...

    def standing(self, scope: str) -> Standing:
        """How designs do in a scope: the live comparison, and how much came back."""
        ...

    def compare(
        self, scope: str, design: str, *, share: float = 0.5, against: Against = "nothing"
    ) -> Trial:
        """Begin a live comparison: a share of sessions is held back from a design."""
        ...

    def end_comparison(self, scope: str) -> bool:
        """From now on nobody is held back; whether anybody was."""
        ...

    def route(
        self,
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
        """Who gets a task, of the arms that are allowed; kept with the propensity of every one.
        `cost_weight` and `latency_weight` are what a unit of cost and a second take off a success."""
        ...

    def reward(self, decision: str, outcome: Outcome) -> RouteTold:
        """Tell what came of a decision. The first word counts."""
        ...

    def why_route(self, decision: str) -> RouteWhy:
        """Why a task went where it went."""
        ...

    def routing(self, scope: str, router: str = ROUTER) -> RoutingStanding:
        """How a scope's router stands."""
        ...

    def judge_routing(
        self,
        scope: str,
        router: str = ROUTER,
        *,
        cost_weight: float | None = None,
        latency_weight: float | None = None,
    ) -> RoutingJudged:
        """Whether what it learned is better than one arm for all tasks, by its own log."""
        ...

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *details: object) -> None: ...


def _bound(
    verb: Callable[Concatenate[Administration, Caller, P], T],
) -> Callable[Concatenate["LocalAdministration", P], T]:
    def call(self: "LocalAdministration", /, *given: P.args, **named: P.kwargs) -> T:
        return verb(self.service, self.caller(), *given, **named)

    return call


class LocalAdministration:
    """`Administers`, by a service in this process. Who calls is asked anew with every verb."""

    def __init__(self, service: Administration, caller: Callable[[], Caller]) -> None:
        self.service, self.caller = service, caller

    def me(self) -> Me:
        return me_of(self.caller())

    scopes = _bound(Administration.scopes)
    add_scope = _bound(Administration.add_scope)
    share = _bound(Administration.share)
    set_settings = _bound(Administration.set_settings)
    members = _bound(Administration.members)
    grant = _bound(Administration.grant)
    ungrant = _bound(Administration.ungrant)
    people = _bound(Administration.people)
    add_person = _bound(Administration.add_person)
    set_role = _bound(Administration.set_role)
    disable = _bound(Administration.disable)
    enable = _bound(Administration.enable)
    set_team = _bound(Administration.set_team)
    keys = _bound(Administration.keys)
    make_key = _bound(Administration.make_key)
    rotate_key = _bound(Administration.rotate_key)
    revoke_key = _bound(Administration.revoke_key)
    audit = _bound(Administration.audit)
