"""Tools that were made of what somebody had erased go with it.

Of a tool it is known which cases it was written from. Where one of them is no longer in the log, the tool is
withdrawn: its program holds what those cases had in common. `forget` takes its rows out inside the transaction
of the erasure; `ToolsEraser` then takes it out of use in the ledger, and out of the repository and the skills. A
repository keeps no history of what was erased: what is still in use begins a new one.
"""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from metamem.core.access import Scope
from metamem.foundry.tools import skills, store
from metamem.foundry.tools.by_handoff import requests_of
from metamem.foundry.tools.deploying import recommitted
from metamem.foundry.tools.repository import removed
from metamem.foundry.tools.site import ARCHIVE, Site, tools_archive, tools_database
from metamem.foundry.tools.tables import TOOLS
from metamem.service.erasers import BY, WHY
from metamem.store.engine import Execute
from metamem.store.schema import VERSION_TABLE

_OF_TOOL = ("tool_cases", "tool_replays", "tool_runs", "tool_deployments")
_OF_SCOPE = ("foundry_acts", "tool_judgements", "foundry_cursors", "tool_by_hand")


def forget(execute: Execute) -> Mapping[str, int]:
    """How many tools and runs went. None where the tables were never made."""
    if not execute(f"SELECT 1 FROM {VERSION_TABLE} WHERE component = ?", (TOOLS.name,)):
        return {"tools": 0, "tool runs": 0}
    gone = execute(
        "SELECT DISTINCT scope, tool FROM tool_cases WHERE held_out = 0 AND "
        + _lost("tool_cases", "first_use")
        + f" UNION SELECT scope, id FROM tools WHERE {_empty('tools')}"
    )
    for scope, tool in gone:
        for table in _OF_TOOL:
            execute(f"DELETE FROM {table} WHERE scope = ? AND tool = ?", (scope, tool))
        execute("DELETE FROM tools WHERE scope = ? AND id = ?", (scope, tool))
        # Why something was done may be told in words that were erased.
        for table, column in (("foundry_acts", "subject"), ("tool_judgements", "tool")):
            execute(f"DELETE FROM {table} WHERE scope = ? AND {column} = ?", (scope, tool))
    for table in _OF_SCOPE:
        execute(f"DELETE FROM {table} WHERE {_empty(table)}")
    execute(f"DELETE FROM tool_cases WHERE {_lost('tool_cases', 'first_use')}")
    execute(f"DELETE FROM tool_by_hand WHERE {_lost('tool_by_hand', 'first_use')}")
    uses = execute(
        f"DELETE FROM tool_runs WHERE use_id <> '' AND {_lost('tool_runs', 'use_id')} RETURNING 1"
    )
    # Why a replay came out as it did may quote a file; those of tools that are not kept only save time.
    execute(
        "DELETE FROM tool_replays WHERE NOT EXISTS (SELECT 1 FROM tools t"
        " WHERE t.scope = tool_replays.scope AND t.id = tool_replays.tool)"
    )
    execute(
        "DELETE FROM tool_slots WHERE NOT EXISTS (SELECT 1 FROM tools t"
        " WHERE t.scope = tool_slots.scope AND t.slot = tool_slots.slot)"
    )
    return {"tools": len(gone), "tool runs": len(uses)}


class ToolsEraser:
    """After the rows: the ledger, the repository and the skills of a scope."""

    def __init__(self, memory: Path) -> None:
        self._memory = memory

    def erase(self, scope: Scope, person: str, texts: Sequence[str]) -> Mapping[str, int]:
        # Requests hold recorded cases; what is still wanted is asked for again.
        shutil.rmtree(requests_of(self._memory, scope), ignore_errors=True)
        if not (self._memory / ARCHIVE).is_file():
            return {}  # nothing was ever decided about tools here
        database = tools_database(self._memory, create=False)
        try:
            with database.reading() as execute:
                number = _number(execute, scope)
            if number is None:
                return {}
            with tools_archive(self._memory) as archive:
                return _erased(Site(self._memory, database, archive, scope, number))
        finally:
            database.close()


def _erased(site: Site) -> Mapping[str, int]:
    with site.database.reading() as execute:
        left = {each.id for each in store.tools(execute, site.number)}
        left |= {each.id for each in store.tools(execute, site.number, archived=True)}
        slots = {slot for (slot,) in execute("SELECT slot FROM tool_slots WHERE scope = ?", (site.number,))}  # fmt: skip
        noted = execute("SELECT DISTINCT slot FROM tool_skills WHERE scope = ?", (site.number,))
    ledger, withdrawn = site.ledger, 0
    for standing in ledger.all_standing():
        for waits, entries in ((True, standing.pending), (False, standing.applied)):
            for entry in entries:
                about = entry.subject
                if about.kind != "tool" or entry.place != site.place or about.id in left:
                    continue
                decide = ledger.reject if waits else ledger.undo
                decide(about, site.place, by=BY, reason=WHY)
                withdrawn += 1
    files = sum(
        skills.remove(site.database, site.number, slot) for (slot,) in noted if slot not in slots
    )
    removed(site.repository.folder)
    recommitted(site)
    return {"tools in use": withdrawn, "skills": files}


def _number(execute: Execute, scope: Scope) -> int | None:
    """Also of a scope that was just erased."""
    found = execute(
        "SELECT number FROM scopes WHERE tenant = ? AND kind = ? AND name = ?",
        (scope.tenant, scope.kind, scope.name),
    )
    return int(found[0][0]) if found else None


def _lost(table: str, column: str) -> str:
    """That the call of a row is no longer in the log."""
    return (
        f"NOT EXISTS (SELECT 1 FROM calls c WHERE c.scope = {table}.scope"
        f" AND c.session = {table}.session AND c.id = {table}.{column})"
    )


def _empty(table: str) -> str:
    """That no call of a row's scope is in the log."""
    return f"NOT EXISTS (SELECT 1 FROM calls c WHERE c.scope = {table}.scope)"
