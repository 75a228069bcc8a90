"""Uses of deployed tools. Whoever runs a tool enters that; a session's trace tells of the same call later.

Both are one run: what a tool answers holds the run's id, and by that the trace finds it; where a host has cut
that away, by the values and the time. A call that nobody here ran (an older metamem, another machine) is a
run of its own. Every function runs inside a block of a database.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metamem.core.ids import content_id
from metamem.core.tokens import count_tokens
from metamem.foundry.correcting import corrects
from metamem.foundry.tools.body import BAD_VALUES
from metamem.foundry.tools.deployments import Deployed, Deployment
from metamem.foundry.words import Trace, Use, Workflow
from metamem.foundry.workflows.match import by_tool, matches
from metamem.service.database import new_id
from metamem.store.engine import Execute, Value
from metamem.store.sql.base import insert, insert_new

MARK = re.compile(r"\brun (w[0-9a-f]{20,40})\b")  # how an answer tells its run
AGAIN = 600_000  # milliseconds in which the same values in the same tree are the same attempt
NEAR = 60_000  # milliseconds between what the runner and what the host says of the time
PREFIX = "tool_"  # before a tool's name where it stands among others, as in MCP


@dataclass(frozen=True, slots=True)
class Run:
    """One use. `counted` is False where it says nothing of the tool: values that were not taken, or the
    same attempt once more."""

    id: str
    slot: str
    tool: str
    at: int
    exit_code: int
    worked: bool
    counted: bool
    why: str
    milliseconds: int
    tokens: int | None
    session: str

    @property
    def refused(self) -> bool:
        """Its values were not taken: nothing was done, and it is no use."""
        return self.exit_code == BAD_VALUES


def names_of(name: str) -> set[str]:
    """All that a host may call a tool."""
    return {name, PREFIX + name, name.replace("_", "-")}


def new_run() -> str:
    return new_id("w")


def enter(
    execute: Execute,
    scope: int,
    run: str,
    deployed: Deployed,
    *,
    at: int,
    exit_code: int,
    milliseconds: int,
    tokens: int,
    given: Sequence[Any],
    why: str = "",
) -> None:
    """Enter what was run here. `given` are the values and the tree, of which a digest is kept."""
    digest = content_id("given", *given)
    again = execute(
        "SELECT 1 FROM tool_runs WHERE scope = ? AND tool = ? AND given = ? AND at > ? AND worked = 0",
        (scope, deployed.kept.id, digest, at - AGAIN),
    )
    insert(execute, "tool_runs", {
        "scope": scope, "id": run, "slot": deployed.kept.slot, "tool": deployed.kept.id, "at": at,
        "exit_code": exit_code, "worked": int(exit_code == 0),
        "counted": int(exit_code != BAD_VALUES and not (again and exit_code)), "why": why,
        "milliseconds": milliseconds, "tokens": tokens, "given": digest, "session": "",
        "use_id": "",
    })  # fmt: skip


def take_in(
    execute: Execute,
    scope: int,
    trace: Trace,
    held: Sequence[Deployment],
    names: Mapping[str, str],
    workflows: Mapping[str, Workflow],
) -> int:
    """Join a session's calls of tools with what was run, and note where steps were done by hand though a
    tool was there. `names` and `workflows` are by slot. The same session again changes nothing."""
    fresh = 0
    uses = {use.id: use for use in trace.uses}
    for slot, name in names.items():
        mine = [each for each in held if each.slot == slot]
        by_hand = matches(workflows[slot], trace) if slot in workflows else []
        for match in by_tool(trace, names_of(name)):
            use = uses[match.uses[0]]
            deployment = _at(mine, use.at)
            if deployment is not None:
                why = _trouble(trace, use, [uses[m.uses[0]] for m in by_hand])
                fresh += _join(execute, scope, trace.session, use, deployment, why)
        for match in by_hand:
            first = uses[match.uses[0]]
            if match.complete and _at(mine, first.at) is not None:
                row: dict[str, Value] = {"scope": scope, "slot": slot, "session": trace.session,
                       "first_use": first.id, "at": first.at or 0}  # fmt: skip
                fresh += insert_new(execute, "tool_by_hand", row)
    return fresh


def runs(execute: Execute, scope: int, slot: str, *, tool: str = "", since: int = 0) -> list[Run]:
    """Of all versions of a tool or of one, the oldest first."""
    rows = execute(
        "SELECT id, slot, tool, at, exit_code, worked, counted, why, milliseconds, tokens, session"
        " FROM tool_runs WHERE scope = ? AND slot = ? AND (tool = ? OR ? = '') AND at >= ?"
        " ORDER BY at, id",
        (scope, slot, tool, tool, since),
    )
    return [
        Run(i, s, t, at, code, bool(worked), bool(counted), why, ms, tokens, session)
        for i, s, t, at, code, worked, counted, why, ms, tokens, session in rows
    ]


def by_hand_since(
    execute: Execute, scope: int, slot: str, since: int, until: int | None = None
) -> int:
    ((count,),) = execute(
        "SELECT COUNT(*) FROM tool_by_hand WHERE scope = ? AND slot = ? AND at >= ?"
        " AND (? IS NULL OR at < ?)",
        (scope, slot, since, until, until),
    )
    return int(count)


def _join(
    execute: Execute, scope: int, session: str, use: Use, deployment: Deployment, why: str
) -> bool:
    tokens = count_tokens(str(dict(use.arguments))) + count_tokens(use.result or use.error)
    where = "scope = ? AND session = ? AND use_id = ?"
    known = execute(f"SELECT id FROM tool_runs WHERE {where}", (scope, session, use.id))
    identifier = known[0][0] if known else _run_of(execute, scope, use, deployment)
    if identifier:
        # What the trace knows and the runner could not: who it was for, and whether it held.
        return bool(
            execute(
                "UPDATE tool_runs SET session = ?, use_id = ?, tokens = ?,"
                " worked = CASE WHEN ? <> '' THEN 0 ELSE worked END,"
                " why = CASE WHEN ? <> '' THEN ? ELSE why END"
                " WHERE scope = ? AND id = ? AND (use_id = '' OR (? <> '' AND worked = 1)) RETURNING 1",
                (session, use.id, tokens, why, why, why, scope, identifier, why),
            )
        )
    if use.failed is None:
        return False  # nobody knows how it ended
    code = use.exit_code if use.exit_code is not None else int(use.failed)
    return insert_new(execute, "tool_runs", {
        "scope": scope, "id": new_run(), "slot": deployment.slot, "tool": deployment.tool,
        "at": use.at or 0, "exit_code": code, "worked": int(not use.failed and not why),
        "counted": int(code != BAD_VALUES), "why": why, "milliseconds": use.milliseconds or 0,
        "tokens": tokens, "given": "", "session": session, "use_id": use.id,
    })  # fmt: skip


def _run_of(execute: Execute, scope: int, use: Use, deployment: Deployment) -> str:
    """The run that a call was, which no other call is."""
    told = MARK.search(use.result or "") or MARK.search(use.error or "")
    if told is not None:
        rows = execute(
            "SELECT id FROM tool_runs WHERE scope = ? AND id = ? AND use_id = ''", (scope, told[1])
        )
        return rows[0][0] if rows else ""
    if use.at is None:
        return ""
    rows = execute(
        "SELECT id FROM tool_runs WHERE scope = ? AND slot = ? AND use_id = '' AND at BETWEEN ? AND ?"
        " AND worked = ? ORDER BY ABS(at - ?), id LIMIT 1",
        (scope, deployment.slot, use.at - NEAR, use.at + NEAR, int(not use.failed), use.at),
    )
    return rows[0][0] if rows else ""


def _trouble(trace: Trace, use: Use, by_hand: Sequence[Use]) -> str:
    """Why a use that ended well was of no good: the steps were then done by hand, or the user says that
    something is not right."""
    order = {each.id: at for at, each in enumerate(trace.uses)}
    for other in by_hand:
        if other.prompt == use.prompt and order[other.id] > order[use.id]:
            return "the steps were done by hand after it"
    said = list(trace.prompts)
    if use.prompt in said:
        after = said[said.index(use.prompt) + 1 :][:1]
        if any(corrects(trace.prompts[prompt]) for prompt in after):
            return "the user said that something was not right"
    return ""


def _at(held: Sequence[Deployment], at: int | None) -> Deployment | None:
    """The version that was in use at that time."""
    if at is None:
        return next((each for each in held if each.ended_at is None), None)
    return next(
        (each for each in held if each.at <= at and (each.ended_at is None or at < each.ended_at)),
        None,
    )
