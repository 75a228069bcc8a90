"""Administration: scopes and their members, people, keys, and the audit. Every verb is limited,
checked and audited as those of memory are.

- Whoever manages a scope shares it, grants roles in it and sets what holds for it.
- An admin of the tenant does that for all scopes, and looks after people and keys.
- Everybody looks after their own keys; no key can make one that may do more than itself.
- Auditors and admins read the audit.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from metamem.core.access import Caller, Scope
from metamem.core.errors import Denied, UnknownName
from metamem.service.access import audit, keys, people, scopes
from metamem.service.access.acting import Act, Acts, allow
from metamem.service.access.keys import OVERLAP_MS, PER_MINUTE, Key, NewKey
from metamem.service.access.names import OWN
from metamem.service.access.people import Principal, PrincipalKind, TenantRole
from metamem.service.access.rights import OWNER, owner_of_file
from metamem.service.access.scopes import Membership, ScopeEntry
from metamem.service.database import Database
from metamem.service.sight import scope_number, sight
from metamem.service.words import ScopeRole, Visibility
from metamem.store.engine import Execute


@dataclass(frozen=True, slots=True)
class ScopeRights:
    """A scope that the caller can use, and how."""

    entry: ScopeEntry
    rights: tuple[str, ...]


class Administration:
    def __init__(self, database: Database, acts: Acts, changed: Callable[[], None]) -> None:
        """`changed` is told whenever somebody's rights may be others than before."""
        self._database, self._acts, self._changed = database, acts, changed

    # --- scopes ------------------------------------------------------------------------------

    def scopes(self, caller: Caller) -> list[ScopeRights]:
        """All scopes that the caller may read, write or manage."""
        with self._acts.acting(caller, "scopes"), self._database.reading() as execute:
            found: dict[int, list[str]] = {}
            for right in ("read", "write", "manage"):
                for number in sight(execute, caller, right).scopes:
                    found.setdefault(number, []).append(right)
            entries = [
                ScopeRights(scopes.entry(execute, number), tuple(rights))
                for number, rights in found.items()
            ]
        return sorted(entries, key=lambda each: each.entry.scope)

    def add_scope(
        self, caller: Caller, scope: str, visibility: Visibility = "private"
    ) -> ScopeEntry:
        """Make a scope that belongs to the caller, or, if it is a person's own, to that person. One that
        the caller manages stays as it is."""
        wanted = Scope.parse(scope)
        with self._changing(caller, "add_scope", [scope]) as execute:
            there = scope_number(execute, wanted)
            if there is not None and wanted in _managed(execute, caller):
                return scopes.entry(execute, there)
            _need(caller, "member", wanted.tenant, f"make {wanted}")
            if there is not None or wanted.tenant != caller.tenant:
                raise Denied(f"no right to make {wanted}", hint="choose another name")
            owner = owner_to_be(execute, caller, wanted)
            number = scopes.make_scope(execute, wanted, owner=owner, visibility=visibility)
            return scopes.entry(execute, number)

    def share(self, caller: Caller, scope: str, visibility: Visibility) -> ScopeEntry:
        with self._managing(caller, "share", scope) as (execute, number, _):
            scopes.share(execute, number, visibility)
            return scopes.entry(execute, number)

    def set_settings(self, caller: Caller, scope: str, settings: Mapping[str, Any]) -> ScopeEntry:
        with self._managing(caller, "set_settings", scope) as (execute, number, _):
            scopes.set_settings(execute, number, settings)
            return scopes.entry(execute, number)

    def members(self, caller: Caller, scope: str) -> list[Membership]:
        with (
            self._acts.acting(caller, "members", [scope]),
            self._database.reading() as execute,
        ):
            (number,) = sight(execute, caller, "manage", [scope]).scopes
            return scopes.members(execute, number)

    def grant(self, caller: Caller, scope: str, name: str, role: ScopeRole) -> list[Membership]:
        with self._managing(caller, "grant", scope, name) as (execute, number, _):
            scopes.grant(execute, number, name, role, by=caller.who)
            return scopes.members(execute, number)

    def ungrant(self, caller: Caller, scope: str, name: str) -> list[Membership]:
        with self._managing(caller, "ungrant", scope, name) as (execute, number, _):
            scopes.ungrant(execute, number, name)
            return scopes.members(execute, number)

    # --- people ------------------------------------------------------------------------------

    def people(self, caller: Caller) -> list[Principal]:
        """Everybody of the tenant, for those who may make scopes and so have to name people."""
        with self._acts.acting(caller, "people"), self._database.reading() as execute:
            _need(caller, "member", caller.tenant, "list people")
            return people.everybody(execute, caller.tenant)

    def add_person(
        self,
        caller: Caller,
        name: str,
        kind: PrincipalKind = "person",
        role: TenantRole = "member",
    ) -> Principal:
        """Somebody new. The owner of the file makes a tenant by adding its first admin."""
        with self._as_admin(caller, "add_person", name) as execute:
            return people.add(execute, caller.tenant, name, kind=kind, role=role)

    def set_role(self, caller: Caller, name: str, role: TenantRole) -> Principal:
        with self._as_admin(caller, "set_role", name) as execute:
            return people.set_role(execute, caller.tenant, name, role)

    def disable(self, caller: Caller, name: str) -> Principal:
        """From now on they can do nothing, with none of their keys."""
        with self._as_admin(caller, "disable", name) as execute:
            return people.set_disabled(execute, caller.tenant, name, True)

    def enable(self, caller: Caller, name: str) -> Principal:
        with self._as_admin(caller, "enable", name) as execute:
            return people.set_disabled(execute, caller.tenant, name, False)

    def set_team(self, caller: Caller, team: str, names: Sequence[str]) -> Principal:
        """Who belongs to a team from now on."""
        with self._as_admin(caller, "set_team", team) as execute:
            return people.set_members(execute, caller.tenant, team, names)

    # --- keys --------------------------------------------------------------------------------

    def keys(self, caller: Caller) -> list[Key]:
        """The caller's own keys; all of the tenant's for an admin."""
        with self._acts.acting(caller, "keys"), self._database.reading() as execute:
            whose = "" if "admin" in caller.roles else caller.who
            return keys.listed(execute, caller.tenant, whose)

    def make_key(
        self,
        caller: Caller,
        who: str = "",
        *,
        label: str = "",
        rights: Sequence[str] = ("read", "write"),
        scopes: Sequence[str] = (),
        per_minute: int = PER_MINUTE,
        most_facts: int | None = None,
        expires_at: int | None = None,
    ) -> NewKey:
        """A key for the caller; an admin makes them for others."""
        who = who or caller.who
        with self._changing(caller, "make_key", target=who) as execute:
            _need(caller, "member" if who == caller.who else "admin", caller.tenant, "make keys")
            if caller.key:
                own = keys.find(execute, caller.tenant, caller.key)
                if not set(rights) <= set(own.rights):
                    raise Denied("no right to make a key that may do more than yours")
            if OWNER in caller.roles and who == caller.who:
                own_principal(execute, caller)
            return keys.make(
                execute,
                caller.tenant,
                who,
                label=label,
                rights=rights,
                scopes=scopes,
                per_minute=per_minute,
                most_facts=most_facts,
                expires_at=expires_at,
            )

    def rotate_key(self, caller: Caller, key_id: str, overlap_ms: int = OVERLAP_MS) -> NewKey:
        """A new key in the place of one, which ends after the overlap."""
        with self._changing(caller, "rotate_key", target=key_id) as execute:
            _own_key(execute, caller, key_id)
            return keys.rotate(execute, caller.tenant, key_id, overlap_ms=overlap_ms)

    def revoke_key(self, caller: Caller, key_id: str) -> Key:
        with self._changing(caller, "revoke_key", target=key_id) as execute:
            _own_key(execute, caller, key_id)
            return keys.revoke(execute, caller.tenant, key_id)

    # --- audit -------------------------------------------------------------------------------

    def audit(self, caller: Caller, after: int = 0, limit: int = 100) -> list[audit.Numbered]:
        """A page of what was done in the tenant, oldest first."""
        with self._acts.acting(caller, "audit"), self._database.reading() as execute:
            if not caller.roles & {"admin", "auditor"}:
                raise Denied("no right to read the audit", hint="ask an admin or an auditor")
            return audit.read(execute, caller.tenant, after=after, limit=limit)

    # --- how -----------------------------------------------------------------------------------

    @contextmanager
    def _changing(
        self, caller: Caller, verb: str, named: Sequence[str] = (), target: str = ""
    ) -> Iterator[Execute]:
        with self._acts.acting(caller, verb, named, target) as act:
            try:
                with self._database.writing() as execute:
                    yield execute
                    act.enter(execute)
            finally:
                self._changed()

    @contextmanager
    def _managing(
        self, caller: Caller, verb: str, scope: str, target: str = ""
    ) -> Iterator[tuple[Execute, int, Act]]:
        with self._acts.acting(caller, verb, [scope], target) as act:
            allow(caller, "manage", [scope])
            try:
                with self._database.writing() as execute:
                    (number,) = sight(execute, caller, "manage", [scope]).scopes
                    yield execute, number, act
                    act.enter(execute)
            finally:
                self._changed()

    @contextmanager
    def _as_admin(self, caller: Caller, verb: str, target: str) -> Iterator[Execute]:
        with self._changing(caller, verb, target=target) as execute:
            _need(caller, "admin", caller.tenant, "look after people")
            yield execute


