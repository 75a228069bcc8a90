"""What the events of served designs draw: positions of experiences, and moments of asking."""

from collections.abc import Mapping
from typing import Any

from metamem.service.log import Event
from metamem.store.engine import Execute
from metamem.store.sql.base import insert

ASKED = "asked"
EXPERIENCED = "experienced"
# What the body of an event of kind `asked` says that is also a column of its moment.
_TOLD = ("session", "comparison", "design", "held_back", "propensity")


def draw_asked(execute: Execute, event: Event, body: Mapping[str, Any]) -> None:
    """A moment, nothing of whose outcome is known yet."""
    columns = {name: body[name] for name in _TOLD}
    columns |= {"id": body["moment"], "scope": event.scope, "event": event.seq}
    insert(execute, "moments", {**columns, "at": event.at, "who": event.actor})


def draw_experienced(execute: Execute, event: Event) -> None:
    """The next position, whether or not anything is there any more; and the outcome of the moment
    that it came of. The newest outcome counts."""
    execute(
        "INSERT INTO experiences (scope, position, event)"
        " SELECT ?, COALESCE(MAX(position) + 1, 0), ? FROM experiences WHERE scope = ?",
        (event.scope, event.seq, event.scope),
    )
    if event.body is not None:
        note_outcome(execute, event.scope, event.body)


def note_outcome(execute: Execute, scope: int, body: Mapping[str, Any]) -> None:
    if body["moment"]:
        execute(
            "UPDATE moments SET outcome = ? WHERE id = ? AND scope = ?",
            (body["experience"]["reward"], body["moment"], scope),
        )
