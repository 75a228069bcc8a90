"""The files that a session began with, in the picture of the log: a commit and what was changed since.

The first word of a session's tree is kept; what is said later is of files that it may have changed.
"""

from collections.abc import Mapping
from typing import Any

from metamem.service.log import Event
from metamem.service.words import Tree
from metamem.store.engine import Execute
from metamem.store.sql.base import insert

BEGAN = "began"  # the kind of an event: a session with the tree that it found


def read_tree(execute: Execute, scope: int, session: str) -> Tree | None:
    rows = execute(
        "SELECT folder, base, diff, at, whole FROM trees WHERE scope = ? AND session = ?",
        (scope, session),
    )
    if not rows:
        return None
    folder, commit, diff, at, whole = rows[0]
    return Tree(folder, commit, diff, at, bool(whole))


def tree_known(execute: Execute, scope: int, session: str) -> bool:
    """Whether it is too late to say with what a session began: it is known, or tools were used."""
    return bool(
        execute(
            "SELECT 1 FROM trees WHERE scope = ? AND session = ? UNION"
            " SELECT 1 FROM calls WHERE scope = ? AND session = ?",
            (scope, session, scope, session),
        )
    )


def draw_began(execute: Execute, event: Event, body: Mapping[str, Any]) -> None:
    if read_tree(execute, event.scope, body["session"]) is not None:
        return
    tree = body["tree"]
    columns = {
        "scope": event.scope,
        "session": body["session"],
        "folder": tree["folder"],
        "base": tree["commit"],
        "diff": tree["diff"],
        "at": tree["at"],
        "whole": int(tree["whole"]),
        "event": event.seq,
    }
    insert(execute, "trees", columns)
