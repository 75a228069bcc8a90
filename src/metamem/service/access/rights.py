"""From who somebody is to what they may do: memberships, teams, visibility and the rights of a key
become explicit sets of scopes. Whatever is in none of the sets is denied.

A reader of a scope reads it, a writer reads and writes it, a manager does both and manages it. An
admin of the tenant manages all its scopes (says who may use them, and erases them), but reads and
writes none by that: admins who want to must let themselves in, and the audit shows it.
"""

import os
from collections.abc import Collection, Mapping
from typing import Literal, get_args

from metamem.core.access import Caller, CallerKind, Scope
from metamem.service.access.names import encoded
from metamem.store.engine import Execute

KeyRight = Literal["read", "write", "manage"]
KEY_RIGHTS: tuple[KeyRight, ...] = get_args(KeyRight)
LOCAL = "local"  # the tenant of whoever owns the file
OWNER = "owner"  # the role of whoever owns the file; no key gives it
_GIVES: Mapping[str, frozenset[KeyRight]] = {
    "reader": frozenset({"read"}),
    "writer": frozenset({"read", "write"}),
    "manager": frozenset({"read", "write", "manage"}),
    "admin": frozenset({"manage"}),
}


def resolved(
    execute: Execute,
    tenant: str,
    principal: int,
    who: str,
    role: str,
    *,
    speaker: str,
    rights: Collection[str],
    only: Collection[str],
    key: str,
) -> Caller:
    """A principal with a key. `only` names the scopes that the key is for; empty means all.
    `speaker` is what kind of somebody the principal is."""
    found: dict[KeyRight, set[Scope]] = {"read": set(), "write": set(), "manage": set()}
    rows = execute(
        # Whatever opens the scope to the principal, one row each.
        "SELECT s.kind, s.name, CASE WHEN s.owner = ? THEN 'manager' ELSE '' END,"
        " CASE WHEN s.visibility = 'public' THEN 'reader' ELSE '' END,"
        " CASE WHEN s.visibility = 'private' AND (s.owner IS NULL OR s.owner <> ?) THEN ''"
        " ELSE COALESCE(m.role, '') END"
        " FROM scopes s LEFT JOIN memberships m ON m.scope = s.number AND (m.principal = ?"
        " OR m.principal IN (SELECT t.team FROM team_members t JOIN principals p"
        " ON p.number = t.team WHERE t.member = ? AND p.disabled_at IS NULL))"
        " WHERE s.tenant = ? AND s.erased_at IS NULL"
        " AND (s.owner = ? OR s.visibility = 'public' OR m.role IS NOT NULL OR ? = 'admin')",
        (principal, principal, principal, principal, tenant, principal, role),
    )
    for kind, name, *opened in rows:
        scope = Scope(tenant, kind, name)
        if only and str(scope) not in only:
            continue
        for each in (*opened, role):
            for right in _GIVES.get(each, ()):
                if right in rights:
                    found[right].add(scope)
    return Caller(
        tenant,
        who,
        roles=_roles(role, rights, only),
        reads=frozenset(found["read"]),
        writes=frozenset(found["write"]),
        manages=frozenset(found["manage"]),
        key=key,
        kind=_kind(tenant, who, speaker),
    )


def _kind(tenant: str, who: str, kind: str) -> CallerKind:
    """A key of the file's owner speaks as they do, wherever it is used."""
    if kind != "person":
        return "agent"
    return "owner" if tenant == LOCAL and who == os_user() else "person"


def _roles(role: str, rights: Collection[str], only: Collection[str]) -> frozenset[str]:
    """A key for some scopes is for nothing in the tenant as a whole; one that may not manage makes
    nobody an admin, nor a maker of scopes."""
    if only:
        return frozenset()
    held = {role, "member"} if "manage" in rights else {role} - {"admin", "member"}
    return frozenset(held - {"auditor"} if "read" not in rights else held)


def owner_of_file(execute: Execute, tenant: str = LOCAL) -> Caller:
    """Whoever can open the file: all rights to the scopes of the tenant `local`. In other tenants
    they administer as an admin does, without reading."""
    rows = execute(
        "SELECT kind, name FROM scopes WHERE tenant = ? AND erased_at IS NULL", (tenant,)
    )
    scopes = frozenset(Scope(tenant, kind, name) for kind, name in rows)
    used = scopes if tenant == LOCAL else frozenset()
    roles = frozenset({OWNER, "admin", "auditor", "member"})
    return Caller(
        tenant, os_user(), roles=roles, reads=used, writes=used, manages=scopes, kind="owner"
    )


def os_user() -> str:
    """Who runs this process, as the system says; the environment could say anything."""
    try:
        import pwd

        return encoded(pwd.getpwuid(os.getuid()).pw_name)
    except (ImportError, KeyError):  # no such table here, or nobody of that number in it
        return encoded(os.getlogin() if os.name == "nt" else f"uid-{os.getuid()}")
