"""The event log: every change of a fact is an event first, and the facts are a picture of it."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from metamem.core.ids import canonical_json, content_id
from metamem.service.database import new_id, now_ms
from metamem.store.engine import Execute
from metamem.store.sql.base import insert

READ_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a scope. `body` is None where it was erased."""

    seq: int
    id: str
    scope: int
    kind: str
    actor: str
    at: int
    body: Mapping[str, Any] | None


def append(
    execute: Execute, scope: int, kind: str, actor: str, body: Mapping[str, Any], *, at: int = 0
) -> Event:
    """Enter an event, inside the transaction that also brings the picture up to date."""
    text = canonical_json(body)
    event_id, when = new_id("e"), at or now_ms()
    ((seq,),) = execute(
        "INSERT INTO events (id, scope, kind, actor, at, digest) VALUES (?, ?, ?, ?, ?, ?)"
        " RETURNING seq",
        (event_id, scope, kind, actor, when, content_id(text)),
    )
    insert(execute, "event_bodies", {"seq": seq, "body": text})
    return Event(int(seq), event_id, scope, kind, actor, when, body)


def events(execute: Execute, *, after: int = 0) -> Iterator[Event]:
    """All events in their order, those that were erased without a body."""
    while True:
        rows = execute(
            "SELECT e.seq, e.id, e.scope, e.kind, e.actor, e.at, b.body FROM events e"
            " LEFT JOIN event_bodies b ON b.seq = e.seq WHERE e.seq > ? ORDER BY e.seq LIMIT ?",
            (after, READ_AT_ONCE),
        )
        for seq, event_id, scope, kind, actor, at, body in rows:
            yield Event(
                seq, event_id, scope, kind, actor, at, None if body is None else json.loads(body)
            )
        if len(rows) < READ_AT_ONCE:
            return
        after = rows[-1][0]
