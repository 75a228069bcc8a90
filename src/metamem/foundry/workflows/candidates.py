"""Workflows that are worth a tool, with cases to write it from and others, held out, to judge it by.

Which case is which hangs on the case alone, so that a case that was held out stays so however many come.
What a tool is written from is drafted again from its own cases: nothing of a held-out case is in it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from metamem.core.amounts import many
from metamem.core.ids import derive_seed
from metamem.foundry.words import Occurrence, Trace, Workflow
from metamem.foundry.workflows.draft import LEAST, Located, drafted
from metamem.foundry.workflows.goals import heard, served
from metamem.foundry.workflows.match import by_step, matches
from metamem.foundry.workflows.store import Kept, occurrences, workflows
from metamem.store.engine import Execute

USES, SUCCESS = 5, 0.7  # from which on an evaluation may begin
_ONE_IN = 4  # cases is one to write from


@dataclass(frozen=True, slots=True)
class Candidate:
    """A workflow to make a tool of."""

    id: str  # of the workflow that is kept
    workflow: Workflow  # drafted from the cases to write from, which are its occurrences
    held_out: tuple[Occurrence, ...]  # with the values of that workflow's parameters
    unfit: tuple[Occurrence, ...]  # held out too, and not to be had from that workflow


def candidates(
    execute: Execute, scope: int, trace_of: Callable[[str], Trace | None]
) -> list[Candidate]:
    """Workflows with at least 5 uses, 70 % of them successful. Only cases that went well are cases."""
    found = []
    for kept in workflows(execute, scope):
        if kept.uses < USES or kept.successes < SUCCESS * kept.uses:
            continue
        cases = [one for one in occurrences(execute, scope, kept.id) if one.success]
        candidate = _candidate(kept.id, kept.workflow, cases, trace_of)
        if candidate is not None:
            found.append(candidate)
    return found


def too_few(
    execute: Execute, scope: int, kept: Kept, trace_of: Callable[[str], Trace | None]
) -> str:
    """Why a workflow that is repeated often enough gives no candidate yet."""
    cases = [one for one in occurrences(execute, scope, kept.id) if one.success]
    mine = {one.session for one in cases if to_write_from(one) and trace_of(one.session)}
    if len(mine) < LEAST:
        return (
            f"not enough data yet: {many(len(mine), 'session')} of {len(cases)} that went well to write a"
            f" tool from, and it takes {LEAST} (one in {_ONE_IN} is taken by chance)"
        )
    return f"not enough data yet: the {len(mine)} sessions to write a tool from have too little in common"


def to_write_from(occurrence: Occurrence) -> bool:
    return derive_seed("case", occurrence.session, occurrence.uses[0]) % _ONE_IN == 0


def _candidate(
    identifier: str,
    workflow: Workflow,
    cases: list[Occurrence],
    trace_of: Callable[[str], Trace | None],
) -> Candidate | None:
    """None while there are too few cases to write from."""
    places = []
    for one in filter(to_write_from, cases):
        trace = trace_of(one.session)
        steps = by_step(workflow, one, trace) if trace is not None else None
        if trace is not None and steps is not None:
            uses = [use for step in steps for use in step]
            goal, asked = served(trace.prompts, uses), heard(trace.prompts, uses)
            places.append(Located(one.session, goal, one.success, steps, asked))
    if len({place.session for place in places}) < LEAST:
        return None
    draft = drafted(places)
    if draft is None:
        return None
    fitting: list[Occurrence] = []
    unfit: list[Occurrence] = []
    for one in cases:
        if to_write_from(one):
            continue
        trace = trace_of(one.session)
        again = matches(draft, trace) if trace is not None else []
        match = next((m for m in again if set(m.uses) & set(one.uses)), None)
        if match is None:
            unfit.append(one)
        else:
            fitting.append(Occurrence(one.session, match.uses, match.values, True))
    return Candidate(identifier, draft, tuple(fitting), tuple(unfit))
