"""A small world for the tests of access: two tenants, people in every role, scopes of every kind."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from metamem.core.access import Caller, Scope
from metamem.service.service import MemoryService
from metamem.service.words import Draft

ACME = "acme"


@dataclass
class World:
    service: MemoryService
    keys: dict[str, str] = field(default_factory=dict)  # secrets by the names of people
    facts: dict[str, str] = field(default_factory=dict)  # ids by scope

    @property
    def admin(self) -> Caller:
        """The owner of the file, as an admin of the tenant."""
        return self.service.local_caller(ACME)

    def person(
        self, name: str, role: str = "member", tenant: str = ACME, kind: str = "person"
    ) -> str:
        owner = self.service.local_caller(tenant)
        self.service.administration.add_person(owner, name, kind, role)  # type: ignore[arg-type]
        rights = ("read", "write", "manage")
        made = self.service.administration.make_key(owner, name, rights=rights, per_minute=0)
        self.keys[name] = made.secret
        return made.secret

    def caller(self, name: str) -> Caller:
        return self.service.doorkeeper.authenticate(self.keys[name])

    def scope(self, owner: str, name: str, visibility: str = "private") -> str:
        caller = self.caller(owner)
        scope = str(Scope(caller.tenant, "project", name))
        self.service.administration.add_scope(caller, scope, visibility)  # type: ignore[arg-type]
        return scope

    def fact(self, who: str, scope: str, text: str, **more: object) -> str:
        draft = Draft(text, **more)  # type: ignore[arg-type]
        (written,) = self.service.remember(self.caller(who), scope, [draft])
        assert written.outcome == "stored"
        self.facts[scope] = written.id
        return written.id


@contextmanager
def world(folder: Path) -> Iterator[World]:
    service = MemoryService(folder)
    try:
        yield World(service)
    finally:
        service.close()
