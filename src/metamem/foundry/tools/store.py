"""Tools of a scope: what was written, how it was judged, and how each stands.

Every function runs inside a block of a database. A tool is one version; a *slot* is what all versions of it
share: the name by which it is called, and its history in the ledger.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from metamem.core.errors import UnknownName, UsageError
from metamem.core.ids import canonical_json, content_id
from metamem.foundry.tools.tool import Given, Tool
from metamem.foundry.tools.verdict import Replayed
from metamem.foundry.workflows.store import current
from metamem.service.database import Database
from metamem.store.engine import Execute
from metamem.store.sql.base import insert, insert_new

ACTIVE = 1_000  # tools of a scope; the rest is archived
LONGEST = 45  # of a name: hosts put a server's name before it, and allow 64 in all
State = Literal["refused", "waits", "approved", "rejected", "undone", "disabled"]
STANDING: tuple[State, ...] = ("waits", "approved")  # never put away
_ODD = re.compile(r"[^a-z0-9_]+")
_COLUMNS = (
    "t.id, t.slot, s.name, t.title, t.description, t.program, t.given, t.workflow, t.kept_as,"
    " t.writer, t.state, t.lower, t.within, t.made_at, t.archived"
)
_FROM = "FROM tools t JOIN tool_slots s ON s.scope = t.scope AND s.slot = t.slot"


@dataclass(frozen=True, slots=True)
class Measured:
    """What one time of doing a workflow by hand cost."""

    session: str
    first_use: str
    held_out: bool
    calls: int
    tokens: int
    milliseconds: int


@dataclass(frozen=True, slots=True)
class Kept:
    """A tool as it stands in the store."""

    tool: Tool
    slot: str
    name: str  # by which it is called, whatever version it is
    kept_as: str  # the id of its workflow in the store of workflows, when it was written
    state: State
    lower: float  # of the share of equal effects, when it was judged
    within: str  # the folder of the tree that it works in; empty: the one that it is called for
    made_at: int
    archived: bool

    @property
    def id(self) -> str:
        return self.tool.id


def keep(
    execute: Execute,
    scope: int,
    tool: Tool,
    kept_as: str,
    *,
    state: State,
    at: int,
    lower: float = 0.0,
    within: str = ".",
    cases: Iterable[Measured] = (),
    replays: Iterable[Replayed] = (),
) -> Kept:
    """Enter a tool with what it was written from and how it did. The same again is judged anew."""
    slot = slot_of(execute, scope, kept_as)
    _name_slot(execute, scope, slot, tool.name)
    execute("DELETE FROM tools WHERE scope = ? AND id = ?", (scope, tool.id))
    insert(execute, "tools", {
        "scope": scope, "id": tool.id, "slot": slot, "title": tool.name,
        "description": tool.description, "program": tool.program,
        "given": canonical_json([asdict(each) for each in tool.given]), "workflow": tool.workflow,
        "kept_as": kept_as, "writer": tool.writer, "state": state, "lower": lower, "within": within,
        "made_at": at, "archived": 0,
    })  # fmt: skip
    execute("DELETE FROM tool_cases WHERE scope = ? AND tool = ?", (scope, tool.id))
    for case in cases:
        insert(execute, "tool_cases", {
            "scope": scope, "tool": tool.id, "session": case.session, "first_use": case.first_use,
            "held_out": int(case.held_out), "calls": case.calls, "tokens": case.tokens,
            "milliseconds": case.milliseconds,
        })  # fmt: skip
    for replay in replays:
        _enter_replay(execute, scope, tool.id, replay)
    archive_rest(execute, scope)
    return tool_of(execute, scope, tool.id)


def slot_of(execute: Execute, scope: int, workflow: str) -> str:
    """The slot of a workflow's tools; also where the workflow has become another since."""
    rows = execute("SELECT DISTINCT slot, kept_as FROM tools WHERE scope = ?", (scope,))
    for slot, kept_as in sorted(rows):
        if current(execute, scope, kept_as) == current(execute, scope, workflow):
            return str(slot)
    return f"t{content_id('slot', workflow)[:12]}"


def tools(execute: Execute, scope: int, *, archived: bool = False) -> list[Kept]:
    """Those of a scope, the newest first."""
    rows = execute(
        f"SELECT {_COLUMNS} {_FROM} WHERE t.scope = ? AND t.archived = ?"
        " ORDER BY t.made_at DESC, t.id",
        (scope, int(archived)),
    )
    return [_kept(row) for row in rows]


def tool_of(execute: Execute, scope: int, identifier: str) -> Kept:
    """One version, by its id."""
    rows = execute(f"SELECT {_COLUMNS} {_FROM} WHERE t.scope = ? AND t.id = ?", (scope, identifier))
    if not rows:
        raise UnknownName(f"there is no tool {identifier} here", hint="it may have been erased")
    return _kept(rows[0])


def has(execute: Execute, scope: int, identifier: str) -> bool:
    """Whether a tool is there, and is what its id says."""
    rows = execute(
        "SELECT title, program FROM tools WHERE scope = ? AND id = ?", (scope, identifier)
    )
    return bool(rows) and content_id(*rows[0]) == identifier


def versions(execute: Execute, scope: int, slot: str) -> list[Kept]:
    """All versions of one tool, the oldest first."""
    rows = execute(
        f"SELECT {_COLUMNS} {_FROM} WHERE t.scope = ? AND t.slot = ? ORDER BY t.made_at, t.id",
        (scope, slot),
    )
    return [_kept(row) for row in rows]


