"""Workflows of a scope and where they were carried out.

Every function runs inside a block of a database. Traces may be mined again, also when there are more of
them: a use belongs to one occurrence and an occurrence to the workflow in which it was found last. Where
more traces have made of a workflow another one, the new one takes its occurrences and succeeds it.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from metamem.core.errors import UsageError
from metamem.core.ids import canonical_json
from metamem.foundry.words import (
    Flow,
    Occurrence,
    Parameter,
    Step,
    Trace,
    Workflow,
    template_json,
    template_of,
)
from metamem.foundry.workflows.goals import goal_of, served, wording
from metamem.foundry.workflows.match import rounds
from metamem.foundry.workflows.unify import Values, unified
from metamem.store.engine import Execute
from metamem.store.sql.base import insert, insert_new

ACTIVE = 1_000  # workflows of a scope; the rest is archived
_EXAMPLES = 3
_TABLES = ("workflows", "workflow_occurrences", "workflow_uses", "workflow_successors")


@dataclass(frozen=True, slots=True)
class Kept:
    """A workflow as it stands in the store."""

    workflow: Workflow  # without its occurrences
    id: str
    uses: int
    successes: int
    sessions: int
    first_at: int
    last_at: int
    archived: int  # 1 where it was put away


def keep(
    execute: Execute, scope: int, workflows: Iterable[Workflow], traces: Iterable[Trace]
) -> int:
    """Enter what was mined from these traces; how many occurrences are new."""
    known = {trace.session: trace for trace in traces}
    fresh, touched = 0, set()
    for workflow in workflows:
        insert_new(execute, "workflows", {
            "scope": scope, "id": workflow.id, "goal": workflow.goal,
            "steps": canonical_json([_step_json(step) for step in workflow.steps]),
            "parameters": canonical_json([_parameter_json(p) for p in workflow.parameters]),
            "uses": 0, "successes": 0, "sessions": 0, "first_at": 0, "last_at": 0, "archived": 0,
        })  # fmt: skip
        execute("DELETE FROM workflow_successors WHERE scope = ? AND id = ?", (scope, workflow.id))
        touched.add(workflow.id)
        for occurrence in workflow.occurrences:
            before = _overlapping(execute, scope, occurrence)
            fresh += not before
            for first, owner in before.items():
                _forget(execute, scope, occurrence.session, first)
                if owner != workflow.id:
                    touched.add(owner)
                    _succeed(execute, scope, owner, workflow.id)
            _enter(execute, scope, workflow.id, occurrence, known.get(occurrence.session))
    for identifier in sorted(touched):
        _count(execute, scope, identifier)
    archive_rest(execute, scope)
    return fresh


def workflows(execute: Execute, scope: int, *, archived: bool = False) -> list[Kept]:
    """Those of a scope, most used first."""
    rows = execute(
        "SELECT id, goal, steps, parameters, uses, successes, sessions, first_at, last_at, archived"
        " FROM workflows WHERE scope = ? AND archived = ? ORDER BY uses DESC, id",
        (scope, int(archived)),
    )
    return [
        Kept(
            _workflow_of(goal, steps, parameters),
            identifier,
            uses,
            won,
            within,
            begun,
            last,
            away == 1,
        )
        for identifier, goal, steps, parameters, uses, won, within, begun, last, away in rows
    ]


def occurrences(execute: Execute, scope: int, identifier: str) -> list[Occurrence]:
    """Where a workflow was carried out, the oldest first."""
    rows = execute(
        "SELECT session, uses, given, success FROM workflow_occurrences"
        " WHERE scope = ? AND workflow = ? ORDER BY at, session, first_use",
        (scope, identifier),
    )
    return [
        Occurrence(session, tuple(json.loads(uses)), json.loads(values), bool(success))
        for session, uses, values, success in rows
    ]


def current(execute: Execute, scope: int, identifier: str) -> str:
    """What a workflow is called now, where another has succeeded it."""
    while rows := execute(
        "SELECT successor FROM workflow_successors WHERE scope = ? AND id = ?", (scope, identifier)
    ):
        ((identifier,),) = rows
    return identifier


def lineage(execute: Execute, scope: int, identifier: str) -> set[str]:
    """All ids that a workflow had: those that it succeeded, and its own."""
    rows = execute("SELECT id, successor FROM workflow_successors WHERE scope = ?", (scope,))
    found, fresh = {identifier}, {identifier}
    while fresh:
        fresh = {old for old, new in rows if new in fresh} - found
        found |= fresh
    return found


def merge_duplicates(execute: Execute, scope: int) -> int:
    """Give the occurrences of a workflow that is a case of another to that one; how many went."""
    merged = 0
    known = {one.id: one for archived in (False, True) for one in workflows(execute, scope, archived=archived)}  # fmt: skip
    for identifier, special in known.items():
        mine = occurrences(execute, scope, identifier)
        for other, general in known.items():
            if other == identifier or len(general.workflow.steps) != len(special.workflow.steps):
                continue
            values = [_as(general.workflow, special.workflow, one) for one in mine]
            if (
                mine
                and all(v is not None for v in values)
                and current(execute, scope, other) == other
            ):
                for one, its in zip(mine, values, strict=True):
                    execute(
                        "UPDATE workflow_occurrences SET workflow = ?, given = ?"
                        " WHERE scope = ? AND session = ? AND first_use = ?",
                        (other, canonical_json(its), scope, one.session, one.uses[0]),
                    )
                _succeed(execute, scope, identifier, other)
                _count(execute, scope, identifier)
                _count(execute, scope, other)
                merged += 1
                break
    return merged


def archive_unused(execute: Execute, scope: int, before: int) -> int:
    """Put away what nobody did since that time; how many that were. Done again it is active again."""
    rows = execute(
        "UPDATE workflows SET archived = 1, restored_at = 0"
        " WHERE scope = ? AND archived = 0 AND restored_at < ? AND last_at < ?"
        " RETURNING id",
        (scope, before, before),
    )
    return len(rows)


def archive_rest(execute: Execute, scope: int, most: int = ACTIVE) -> int:
    """Put away the least used beyond the most that may be active; how many that were."""
    rows = execute(
        "SELECT id FROM workflows WHERE scope = ? AND archived = 0"
        " ORDER BY restored_at DESC, uses DESC, last_at DESC, id",
        (scope,),
    )
    for (identifier,) in rows[most:]:
        _set_archived(execute, scope, identifier, True)
    return max(0, len(rows) - most)


def restore(execute: Execute, scope: int, identifier: str, *, at: int) -> None:
    """Make an archived workflow active again; another gives its place where there is none."""
    if not execute("SELECT 1 FROM workflows WHERE scope = ? AND id = ?", (scope, identifier)):
        raise UsageError(f"there is no workflow {identifier}", hint="list the archived ones")
    archive_rest(execute, scope, ACTIVE - 1)
    _set_archived(execute, scope, identifier, False, at)


def erase(execute: Execute, scope: int, session: str | None = None) -> None:
    """All that hangs on a session, or on all of them. A workflow that nobody else did goes too; of the
    others, goals and examples are made again of what is left. Their steps stay: many did them."""
    if session is None:
        for table in _TABLES:
            execute(f"DELETE FROM {table} WHERE scope = ?", (scope,))
        return
    gone = execute(
        "DELETE FROM workflow_occurrences WHERE scope = ? AND session = ? RETURNING workflow",
        (scope, session),
    )
    execute("DELETE FROM workflow_uses WHERE scope = ? AND session = ?", (scope, session))
    for identifier in sorted({name for (name,) in gone}):
        _count(execute, scope, identifier)


def _overlapping(execute: Execute, scope: int, occurrence: Occurrence) -> dict[str, str]:
    """Occurrences that have a use in common with this one, by their first use: whose they are."""
    marks = ", ".join("?" * len(occurrence.uses))
    rows = execute(
        "SELECT DISTINCT o.first_use, o.workflow FROM workflow_uses u JOIN workflow_occurrences o"
        " ON o.scope = u.scope AND o.session = u.session AND o.first_use = u.first_use"
        f" WHERE u.scope = ? AND u.session = ? AND u.use_id IN ({marks})",
        (scope, occurrence.session, *occurrence.uses),
    )
    return dict(sorted((first, owner) for first, owner in rows))


def _forget(execute: Execute, scope: int, session: str, first: str) -> None:
    for table in ("workflow_occurrences", "workflow_uses"):
        execute(
            f"DELETE FROM {table} WHERE scope = ? AND session = ? AND first_use = ?",
            (scope, session, first),
        )


def _enter(
    execute: Execute, scope: int, identifier: str, one: Occurrence, trace: Trace | None
) -> None:
    used = [use for use in trace.uses if use.id in one.uses] if trace is not None else []
    asked = served(trace.prompts, used) if trace is not None else ""
    times = [use.at for use in used if use.at is not None]
    ended = (trace.ended_at or trace.started_at or 0) if trace is not None else 0
    insert(execute, "workflow_occurrences", {
        "scope": scope, "session": one.session, "first_use": one.uses[0], "workflow": identifier,
        "uses": canonical_json(list(one.uses)), "given": canonical_json(dict(one.values)),
        "wording": wording(asked, one.values), "success": int(one.success),
        "at": max(times, default=ended),
    })  # fmt: skip
    for use in one.uses:
        insert(
            execute,
            "workflow_uses",
            {"scope": scope, "session": one.session, "use_id": use, "first_use": one.uses[0]},
        )


def _succeed(execute: Execute, scope: int, old: str, new: str) -> None:
    """The one that took its occurrences last; told only once nothing is left of the old one."""
    execute("DELETE FROM workflow_successors WHERE scope = ? AND id = ?", (scope, old))
    if current(execute, scope, new) != old:
        insert(execute, "workflow_successors", {"scope": scope, "id": old, "successor": new})


def _count(execute: Execute, scope: int, identifier: str) -> None:
    rows = execute(
        "SELECT session, given, wording, success, at FROM workflow_occurrences"
        " WHERE scope = ? AND workflow = ? ORDER BY at, session, first_use",
        (scope, identifier),
    )
    if not rows:
        execute("DELETE FROM workflows WHERE scope = ? AND id = ?", (scope, identifier))
        return
    execute("DELETE FROM workflow_successors WHERE scope = ? AND id = ?", (scope, identifier))
    ((before, stored),) = execute(
        "SELECT uses, parameters FROM workflows WHERE scope = ? AND id = ?", (scope, identifier)
    )
    values = [json.loads(given) for _, given, _, _, _ in rows]
    parameters = [{**p, "examples": _examples(p["name"], values)} for p in json.loads(stored)]
    execute(
        "UPDATE workflows SET goal = ?, parameters = ?, uses = ?, successes = ?, sessions = ?,"
        " first_at = ?, last_at = ? WHERE scope = ? AND id = ?",
        (
            goal_of([said for _, _, said, _, _ in rows]),
            canonical_json(parameters),
            len(rows),
            sum(success for _, _, _, success, _ in rows),
            len({session for session, *_ in rows}),
            rows[0][4],
            rows[-1][4],
            scope,
            identifier,
        ),
    )
    if len(rows) > before:  # whoever comes again is active again
        _set_archived(execute, scope, identifier, False)


def _examples(name: str, values: Iterable[Mapping[str, Any]]) -> list[Any]:
    distinct = {canonical_json(given[name]): given[name] for given in values if name in given}
    return list(distinct.values())[:_EXAMPLES]


def _as(general: Workflow, special: Workflow, one: Occurrence) -> Values | None:
    """The values with which an occurrence of one workflow is one of another."""
    values: Values | None = {}
    for mine, theirs in zip(special.steps, general.steps, strict=True):
        if (mine.tool, mine.each, mine.optional) != (theirs.tool, "", theirs.optional):
            return None  # loops are merged by mining alone
        for arguments in rounds(mine, one.values):
            values = unified(theirs.arguments, arguments, values) if values is not None else None
    return values


def _set_archived(
    execute: Execute, scope: int, identifier: str, archived: bool, restored_at: int = 0
) -> None:
    execute(
        "UPDATE workflows SET archived = ?, restored_at = ? WHERE scope = ? AND id = ?",
        (int(archived), restored_at, scope, identifier),
    )


def _step_json(step: Step) -> list[Any]:
    return [step.tool, template_json(step.arguments), step.optional, step.each]


def _parameter_json(parameter: Parameter) -> dict[str, Any]:
    flow = parameter.flow
    return {
        "name": parameter.name,
        "kind": parameter.kind,
        "flow": None if flow is None else [flow.step, flow.before, flow.after],
        "examples": list(parameter.examples),
    }


def _workflow_of(goal: str, steps: str, parameters: str) -> Workflow:
    return Workflow(
        goal,
        tuple(
            Step(tool, template_of(template), optional, each)
            for tool, template, optional, each in json.loads(steps)
        ),
        tuple(
            Parameter(
                p["name"],
                p["kind"],
                None if p["flow"] is None else Flow(*p["flow"]),
                tuple(p["examples"]),
            )
            for p in json.loads(parameters)
        ),
    )
