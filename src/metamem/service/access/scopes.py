"""Scopes: made, shared and listed; who is a member of which, and as what.

- A *private* scope is its owner's alone, whoever else stands among its members.
- A *shared* one is open to its members, each as reader, writer or manager.
- A *public* one can besides be read by everybody of its tenant.

A name whose scope was erased can be used again, by whoever makes it first; nothing of what was
there, members included, comes back.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from metamem.core.access import Scope
from metamem.core.errors import UsageError
from metamem.core.ids import canonical_json
from metamem.service.access import people
from metamem.service.database import now_ms
from metamem.service.sight import scope_number
from metamem.service.words import ScopeRole, Visibility
from metamem.service.writing.fields import named
from metamem.store.engine import Execute
from metamem.store.sql.base import insert, one_of

VISIBILITIES: tuple[Visibility, ...] = get_args(Visibility)
SCOPE_ROLES: tuple[ScopeRole, ...] = get_args(ScopeRole)
SETTINGS_BYTES = 10_000
# Settings that are known by now. A policy of forgetting has room beside them.
MOST_FACTS = "most_facts"


@dataclass(frozen=True, slots=True)
class Membership:
    name: str
    kind: str
    role: ScopeRole
    granted_by: str
    at: int


@dataclass(frozen=True, slots=True)
class ScopeEntry:
    """A scope as lists show it."""

    scope: Scope
    visibility: Visibility
    owner: str  # empty where nobody owns it
    made_at: int
    settings: Mapping[str, Any]


def make_scope(
    execute: Execute, scope: Scope, *, owner: int | None = None, visibility: Visibility = "private"
) -> int:
    """The number of a scope, which is made where it is not there yet."""
    one_of(visibility, VISIBILITIES, "visibility")
    number = scope_number(execute, scope)
    if number is not None:
        return number
    named(scope.label, "scope")
    # After an erasure the row is still there, and so is its number in the log.
    ((made,),) = execute(
        "INSERT INTO scopes (tenant, kind, name, visibility, owner, made_at, settings)"
        " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, kind, name) DO UPDATE SET"
        " visibility = excluded.visibility, owner = excluded.owner, made_at = excluded.made_at,"
        " settings = excluded.settings, erased_at = NULL RETURNING number",
        (scope.tenant, scope.kind, scope.name, visibility, owner, now_ms(), "{}"),
    )
    return int(made)


def entry(execute: Execute, number: int) -> ScopeEntry:
    ((tenant, kind, name, visibility, owner, made_at, settings),) = execute(
        "SELECT s.tenant, s.kind, s.name, s.visibility, COALESCE(p.name, ''), s.made_at,"
        " s.settings FROM scopes s LEFT JOIN principals p ON p.number = s.owner"
        " WHERE s.number = ?",
        (number,),
    )
    return ScopeEntry(Scope(tenant, kind, name), visibility, owner, made_at, json.loads(settings))


def share(execute: Execute, number: int, visibility: Visibility) -> None:
    one_of(visibility, VISIBILITIES, "visibility")
    execute("UPDATE scopes SET visibility = ? WHERE number = ?", (visibility, number))


def set_settings(execute: Execute, number: int, settings: Mapping[str, Any]) -> None:
    """What holds for a scope, in the place of what held before."""
    most = settings.get(MOST_FACTS)
    if most is not None and (type(most) is not int or most < 0):
        raise UsageError(f"{MOST_FACTS} must be a whole number, not {most!r}")
    try:
        text = canonical_json(settings)
    except (TypeError, ValueError) as error:
        raise UsageError(f"the settings of a scope must be JSON: {error}") from None
    if len(text.encode("utf-8", "surrogatepass")) > SETTINGS_BYTES:
        raise UsageError(f"the settings of a scope hold at most {SETTINGS_BYTES} bytes")
    execute("UPDATE scopes SET settings = ? WHERE number = ?", (text, number))


def grant(execute: Execute, number: int, name: str, role: ScopeRole, *, by: str) -> None:
    """Make somebody of the tenant a member, or a member something else."""
    one_of(role, SCOPE_ROLES, "role in a scope")
    known = entry(execute, number)
    principal = people.find(execute, known.scope.tenant, name)
    if known.visibility == "private" and name != known.owner:
        raise UsageError(
            f"{known.scope} is private to {known.owner or 'nobody'}", hint="share it first"
        )
    execute("DELETE FROM memberships WHERE scope = ? AND principal = ?", (number, principal.number))
    columns = {"scope": number, "principal": principal.number, "role": role}
    insert(execute, "memberships", {**columns, "granted_by": by, "at": now_ms()})


def ungrant(execute: Execute, number: int, name: str) -> None:
    known = entry(execute, number)
    principal = people.find(execute, known.scope.tenant, name)
    gone = execute(
        "DELETE FROM memberships WHERE scope = ? AND principal = ? RETURNING 1",
        (number, principal.number),
    )
    if not gone:
        raise UsageError(f"{name} is no member of {known.scope}")


def members(execute: Execute, number: int) -> list[Membership]:
    rows = execute(
        "SELECT p.name, p.kind, m.role, m.granted_by, m.at FROM memberships m"
        " JOIN principals p ON p.number = m.principal WHERE m.scope = ? ORDER BY p.name",
        (number,),
    )
    return [Membership(*row) for row in rows]
