"""Who may read and write what. Scopes name what memories belong to; a caller has no rights by default.

A caller is made from a credential by whoever checked it, never from anything that an agent or a
model wrote.
"""

import re
from dataclasses import dataclass

from metamem.core.errors import UsageError

_KIND = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}")  # no "/": that keeps the parts apart
_FORM = "TENANT/KIND/NAME, as in acme/project/webshop"


@dataclass(frozen=True, slots=True, order=True)
class Scope:
    """What a memory belongs to: a name of some kind, within one tenant.

    Its text is `tenant/kind/name`. Equal scopes have equal texts, and no other scope has it.
    """

    tenant: str
    kind: str  # user, project, team, ...: what there is, the service says
    name: str

    def __post_init__(self) -> None:
        for what, pattern in (("tenant", _NAME), ("kind", _KIND), ("name", _NAME)):
            value = getattr(self, what)
            if not isinstance(value, str) or not pattern.fullmatch(value):
                raise UsageError(f"{value!r} cannot be the {what} of a scope", hint=_FORM)

    def __str__(self) -> str:
        return f"{self.tenant}/{self.kind}/{self.name}"

    @staticmethod
    def parse(text: str) -> "Scope":
        """The scope of a text. Whoever names a scope has no right to it by that."""
        parts = text.split("/")
        if len(parts) != 3:
            raise UsageError(f"{text!r} is not a scope", hint=_FORM)
        return Scope(*parts)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, as a credential says, and which scopes of its tenant it may read and write."""

    tenant: str
    who: str
    roles: frozenset[str] = frozenset()
    reads: frozenset[Scope] = frozenset()
    writes: frozenset[Scope] = frozenset()

    def __post_init__(self) -> None:
        if not self.who:
            raise UsageError("a caller without a name has no rights to hold")
        foreign = sorted(str(s) for s in self.reads | self.writes if s.tenant != self.tenant)
        if foreign:
            raise UsageError(f"{self.who} of {self.tenant} cannot be given rights to {foreign[0]}")

    def may_read(self, scope: Scope) -> bool:
        return scope in self.reads

    def may_write(self, scope: Scope) -> bool:
        """Apart from reading: whoever may write a scope may not by that read it."""
        return scope in self.writes
