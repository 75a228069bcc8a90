"""Calls of tools in the picture of the log: rows that halves of one call share, in the order of their coming."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from metamem.core.ids import canonical_json
from metamem.service.log import Event
from metamem.store.engine import Execute
from metamem.store.sql.base import insert

CALLED = "called"  # the kind of an event: a batch of a session's calls
# What an event says of each call; columns of its row have the same names, but for `group`.
GIVEN = (
    "id",
    "tool",
    "arguments",
    "result",
    "error",
    "failed",
    "exit_code",
    "at",
    "milliseconds",
    "prompt",
    "group",
    "agent",
    "redacted",
)
_COLUMNS = ", ".join("call_group" if name == "group" else name for name in (*GIVEN, "rewound"))


def joined(known: Mapping[str, Any], later: Mapping[str, Any]) -> dict[str, Any]:
    """Both halves of a call; what only one of them knows is kept. A call that is told whole again
    stands, though it was taken back once."""
    return {
        "id": known["id"],
        **{
            name: known[name] or later[name]
            for name in ("tool", "arguments", "prompt", "group", "agent")
        },
        **{
            name: known[name] if later[name] is None else later[name]
            for name in ("result", "failed", "exit_code", "milliseconds")
        },
        "at": later["at"] if known["at"] is None else known["at"],
        "error": later["error"] or known["error"],
        "redacted": known["redacted"] or later["redacted"],
        "rewound": known["rewound"] and not later["tool"],
    }


def read_calls(execute: Execute, scope: int, session: str) -> dict[str, dict[str, Any]]:
    """A session's calls in their order, by their ids."""
    rows = execute(
        f"SELECT {_COLUMNS} FROM calls WHERE scope = ? AND session = ? ORDER BY position",
        (scope, session),
    )
    return {row[0]: _of_row(row) for row in rows}


def read_call(execute: Execute, scope: int, session: str, call: str) -> dict[str, Any] | None:
    rows = execute(
        f"SELECT {_COLUMNS} FROM calls WHERE scope = ? AND session = ? AND id = ?",
        (scope, session, call),
    )
    return _of_row(rows[0]) if rows else None


def draw_called(execute: Execute, event: Event, body: Mapping[str, Any]) -> None:
    """Enter a batch: first what was taken back, then what is new or better known."""
    session = body["session"]
    for prompt in body["rewound"]:
        execute(
            "UPDATE calls SET rewound = 1, event = ? WHERE scope = ? AND session = ? AND prompt = ?",
            (event.seq, event.scope, session, prompt),
        )
    for given in body["calls"]:
        known = read_call(execute, event.scope, session, given["id"])
        if known is None:
            ((position,),) = execute(
                "SELECT COALESCE(MAX(position), -1) + 1 FROM calls WHERE scope = ? AND session = ?",
                (event.scope, session),
            )
            whole = {**given, "rewound": False}
        else:
            ((position,),) = execute(
                "DELETE FROM calls WHERE scope = ? AND session = ? AND id = ? RETURNING position",
                (event.scope, session, given["id"]),
            )
            whole = joined(known, given)
        _insert(execute, event, session, position, whole)


def _insert(
    execute: Execute, event: Event, session: str, position: int, call: Mapping[str, Any]
) -> None:
    columns = dict(call)
    columns["call_group"] = columns.pop("group")
    columns |= {
        "scope": event.scope,
        "session": session,
        "position": position,
        "arguments": canonical_json(call["arguments"]),
        "failed": None if call["failed"] is None else int(call["failed"]),
        "redacted": int(call["redacted"]),
        "rewound": int(call["rewound"]),
        "event": event.seq,
    }
    insert(execute, "calls", columns)


def _of_row(row: Sequence[Any]) -> dict[str, Any]:
    call = dict(zip((*GIVEN, "rewound"), row, strict=True))
    call["arguments"] = json.loads(call["arguments"])
    call["failed"] = None if call["failed"] is None else bool(call["failed"])
    return call | {"redacted": bool(call["redacted"]), "rewound": bool(call["rewound"])}
