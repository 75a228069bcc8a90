"""From the log into the stores: uses of tools, and workflows when enough has come to mine again.

Each goes on from its own cursor. What is read may be erased meanwhile: nothing of it may come back, so that
whoever writes looks once more whether a session is still there.
"""

from collections.abc import Sequence
from dataclasses import replace

from metamem.core.amounts import many
from metamem.foundry.acts import MINED_AT, cursor_of, note, set_cursor
from metamem.foundry.tools import deployments, runs, store
from metamem.foundry.tools.site import Site
from metamem.foundry.traces import Changed, Traces, cursor
from metamem.foundry.words import Trace, Workflow
from metamem.foundry.workflows import store as workflows
from metamem.foundry.workflows.mine import mine
from metamem.store.engine import Execute

MINED = 2_000  # sessions, the newest, that are mined together
NEW, SHARE = 5, 0.05  # sessions that came since, and of all that there are, before mining again
DAY = 86_400_000  # milliseconds after which one new session is enough


def take_in_runs(site: Site, traces: Traces) -> int:
    """Join what sessions tell of tools with what was run; how much is new or better known."""
    scope = site.number
    with site.database.reading() as execute:
        after = cursor_of(execute, scope, "tools")
        held = deployments.deployments(execute, scope)
        names = dict(execute("SELECT slot, name FROM tool_slots WHERE scope = ?", (scope,)))
        by_hand = _workflows_of(execute, scope)
    changed = traces.changed(scope, after)
    fresh = 0
    for trace in _read(site, traces, changed) if held else ():
        with site.database.writing() as execute:
            if _is_there(execute, scope, trace.session):
                fresh += runs.take_in(execute, scope, trace, held, names, by_hand)
    with site.database.writing() as execute:
        set_cursor(execute, scope, "tools", cursor(changed, after))
    return fresh


def mine_when_due(site: Site, traces: Traces, at: int) -> tuple[int, int]:
    """How many sessions were mined, and how many occurrences are new; nothing where too little came."""
    scope = site.number
    with site.database.reading() as execute:
        after = cursor_of(execute, scope, "mined")
        last = cursor_of(execute, scope, MINED_AT)
        ((sessions,),) = execute(
            "SELECT COUNT(DISTINCT session) FROM calls WHERE scope = ?", (scope,)
        )
    changed = traces.changed(scope, after)
    if not changed or (len(changed) < max(NEW, round(SHARE * sessions)) and at - last < DAY):
        return 0, 0
    read = _read(site, traces, traces.changed(scope)[-MINED:])
    found = mine(read)
    with site.database.writing() as execute:
        there = {each.session for each in read if _is_there(execute, scope, each.session)}
        fresh = workflows.keep(execute, scope, [_without(each, there) for each in found], read)
        set_cursor(execute, scope, "mined", cursor(changed, after))
        set_cursor(execute, scope, MINED_AT, at)
        if fresh:
            told = f"{many(len(found), 'workflow')} in {many(len(read), 'session')}"
            note(execute, scope, "mined", "", told, at)
    return len(read), fresh


def _read(site: Site, traces: Traces, changed: Sequence[Changed]) -> list[Trace]:
    found = (traces.trace(site.number, each.session) for each in changed)
    return [trace for trace in found if trace is not None]


def _workflows_of(execute: Execute, scope: int) -> dict[str, Workflow]:
    """The workflow of each tool, as it is known now, by slot."""
    known = {
        each.id: each.workflow
        for archived in (False, True)
        for each in workflows.workflows(execute, scope, archived=archived)
    }
    found: dict[str, Workflow] = {}
    for kept in store.tools(execute, scope):
        now = workflows.current(execute, scope, kept.kept_as)
        if now in known:
            found.setdefault(kept.slot, known[now])
    return found


def _is_there(execute: Execute, scope: int, session: str) -> bool:
    return bool(
        execute("SELECT 1 FROM calls WHERE scope = ? AND session = ? LIMIT 1", (scope, session))
    )


def _without(workflow: Workflow, there: set[str]) -> Workflow:
    return replace(
        workflow, occurrences=tuple(one for one in workflow.occurrences if one.session in there)
    )
