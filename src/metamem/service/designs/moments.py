"""Moments of asking: entered, told of, and erased."""

import json
from collections.abc import Mapping
from typing import Any

from metamem.core.access import Caller
from metamem.core.errors import UnknownName
from metamem.core.types import Query
from metamem.service import facts, log, picture
from metamem.service.access.names import same_name
from metamem.service.database import new_id
from metamem.service.designs import replies, trials
from metamem.service.designs.drawing import ASKED, EXPERIENCED, draw_asked, note_outcome
from metamem.service.designs.log import entered
from metamem.service.designs.permission import allow_learning
from metamem.service.designs.trials import Choice
from metamem.service.designs.words import Advised, Back
from metamem.service.log import Event
from metamem.service.sight import sight
from metamem.store.engine import Execute

KINDS = (ASKED, EXPERIENCED)


def new_moment() -> str:
    return new_id("m")


def enter_asked(
    execute: Execute,
    scope: int,
    caller: Caller,
    query: Query,
    session: str,
    choice: Choice,
    advised: Advised,
) -> None:
    """Enter that advice was asked for, and what was told; `choice` says who was to tell it."""
    body = {
        "moment": advised.moment,
        "session": session,
        "query": query.to_json(),
        "advice": advised.text,
        "tokens": advised.tokens,
        "note": advised.note,
        "design": advised.design,
        "comparison": choice.comparison,
        "held_back": choice.held_back,
        "propensity": choice.propensity,
    }
    picture.apply(execute, log.append(execute, scope, ASKED, caller.who, body))


def enter_experience(
    execute: Execute,
    scope: int,
    name: str,
    caller: Caller,
    experience: Mapping[str, Any],
    moment: str,
    useful: tuple[str, ...],
) -> int:
    """Enter an experience, what it came of, and which facts were of use in it; its position."""
    if moment and not execute("SELECT 1 FROM moments WHERE id = ? AND scope = ?", (moment, scope)):
        raise UnknownName(f"there is no moment {moment!r} in {name}", hint="advice names its own")
    if useful:
        view = sight(execute, caller, "read", [name])
        useful = tuple(facts.by_id(execute, view, fact)[1].id for fact in useful)
    body = {"experience": dict(experience), "moment": moment, "useful": list(useful)}
    return entered(execute, scope, caller.who, body)


def told(execute: Execute, scope: int) -> Back:
    """How much came back. Nothing at all is worth a warning: then nothing can be learned."""
    ((asked, outcomes, advised),) = execute(
        "SELECT COUNT(*), COUNT(outcome), COALESCE(SUM(CASE WHEN design <> '' THEN 1 ELSE 0 END), 0)"
        " FROM moments WHERE scope = ?",
        (scope,),
    )
    warning = ""
    if not asked:
        warning = "nobody asked for advice yet"
    elif not outcomes:
        warning = f"of {asked} moments none has an outcome: name the moment with each experience"
    return Back(asked, advised, outcomes, warning)


def erase_moments(execute: Execute, scope: int, person: str) -> dict[str, int]:
    """Of a scope, or of one person in it: moments, experiences that they told or speak in, what models
    said of these, and what chance was drawn for. Positions of experiences stay, and nothing is
    there."""
    before = _count(execute, scope)
    gone: list[int] = []
    for event in _events(execute, scope):
        assert event.body is not None
        if not person or same_name(event.actor, person) or _speaks(event.body, person):
            execute("DELETE FROM event_bodies WHERE seq = ?", (event.seq,))
            if event.kind == EXPERIENCED:
                gone.append(event.seq)
    said = replies.forget(execute, scope, _first(execute, gone) if person else 0)
    execute("DELETE FROM moments WHERE scope = ?", (scope,))
    for event in _events(execute, scope):
        assert event.body is not None
        if event.kind == ASKED:
            draw_asked(execute, event, event.body)
        else:
            note_outcome(execute, scope, event.body)
    if not person:
        trials.end(execute, scope)
        allow_learning(execute, scope, False)
    execute("UPDATE scopes SET generation = generation + 1 WHERE number = ?", (scope,))
    moments = before - _count(execute, scope)
    return {"moments": moments, "experiences": len(gone), "model_replies": said}


def _first(execute: Execute, events: list[int]) -> int | None:
    """The position of the first of some experiences, in the order of their coming."""
    if not events:
        return None
    ((position,),) = execute("SELECT position FROM experiences WHERE event = ?", (events[0],))
    return int(position)


def _speaks(body: Mapping[str, Any], person: str) -> bool:
    messages = body.get("experience", {}).get("messages", ())
    return any(same_name(speaker, person) for speaker, _, _ in messages)


def _count(execute: Execute, scope: int) -> int:
    ((count,),) = execute("SELECT COUNT(*) FROM moments WHERE scope = ?", (scope,))
    return int(count)


def _events(execute: Execute, scope: int) -> list[Event]:
    rows = execute(
        "SELECT e.seq, e.id, e.scope, e.kind, e.actor, e.at, b.body FROM events e"
        " JOIN event_bodies b ON b.seq = e.seq"
        " WHERE e.scope = ? AND e.kind IN (?, ?) ORDER BY e.seq",
        (scope, *KINDS),
    )
    return [
        Event(seq, event_id, number, kind, actor, at, json.loads(body))
        for seq, event_id, number, kind, actor, at, body in rows
    ]