def all_names(execute: Execute) -> dict[str, str]:
    """What the tools of all scopes are called, by their ids: for the owner of the file."""
    return dict(execute(f"SELECT t.id, s.name {_FROM}"))


def measured(execute: Execute, scope: int, identifier: str) -> list[Measured]:
    """What the workflow cost by hand, in the cases that were known when the tool was judged."""
    rows = execute(
        "SELECT session, first_use, held_out, calls, tokens, milliseconds FROM tool_cases"
        " WHERE scope = ? AND tool = ? ORDER BY session, first_use",
        (scope, identifier),
    )
    return [Measured(s, first, bool(held), c, t, ms) for s, first, held, c, t, ms in rows]


def replays(execute: Execute, scope: int, identifier: str) -> list[Replayed]:
    rows = execute(
        "SELECT case_id, equal, why FROM tool_replays WHERE scope = ? AND tool = ? ORDER BY case_id",
        (scope, identifier),
    )
    return [
        Replayed(case, None if equal is None else bool(equal), why) for case, equal, why in rows
    ]


class StoredReplays:
    """Replays that were made before, also of tools that did not come so far as to be kept: to judge again
    costs new cases alone."""

    def __init__(self, database: Database, scope: int) -> None:
        self._database, self._scope = database, scope

    def known(self, tool: str, case: str) -> Replayed | None:
        with self._database.reading() as execute:
            rows = execute(
                "SELECT equal, why FROM tool_replays WHERE scope = ? AND tool = ? AND case_id = ?",
                (self._scope, tool, case),
            )
        return Replayed(case, None if rows[0][0] is None else bool(rows[0][0]), rows[0][1]) if rows else None  # fmt: skip

    def keep(self, tool: str, replayed: Replayed) -> None:
        with self._database.writing() as execute:
            _enter_replay(execute, self._scope, tool, replayed)


def set_state(execute: Execute, scope: int, identifier: str, state: State) -> None:
    execute("UPDATE tools SET state = ? WHERE scope = ? AND id = ?", (state, scope, identifier))


def archive_rest(execute: Execute, scope: int, most: int = ACTIVE) -> int:
    """Put away the oldest beyond the most that may be active; what is in use or waits stays."""
    marks = ", ".join("?" * len(STANDING))
    rows = execute(
        "SELECT id, state FROM tools WHERE scope = ? AND archived = 0"
        f" ORDER BY state IN ({marks}) DESC, restored_at DESC, made_at DESC, id",
        (scope, *STANDING),
    )
    away = [identifier for identifier, state in rows[most:] if state not in STANDING]
    for identifier in away:
        _set_archived(execute, scope, identifier, True)
    return len(away)


def restore(execute: Execute, scope: int, identifier: str, *, at: int) -> None:
    """Make an archived tool active again; another gives its place where there is none. Whether it is
    in use is the ledger's to say."""
    if not execute("SELECT 1 FROM tools WHERE scope = ? AND id = ?", (scope, identifier)):
        raise UsageError(f"there is no tool {identifier}", hint="list the archived ones")
    archive_rest(execute, scope, ACTIVE - 1)
    _set_archived(execute, scope, identifier, False, at)


def archive_unused(execute: Execute, scope: int, before: int) -> int:
    """Put away what was written before that time and is neither in use nor waits; how many that were."""
    marks = ", ".join("?" * len(STANDING))
    rows = execute(
        "UPDATE tools SET archived = 1, restored_at = 0"
        " WHERE scope = ? AND archived = 0 AND restored_at < ? AND made_at < ?"
        f" AND state NOT IN ({marks}) RETURNING id",
        (scope, before, before, *STANDING),
    )
    return len(rows)


def _name_slot(execute: Execute, scope: int, slot: str, wished: str) -> None:
    """The first version names it. A name that another has is told apart by the slot."""
    name = _ODD.sub("_", wished.lower()).strip("_")
    if len(name) > LONGEST:
        head, _, tail = name.rpartition("_")
        name = f"{head[: LONGEST - len(tail) - 1].rstrip('_')}_{tail}"[-LONGEST:]
    for tried in (name, f"{name[: LONGEST - 7]}_{slot[1:7]}"):
        if tried and insert_new(
            execute, "tool_slots", {"scope": scope, "slot": slot, "name": tried}
        ):
            return
        if execute("SELECT 1 FROM tool_slots WHERE scope = ? AND slot = ?", (scope, slot)):
            return


def _enter_replay(execute: Execute, scope: int, tool: str, replay: Replayed) -> None:
    equal = None if replay.equal is None else int(replay.equal)
    execute(
        "INSERT INTO tool_replays (scope, tool, case_id, equal, why) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (scope, tool, case_id) DO UPDATE SET equal = excluded.equal, why = excluded.why",
        (scope, tool, replay.case, equal, replay.why),
    )


def _set_archived(
    execute: Execute, scope: int, identifier: str, archived: bool, restored_at: int = 0
) -> None:
    execute(
        "UPDATE tools SET archived = ?, restored_at = ? WHERE scope = ? AND id = ?",
        (int(archived), restored_at, scope, identifier),
    )


def _kept(row: Sequence[Any]) -> Kept:
    (_, slot, name, title, description, program, given, workflow, kept_as, writer, state, lower,
     within, at, away) = row  # fmt: skip
    asked = tuple(
        Given(
            each["name"],
            each["kind"],
            each["required"],
            tuple(each["examples"]),
            each.get("about", ""),
        )
        for each in json.loads(given)
    )
    tool = Tool(title, description, program, asked, workflow, writer)
    return Kept(tool, slot, name, kept_as, state, lower, within, at, bool(away))
