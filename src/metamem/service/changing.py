"""Changes of facts that are there: edited, forgotten, restored, superseded, linked.

Whoever changes a fact must see it and may write to its scope. Whoever does not see it is told that
there is no such fact.
"""

from collections.abc import Callable, Mapping
from typing import Any

from metamem.core.access import Caller, Scope
from metamem.core.errors import UsageError
from metamem.service import facts, log, picture
from metamem.service.database import Database
from metamem.service.sight import denied, scope_number, sight
from metamem.service.words import Change, Fact, Lifecycle, LinkKind
from metamem.service.writing.editing import edited
from metamem.service.writing.fields import REASON, Fields
from metamem.store.engine import Execute

Enter = Callable[[Execute, Fact], None]  # told of a change inside its transaction


def unheard(execute: Execute, fact: Fact) -> None:
    """Nobody keeps an audit."""


def edit(
    database: Database, caller: Caller, fact: str, change: Change, enter: Enter = unheard
) -> Fact:
    """Give an active fact another text, type, importance or pin. What it was stays as a version."""
    with database.writing() as execute:
        scope, found = _changeable(database, execute, caller, fact)
        if found.lifecycle != "active":
            raise UsageError(
                f"{found.id} is {found.lifecycle} and is not edited", hint="restore it first"
            )
        columns, entities = edited(found, change, caller)
        if "digest" in columns:
            _refuse_twin(execute, scope, found.id, str(columns["digest"]))
        changed(execute, scope, found, columns, entities, by=caller.who, reason=change.reason)
        after = _read(execute, caller, found.id)
        enter(execute, after)
        return after


def forget(database: Database, caller: Caller, fact: str, reason: str = "") -> Fact:
    """Archive a fact: it is in no recall any more, and can be restored."""
    return move(database, caller, fact, "archived", reason)


def restore(database: Database, caller: Caller, fact: str, reason: str = "") -> Fact:
    return move(database, caller, fact, "active", reason)


def move(
    database: Database,
    caller: Caller,
    fact: str,
    to: Lifecycle,
    reason: str = "",
    enter: Enter = unheard,
) -> Fact:
    """Give a fact another lifecycle. `UsageError` where it has it already or cannot have it."""
    with database.writing() as execute:
        scope, found = _changeable(database, execute, caller, fact)
        if to == "active" and found.lifecycle != "active" and found.type != "turn":
            ((digest,),) = execute("SELECT digest FROM facts WHERE id = ?", (found.id,))
            _refuse_twin(execute, scope, found.id, digest)
        moved(execute, scope, found, to, by=caller.who, reason=reason)
        after = _read(execute, caller, found.id)
        enter(execute, after)
        return after


def supersede(database: Database, caller: Caller, fact: str, by: str, reason: str = "") -> Fact:
    """Say that one fact, which is there, takes the place of another of its scope."""
    with database.writing() as execute:
        scope, found = _changeable(database, execute, caller, fact)
        _, other = _changeable(database, execute, caller, by)
        if found.id == other.id:
            raise UsageError(f"{found.id} cannot take its own place")
        if other.scope != found.scope:
            raise UsageError(f"{found.id} and {other.id} are not in the same scope")
        for each in (found, other):
            if each.lifecycle != "active":
                raise UsageError(f"{each.id} is {each.lifecycle}, not active")
        moved(
            execute,
            scope,
            found,
            "superseded",
            by=caller.who,
            reason=reason or f"superseded by {other.id}",
        )
        linked(execute, scope, other.id, found.id, "supersedes", 1.0, by=caller.who)
        return _read(execute, caller, found.id)


# --- inside a transaction ---


def moved(execute: Execute, scope: int, fact: Fact, to: Lifecycle, *, by: str, reason: str) -> None:
    """Give a fact another lifecycle."""
    if fact.lifecycle == to:
        raise UsageError(f"{fact.id} is {to} already")
    body = {"fact": fact.id, "lifecycle": to, "reason": _kept(reason)}
    _enter(execute, scope, "moved", by, body)


def changed(
    execute: Execute,
    scope: int,
    fact: Fact,
    columns: Mapping[str, Any],
    entities: tuple[str, ...] | None,
    *,
    by: str,
    reason: str,
) -> None:
    """Give a fact other content. What it was stays as a version."""
    body: dict[str, Any] = {"fact": fact.id, "columns": dict(columns), "reason": _kept(reason)}
    if entities is not None:
        body["entities"] = sorted(set(entities))
    _enter(execute, scope, "changed", by, body)


def linked(
    execute: Execute,
    scope: int,
    source: str,
    target: str,
    kind: LinkKind,
    weight: float,
    *,
    by: str,
) -> None:
    """Enter that one fact has to do with another."""
    body = {"source": source, "target": target, "kind": kind, "weight": weight}
    _enter(execute, scope, "linked", by, body)


def _enter(execute: Execute, scope: int, kind: str, by: str, body: Mapping[str, Any]) -> None:
    picture.apply(execute, log.append(execute, scope, kind, by, body))


def _kept(reason: str) -> str:
    return Fields().line(reason, REASON)


def _changeable(
    database: Database, execute: Execute, caller: Caller, fact: str
) -> tuple[int, Fact]:
    """The number of a fact's scope and the fact, which nobody else changes meanwhile."""
    _, found = facts.by_id(execute, sight(execute, caller, "read"), fact)
    scope = Scope.parse(found.scope)
    if not caller.may_write(scope):
        raise denied("write", scope)
    number = scope_number(execute, scope)
    assert number is not None
    database.alone(execute, f"scope {number}")
    return number, _read(execute, caller, found.id)


def _read(execute: Execute, caller: Caller, fact: str) -> Fact:
    return facts.by_id(execute, sight(execute, caller, "read"), fact)[1]


def _refuse_twin(execute: Execute, scope: int, fact: str, digest: str) -> None:
    rows = execute(
        "SELECT id FROM facts WHERE scope = ? AND digest = ? AND lifecycle = 'active' AND id <> ?",
        (scope, digest, fact),
    )
    if rows:
        raise UsageError(
            f"the same is remembered as {rows[0][0]}", hint="change or forget that one instead"
        )
