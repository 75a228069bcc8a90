"""When a workflow is judged again: not before there is something new to judge by.

| it came to | it is judged again with |
|---|---|
| too few cases | a tenth more cases, two at least: what was replayed is not replayed again |
| refused, or no tool can be written | twice as many cases |
| a tool that waits or is in use | twice as many cases: people still do the steps by hand |
| a tool that was rejected, undone or disabled | twice as many cases, of which only those since then count |

Where it did not pass, a week and one new case are enough, too; after five times in a row that is over, and only
the number of cases counts. Each writer has turns of its own, unless there is a tool that waits or is in use:
what no template can do, a model may. Who was asked and has not answered is asked again at any time. Every function runs inside a block of a database.
"""

import math
from dataclasses import dataclass

from metamem.foundry.tools import store
from metamem.foundry.tools.verdict import Decided, Verdict
from metamem.foundry.workflows.store import current
from metamem.store.engine import Execute
from metamem.store.sql.base import insert

DAYS = 7 * 86_400_000  # milliseconds
FEWEST_NEW = 2
TRIES = 5  # in a row, after which time alone is no reason
_MORE = {"waits": 0.1}  # of the cases there were; as many again else
_NOT_PASSED: tuple[Decided, ...] = ("none", "waits", "refused")
_ENDED = ("rejected", "undone", "disabled")


@dataclass(frozen=True, slots=True)
class Judgement:
    workflow: str
    decided: Decided
    tool: str
    cases: int
    seconds: float
    tokens: int
    why: str
    at: int
    writer: str = "template"
    asked: bool = False  # nobody has answered


def enter_judgement(
    execute: Execute,
    scope: int,
    verdict: Verdict,
    *,
    at: int,
    known: int,
    seconds: float = 0.0,
    tokens: int = 0,
    writer: str = "template",
) -> None:
    tool = verdict.tool.id if verdict.tool is not None else ""
    insert(execute, "tool_judgements", {
        "scope": scope, "workflow": verdict.workflow, "decided": verdict.decided, "tool": tool,
        "cases": known, "seconds": seconds, "tokens": tokens, "why": verdict.why, "at": at,
        "writer": writer, "asked": int(verdict.asked),
    })  # fmt: skip


def judgements(execute: Execute, scope: int, workflow: str = "") -> list[Judgement]:
    """Of one workflow, also under the names that it had before, or of all; the oldest first."""
    rows = execute(
        "SELECT workflow, decided, tool, cases, seconds, tokens, why, at, writer, asked"
        " FROM tool_judgements WHERE scope = ? ORDER BY number",
        (scope,),
    )
    found = [
        Judgement(w, decided, tool, cases, seconds, tokens, why, at, writer, bool(asked))
        for w, decided, tool, cases, seconds, tokens, why, at, writer, asked in rows
    ]
    if not workflow:
        return found
    now = current(execute, scope, workflow)
    return [each for each in found if current(execute, scope, each.workflow) == now]


def cools(
    execute: Execute, scope: int, workflow: str, cases: int, at: int, writer: str = "template"
) -> str:
    """Why a workflow is not judged now; empty where it may be."""
    everybody = [each for each in judgements(execute, scope, workflow) if not each.asked]
    slot = store.slot_of(execute, scope, workflow)
    there = any(each.state in store.STANDING for each in store.versions(execute, scope, slot))
    before = [each for each in everybody if there or each.writer == writer]
    if not before:
        return ""
    last = before[-1]
    wanted = last.cases + max(FEWEST_NEW, math.ceil(_MORE.get(last.decided, 1.0) * last.cases))
    if cases >= wanted:
        return ""
    tried = 0
    for each in reversed(before):
        if each.decided not in _NOT_PASSED:
            break
        tried += 1
    if (
        last.decided in _NOT_PASSED
        and tried < TRIES
        and cases > last.cases
        and at >= last.at + DAYS
    ):
        return ""
    return f"it was judged with {last.cases} cases ({last.decided}); again with {wanted}, here are {cases}"


def counted_from(execute: Execute, scope: int, workflow: str) -> int:
    """The time before which no case counts for a workflow: when its last tool was turned down or turned
    bad. What was done before then says nothing of the world as it is now."""
    slot = store.slot_of(execute, scope, workflow)
    versions = store.versions(execute, scope, slot)
    if not any(each.state in _ENDED for each in versions):
        return 0
    rows = execute(
        "SELECT MAX(ended_at) FROM tool_deployments WHERE scope = ? AND slot = ?", (scope, slot)
    )
    rejected = [each.made_at for each in versions if each.state == "rejected"]
    return max([int(rows[0][0] or 0), *rejected])
