"""Which scopes a caller's question may touch. Every query of the service is made through one of these.

What a caller may not see and what is not there get the same answer.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from metamem.core.access import Caller, Scope
from metamem.core.errors import Denied
from metamem.store.engine import Execute, Value

Right = Literal["read", "write", "manage"]
AT_ONCE = 500  # scopes of one query
FEW = 20  # scopes that are looked at whether or not they hold anything


@dataclass(frozen=True, slots=True)
class Sight:
    """Scopes that were found to be allowed, by their numbers in the database."""

    scopes: Mapping[int, Scope]

    def within(self, column: str) -> tuple[str, list[Value]]:
        """The condition that a row belongs to one of the scopes, and its values."""
        if not self.scopes:
            return "1 = 0", []
        return f"{column} IN ({', '.join('?' * len(self.scopes))})", list(self.scopes)


def sight(execute: Execute, caller: Caller, right: Right, names: Sequence[str] = ()) -> Sight:
    """The scopes that a caller named, or all that it has the right to. `Denied` for any other."""
    allowed = {"read": caller.reads, "write": caller.writes, "manage": caller.manages}[right]
    wanted = allowed
    if names:
        wanted = frozenset(Scope.parse(name) for name in names)
        for scope in sorted(wanted - allowed):
            raise denied(right, scope)
    found = _numbers(execute, wanted)
    if names:
        for scope in sorted(wanted - found.keys()):
            raise denied(right, scope)
    return Sight({found[scope]: scope for scope in sorted(found)})


def inhabited(execute: Execute, view: Sight) -> Sight:
    """The same without scopes that hold nothing to recall, where there are many: each costs time.
    One stays, so that what was asked is known to be of somebody's scopes."""
    if len(view.scopes) <= FEW:
        return view
    where, values = view.within("s.number")
    found = execute(
        f"SELECT s.number FROM scopes s WHERE {where} AND EXISTS"
        " (SELECT 1 FROM facts f WHERE f.scope = s.number AND f.lifecycle = 'active')",
        values,
    )
    numbers = sorted(number for (number,) in found) or list(view.scopes)[:1]
    return Sight({number: view.scopes[number] for number in numbers})


def _numbers(execute: Execute, scopes: Iterable[Scope]) -> dict[Scope, int]:
    """The numbers of those scopes that are there, some hundred with each query."""
    together: dict[tuple[str, str], list[str]] = {}
    for scope in scopes:
        together.setdefault((scope.tenant, scope.kind), []).append(scope.name)
    found: dict[Scope, int] = {}
    for (tenant, kind), names in together.items():
        for start in range(0, len(names), AT_ONCE):
            some = names[start : start + AT_ONCE]
            for name, number in execute(
                "SELECT name, number FROM scopes WHERE tenant = ? AND kind = ?"
                f" AND name IN ({', '.join('?' * len(some))}) AND erased_at IS NULL",
                (tenant, kind, *some),
            ):
                found[Scope(tenant, kind, name)] = int(number)
    return found


def scope_number(execute: Execute, scope: Scope) -> int | None:
    found = execute(
        "SELECT number FROM scopes WHERE tenant = ? AND kind = ? AND name = ?"
        " AND erased_at IS NULL",
        (scope.tenant, scope.kind, scope.name),
    )
    return int(found[0][0]) if found else None


def denied(right: Right, scope: Scope) -> Denied:
    return Denied(
        f"no right to {right} {scope}, or there is no such scope",
        hint="ask one of its managers, or use a key that has it; `metamem scopes` lists yours,"
        " `metamem scopes add` makes one",
    )