def own_principal(execute: Execute, caller: Caller) -> int | None:
    """The number of whoever calls. The owner of the file is entered when first needed."""
    if OWNER in caller.roles:
        return people.ensure(execute, caller.tenant, caller.who, role="admin").number
    try:
        return people.find(execute, caller.tenant, caller.who).number
    except UnknownName:  # made by hand, not by a key
        return None


def owner_to_be(execute: Execute, caller: Caller, wanted: Scope) -> int | None:
    """Who owns a scope that the caller makes. A person's own belongs to whoever has its name: of anybody
    else, its owner would read what that person takes for private."""
    if wanted.kind == OWN and wanted.name != caller.who:
        if not {OWNER, "admin"} & caller.roles:
            raise Denied(f"no right to make {wanted}", hint=f"it is {wanted.name}'s own")
        if OWNER not in caller.roles or people.is_there(execute, wanted.tenant, wanted.name):
            return people.find(execute, wanted.tenant, wanted.name).number
    return own_principal(execute, caller)


def _managed(execute: Execute, caller: Caller) -> frozenset[Scope]:
    """What the caller manages by now: of the owner's processes, another may just have made a scope."""
    if OWNER in caller.roles:
        return owner_of_file(execute, caller.tenant).manages
    return caller.manages


def _need(caller: Caller, role: str, tenant: str, what: str) -> None:
    if role not in caller.roles or tenant != caller.tenant:
        raise Denied(f"no right to {what}", hint="it takes a key that may manage, for all scopes")


def _own_key(execute: Execute, caller: Caller, key_id: str) -> None:
    """Whether a key is the caller's to end. Others' are as unknown as those that are not there."""
    found = keys.find(execute, caller.tenant, key_id)
    mine = found.who == caller.who and "member" in caller.roles
    if not (mine or found.id == caller.key or "admin" in caller.roles):
        raise UnknownName(f"there is no key {key_id!r}", hint="`metamem keys` lists yours")
