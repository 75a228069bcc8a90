"""Scopes and their members as requests: one operation for each verb of `Administers`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from metamem.core.access import Scope
from metamem.service.access.scopes import Membership, ScopeEntry
from metamem.service.administers import Me
from metamem.service.administration import ScopeRights
from metamem.service.operation import Call, Operation
from metamem.service.verbs import Nothing
from metamem.service.words import ScopeRole, Visibility

_SCOPE = "/v1/scopes/{tenant}/{kind}/{name}"


@dataclass(frozen=True, slots=True)
class AddScope:
    scope: str
    visibility: Visibility = "private"


@dataclass(frozen=True, slots=True)
class OneScope:
    """A scope by its parts, as they stand in a path."""

    tenant: str
    kind: str
    name: str

    @property
    def scope(self) -> str:
        return f"{self.tenant}/{self.kind}/{self.name}"


@dataclass(frozen=True, slots=True)
class Share(OneScope):
    visibility: Visibility


@dataclass(frozen=True, slots=True)
class SetSettings(OneScope):
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Grant(OneScope):
    person: str
    role: ScopeRole


@dataclass(frozen=True, slots=True)
class Ungrant(OneScope):
    person: str


ME = Operation(
    "me",
    "GET",
    "/v1/me",
    Nothing,
    Me,
    "Who the key stands for, and which scopes it may read, write and manage.",
    lambda service, given: service.administration.me(),
)
SCOPES = Operation(
    "scopes",
    "GET",
    "/v1/scopes",
    Nothing,
    list[ScopeRights],
    "All scopes that the key may use, and how.",
    lambda service, given: service.administration.scopes(),
)
ADD_SCOPE = Operation(
    "add_scope",
    "POST",
    "/v1/scopes",
    AddScope,
    ScopeEntry,
    "Make a scope that belongs to the caller.",
    lambda service, given: service.administration.add_scope(given.scope, given.visibility),
    writes=True,
)
SHARE = Operation(
    "share",
    "PATCH",
    _SCOPE,
    Share,
    ScopeEntry,
    "Make a scope private, shared or public.",
    lambda service, given: service.administration.share(given.scope, given.visibility),
    writes=True,
)
SET_SETTINGS = Operation(
    "set_settings",
    "PUT",
    f"{_SCOPE}/settings",
    SetSettings,
    ScopeEntry,
    "What holds for a scope, in the place of what held before.",
    lambda service, given: service.administration.set_settings(given.scope, given.settings),
    writes=True,
)
MEMBERS = Operation(
    "members",
    "GET",
    f"{_SCOPE}/members",
    OneScope,
    list[Membership],
    "Who belongs to a scope, and as what.",
    lambda service, given: service.administration.members(given.scope),
)
GRANT = Operation(
    "grant",
    "PUT",
    f"{_SCOPE}/members/{{person}}",
    Grant,
    list[Membership],
    "Make somebody reader, writer or manager of a scope.",
    lambda service, given: service.administration.grant(given.scope, given.person, given.role),
    writes=True,
)
UNGRANT = Operation(
    "ungrant",
    "DELETE",
    f"{_SCOPE}/members/{{person}}",
    Ungrant,
    list[Membership],
    "Take somebody out of a scope.",
    lambda service, given: service.administration.ungrant(given.scope, given.person),
    writes=True,
)

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    ME,
    SCOPES,
    ADD_SCOPE,
    SHARE,
    SET_SETTINGS,
    MEMBERS,
    GRANT,
    UNGRANT,
)


def me() -> Call[Me]:
    return ME(Nothing())


def scopes() -> Call[list[ScopeRights]]:
    return SCOPES(Nothing())


def add_scope(scope: str, visibility: Visibility = "private") -> Call[ScopeEntry]:
    return ADD_SCOPE(AddScope(scope, visibility))


def share(scope: str, visibility: Visibility) -> Call[ScopeEntry]:
    return SHARE(Share(*_parts(scope), visibility))


def set_settings(scope: str, settings: Mapping[str, Any]) -> Call[ScopeEntry]:
    return SET_SETTINGS(SetSettings(*_parts(scope), settings))


def members(scope: str) -> Call[list[Membership]]:
    return MEMBERS(OneScope(*_parts(scope)))


def grant(scope: str, name: str, role: ScopeRole) -> Call[list[Membership]]:
    return GRANT(Grant(*_parts(scope), name, role))


def ungrant(scope: str, name: str) -> Call[list[Membership]]:
    return UNGRANT(Ungrant(*_parts(scope), name))


def _parts(scope: str) -> tuple[str, str, str]:
    parsed = Scope.parse(scope)
    return parsed.tenant, parsed.kind, parsed.name
