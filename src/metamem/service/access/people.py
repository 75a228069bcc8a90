"""Who there is: persons, agents and teams of a tenant, and what they are in the tenant as a whole.

A tenant is there as soon as somebody belongs to it. Whoever is disabled can do nothing from then
on; what they wrote stays.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from metamem.core.errors import UnknownName, UsageError
from metamem.service.access.names import checked
from metamem.service.database import now_ms
from metamem.store.engine import Execute
from metamem.store.sql.base import insert_new, one_of

PrincipalKind = Literal["person", "agent", "team"]
TenantRole = Literal["member", "admin", "auditor"]
KINDS: tuple[PrincipalKind, ...] = get_args(PrincipalKind)
ROLES: tuple[TenantRole, ...] = get_args(TenantRole)
_COLUMNS = "number, kind, name, role, made_at, disabled_at"


@dataclass(frozen=True, slots=True)
class Principal:
    """Somebody of a tenant."""

    number: int
    kind: PrincipalKind
    name: str
    role: TenantRole
    made_at: int
    disabled_at: int | None = None
    members: tuple[str, ...] = ()  # of a team


def add(
    execute: Execute,
    tenant: str,
    name: str,
    *,
    kind: PrincipalKind = "person",
    role: TenantRole = "member",
) -> Principal:
    """Somebody new. A name that is taken is refused: it may be another's."""
    one_of(kind, KINDS, "kind of principal")
    one_of(role, ROLES, "role in a tenant")
    if kind == "team" and role != "member":
        raise UsageError(f"a team cannot be {role}", hint="give the role to persons")
    columns = {"tenant": checked(tenant, "tenant"), "kind": kind, "name": checked(name, kind)}
    if not insert_new(
        execute, "principals", {**columns, "role": role, "made_at": now_ms(), "disabled_at": None}
    ):
        raise UsageError(f"{tenant} has a {name} already")
    return find(execute, tenant, name)


def find(execute: Execute, tenant: str, name: str) -> Principal:
    rows = execute(
        f"SELECT {_COLUMNS} FROM principals WHERE tenant = ? AND name = ?", (tenant, name)
    )
    if not rows:
        raise UnknownName(f"{tenant} has no {name!r}", hint="`metamem people` lists who there is")
    return _principal(execute, rows[0])


def is_there(execute: Execute, tenant: str, name: str) -> bool:
    asked = "SELECT 1 FROM principals WHERE tenant = ? AND name = ?"
    return bool(execute(asked, (tenant, name)))


def ensure(execute: Execute, tenant: str, name: str, *, role: TenantRole) -> Principal:
    """Somebody by name, who is added where they are not there yet."""
    if not is_there(execute, tenant, name):
        return add(execute, tenant, name, role=role)
    return find(execute, tenant, name)


def everybody(execute: Execute, tenant: str) -> list[Principal]:
    rows = execute(f"SELECT {_COLUMNS} FROM principals WHERE tenant = ? ORDER BY name", (tenant,))
    return [_principal(execute, row) for row in rows]


def set_disabled(execute: Execute, tenant: str, name: str, disabled: bool) -> Principal:
    number = find(execute, tenant, name).number
    at = now_ms() if disabled else None
    execute("UPDATE principals SET disabled_at = ? WHERE number = ?", (at, number))
    return find(execute, tenant, name)


def set_role(execute: Execute, tenant: str, name: str, role: TenantRole) -> Principal:
    one_of(role, ROLES, "role in a tenant")
    found = find(execute, tenant, name)
    if found.kind == "team" and role != "member":
        raise UsageError(f"a team cannot be {role}", hint="give the role to persons")
    execute("UPDATE principals SET role = ? WHERE number = ?", (role, found.number))
    return find(execute, tenant, name)


def set_members(execute: Execute, tenant: str, team: str, names: Sequence[str]) -> Principal:
    """Who belongs to a team from now on. Teams hold persons and agents, no teams."""
    found = find(execute, tenant, team)
    if found.kind != "team":
        raise UsageError(f"{team} is no team but a {found.kind}")
    members = [find(execute, tenant, name) for name in dict.fromkeys(names)]
    for member in members:
        if member.kind == "team":
            raise UsageError(f"{member.name} is a team, and cannot belong to one")
    execute("DELETE FROM team_members WHERE team = ?", (found.number,))
    for member in members:
        execute(
            "INSERT INTO team_members (team, member) VALUES (?, ?)", (found.number, member.number)
        )
    return find(execute, tenant, team)


def _principal(execute: Execute, row: tuple[Any, ...]) -> Principal:
    number, kind, name, role, made_at, disabled_at = row
    rows = execute(
        "SELECT p.name FROM team_members m JOIN principals p ON p.number = m.member"
        " WHERE m.team = ? ORDER BY p.name",
        (number,),
    )
    members = tuple(member for (member,) in rows)
    return Principal(number, kind, name, role, made_at, disabled_at, members)
