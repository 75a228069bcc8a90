"""Who may read and write what. Scopes name what memories belong to; a caller has no rights by default.

A caller is made from a credential by whoever checked it, never from anything that an agent or a
model wrote.
"""

import re
import sys
from dataclasses import dataclass
from typing import Literal

from metamem.core.errors import UsageError

CallerKind = Literal["owner", "person", "agent"]  # owner: of the file, and what works for them
_KIND = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_PLAIN = "A-Za-z0-9._@+-"  # no "/": that keeps the parts apart
_TENANT = re.compile(rf"[A-Za-z0-9][{_PLAIN}]{{0,127}}")
_FORM = (
    "TENANT/KIND/NAME, as in acme/project/webshop; a name has letters, digits and . _ @ + -, and a"
    " slash in it is written ~~"
)

# A name holds any text: what is not plain stands as its code between two tildes, and a slash, which
# paths and addresses have, as two tildes. A name that is plain is its own text.
_LONGEST = 255  # as file systems have it
_WRITTEN = re.compile(rf"(?:[{_PLAIN}]|~[0-9a-f]*~)+")
_ODD = re.compile(rf"[^{_PLAIN}]|^[^A-Za-z0-9]")
_CODE = re.compile("~([0-9a-f]*)~")


@dataclass(frozen=True, slots=True, order=True)
class Scope:
    """What a memory belongs to: a name of some kind, within one tenant.

    Its text is `tenant/kind/name`. Equal scopes have equal texts, and no other scope has it.
    """

    tenant: str
    kind: str  # user, project, team, ...: what there is, the service says
    name: str

    def __post_init__(self) -> None:
        for what, fits in (
            ("tenant", _TENANT.fullmatch),
            ("kind", _KIND.fullmatch),
            ("name", _fits),
        ):
            value = getattr(self, what)
            if not isinstance(value, str) or not fits(value):
                raise UsageError(f"{value!r} cannot be the {what} of a scope", hint=_FORM)

    @staticmethod
    def of(tenant: str, kind: str, label: str) -> "Scope":
        """The scope whose name is any text: an address, a path, words of any language.

        `github.com/acme/web` is named `github.com~~acme~~web`, and `jürgen` is `j~fc~rgen`.
        """
        if not isinstance(label, str) or not label:
            raise UsageError(f"{label!r} cannot be what a scope is called", hint="some text")
        name = _written(label)
        if len(name) > _LONGEST:
            raise UsageError(
                f"{label[:40]!r}... is too long to be what a scope is called",
                hint=f"it takes {len(name)} signs to write it, and {_LONGEST} are allowed",
            )
        return Scope(tenant, kind, name)

    @property
    def label(self) -> str:
        """The name as people wrote it: `Scope.of` makes this scope of it."""
        return _read(self.name)

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
    """Who calls, as a credential says, and which scopes of its tenant it may read, write and manage."""

    tenant: str
    who: str
    roles: frozenset[str] = frozenset()  # in the tenant as a whole
    reads: frozenset[Scope] = frozenset()
    writes: frozenset[Scope] = frozenset()
    manages: frozenset[Scope] = frozenset()
    key: str = ""  # the id of the credential, where it has one; never the secret
    kind: CallerKind = "person"  # how far the caller's words can be believed

    def __post_init__(self) -> None:
        if not isinstance(self.who, str) or not self.who.strip():
            raise UsageError("a caller without a name has no rights to hold")
        if self.who != self.who.strip() or not self.who.isprintable():
            raise UsageError(f"{self.who!r} cannot be who calls", hint="a name on one line")
        if not isinstance(self.tenant, str) or not _TENANT.fullmatch(self.tenant):
            raise UsageError(f"{self.tenant!r} cannot be the tenant of a caller", hint=_FORM)
        given = self.reads | self.writes | self.manages
        foreign = sorted(str(scope) for scope in given if scope.tenant != self.tenant)
        if foreign:
            raise UsageError(f"{self.who} of {self.tenant} cannot be given rights to {foreign[0]}")

    def may_read(self, scope: Scope) -> bool:
        return scope in self.reads

    def may_write(self, scope: Scope) -> bool:
        """Apart from reading: whoever may write a scope may not by that read it."""
        return scope in self.writes


def _written(label: str) -> str:
    return _ODD.sub(lambda odd: "~~" if odd[0] == "/" else f"~{ord(odd[0]):x}~", label)


def _read(name: str) -> str:
    return _CODE.sub(lambda code: chr(int(code[1], 16)) if code[1] else "/", name)


def _fits(name: str) -> bool:
    """Whether it is how some text is written, and the one way to write it."""
    if len(name) > _LONGEST or not _WRITTEN.fullmatch(name):
        return False
    codes = (int(code, 16) for code in _CODE.findall(name) if code)
    return all(code <= sys.maxunicode for code in codes) and _written(_read(name)) == name
