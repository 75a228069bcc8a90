"""People and teams as requests: one operation for each verb of `Administers`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from metamem.service.access.people import Principal, PrincipalKind, TenantRole
from metamem.service.operation import Call, Operation
from metamem.service.verbs import Nothing


@dataclass(frozen=True, slots=True)
class AddPerson:
    name: str
    kind: PrincipalKind = "person"
    role: TenantRole = "member"


@dataclass(frozen=True, slots=True)
class OnePerson:
    person: str


@dataclass(frozen=True, slots=True)
class SetRole:
    person: str
    role: TenantRole


@dataclass(frozen=True, slots=True)
class SetTeam:
    person: str
    members: tuple[str, ...]


PEOPLE = Operation(
    "people",
    "GET",
    "/v1/people",
    Nothing,
    list[Principal],
    "Everybody of the tenant.",
    lambda service, given: service.administration.people(),
)
ADD_PERSON = Operation(
    "add_person",
    "POST",
    "/v1/people",
    AddPerson,
    Principal,
    "Add a person, an agent or a team.",
    lambda service, given: service.administration.add_person(given.name, given.kind, given.role),
    writes=True,
)
SET_ROLE = Operation(
    "set_role",
    "PUT",
    "/v1/people/{person}/role",
    SetRole,
    Principal,
    "What somebody is in the tenant as a whole.",
    lambda service, given: service.administration.set_role(given.person, given.role),
    writes=True,
)
DISABLE = Operation(
    "disable",
    "POST",
    "/v1/people/{person}/disable",
    OnePerson,
    Principal,
    "From now on they can do nothing, with none of their keys.",
    lambda service, given: service.administration.disable(given.person),
    writes=True,
)
ENABLE = Operation(
    "enable",
    "POST",
    "/v1/people/{person}/enable",
    OnePerson,
    Principal,
    "Let somebody in again who was disabled.",
    lambda service, given: service.administration.enable(given.person),
    writes=True,
)
SET_TEAM = Operation(
    "set_team",
    "PUT",
    "/v1/people/{person}/members",
    SetTeam,
    Principal,
    "Who belongs to a team from now on.",
    lambda service, given: service.administration.set_team(given.person, given.members),
    writes=True,
)

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    PEOPLE,
    ADD_PERSON,
    SET_ROLE,
    DISABLE,
    ENABLE,
    SET_TEAM,
)


def people() -> Call[list[Principal]]:
    return PEOPLE(Nothing())


def add_person(
    name: str, kind: PrincipalKind = "person", role: TenantRole = "member"
) -> Call[Principal]:
    return ADD_PERSON(AddPerson(name, kind, role))


def set_role(name: str, role: TenantRole) -> Call[Principal]:
    return SET_ROLE(SetRole(name, role))


def disable(name: str) -> Call[Principal]:
    return DISABLE(OnePerson(name))


def enable(name: str) -> Call[Principal]:
    return ENABLE(OnePerson(name))


def set_team(team: str, names: Sequence[str]) -> Call[Principal]:
    return SET_TEAM(SetTeam(team, tuple(names)))
