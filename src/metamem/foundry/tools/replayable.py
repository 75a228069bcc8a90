"""How much of what agents repeat could be replayed at all, and why the rest cannot.

Told from the record alone, as far as it goes: what was replayed before is known, of the rest it is known what
stands in the way for certain. A repository that is gone since is found out by the replay.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from metamem.foundry.tools.redoing import hindrance
from metamem.foundry.tools.tool import Case
from metamem.foundry.words import Trace
from metamem.foundry.workflows.store import Kept, occurrences
from metamem.store.engine import Execute


@dataclass(frozen=True, slots=True)
class Replayable:
    """Workflows of which a case can be replayed, and the cases of all of them."""

    workflows: int = 0
    of_workflows: int = 0
    cases: int = 0
    of_cases: int = 0
    tried: int = 0  # cases that were replayed, or could not be
    why_not: tuple[
        tuple[str, int], ...
    ] = ()  # of the other cases, each reason with how many it holds of


def replayable(
    execute: Execute, scope: int, kept: Iterable[Kept], sessions: Mapping[str, Trace]
) -> Replayable:
    """Of the cases in these sessions."""
    known = _known(execute, scope)
    able, of_workflows, cases, tried = 0, 0, 0, 0
    why: Counter[str] = Counter()
    for each in kept:
        here = [
            Case(sessions[one.session], one)
            for one in occurrences(execute, scope, each.id)
            if one.session in sessions
        ]
        reasons = [known[c.id] if c.id in known else hindrance(c) for c in here]
        of_workflows += bool(here)
        able += not all(reasons)
        cases += reasons.count("")
        tried += sum(case.id in known for case in here)
        why.update(filter(None, reasons))
    told = sorted(why.items(), key=lambda item: (-item[1], item[0]))
    return Replayable(able, of_workflows, cases, cases + why.total(), tried, tuple(told))


def _known(execute: Execute, scope: int) -> dict[str, str]:
    """Cases at which replaying was tried: why that could not be, empty where it could."""
    rows = execute(
        "SELECT case_id, MAX(equal IS NOT NULL), MAX(why) FROM tool_replays WHERE scope = ?"
        " GROUP BY case_id",
        (scope,),
    )
    return {case: "" if could else why for case, could, why in rows}
