"""Which scopes are meant where nobody names one: the project of the folder, and the user's own.

Only commands and tools that act for a person choose so; the service itself takes no hint from
where somebody is.
"""

from dataclasses import dataclass
from pathlib import Path

from metamem.core.access import Scope
from metamem.core.errors import Denied, UsageError
from metamem.service.access.names import OWN
from metamem.service.access.projects import project_of
from metamem.service.administers import Connected, Me


@dataclass(frozen=True, slots=True)
class Defaults:
    """Where one is, and with what."""

    service: Connected
    folder: Path | None  # None: nowhere, as a server is

    def written(self, named: str = "") -> str:
        """The scope to write to; made where it is not there and the caller may make it."""
        me = self.service.administration.me()
        scope = str(full(named, me)) if named else self._usual(me)
        if scope not in me.writes and "member" in me.roles:
            self.service.administration.add_scope(scope)
        return scope

    def read(self, named: list[str] | tuple[str, ...] = ()) -> tuple[str, ...]:
        """The scopes to read: those that are named, or those of the defaults that are there."""
        me = self.service.administration.me()
        if named:
            return tuple(str(full(name, me)) for name in named)
        if self.folder is None:
            return me.reads
        wanted = (str(project_of(self.folder, me.tenant).scope), str(own(me)))
        return tuple(scope for scope in wanted if scope in me.reads)

    def _usual(self, me: Me) -> str:
        if self.folder is not None:
            return str(project_of(self.folder, me.tenant).scope)
        mine = str(own(me))
        if mine in me.writes or "member" in me.roles:
            return mine  # also where the only scope so far is one that others read
        if len(me.writes) == 1:
            return me.writes[0]
        if not me.writes:
            raise Denied("this key may write to no scope")
        raise UsageError("which scope?", hint=f"one of: {', '.join(me.writes[:20])}")


def own(me: Me) -> Scope:
    """The scope of the caller alone."""
    return Scope(me.tenant, OWN, me.who)


def full(name: str, me: Me) -> Scope:
    """A scope by its whole name, by KIND/NAME, or `own`."""
    if name == "own":
        return own(me)
    parts = name.split("/")
    if len(parts) == 2:
        return Scope(me.tenant, *parts)
    return Scope.parse(name)


def whole(name: str, service: Connected) -> str:
    """The whole name of a scope that the caller may have said in short."""
    return str(full(name, service.administration.me()))
