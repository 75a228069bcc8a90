"""Whether a workflow goes better with a step that some leave out: seen in what people did, not tested.

The unit is the session, and only sessions count whose end is reliable. The interval holds however often one
looks, and all comparisons of a scope share one level.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from metamem.foundry.words import Pieces, Trace
from metamem.foundry.workflows.match import by_step
from metamem.foundry.workflows.shape import summary
from metamem.foundry.workflows.store import occurrences, workflows
from metamem.service.designs.comparing import FEWEST
from metamem.store.engine import Execute


@dataclass(frozen=True, slots=True)
class Condition:
    """A step that some leave out, and how the sessions of either side ended."""

    workflow: str
    goal: str
    step: str
    having: Mapping[str, float]  # by session
    lacking: Mapping[str, float]


def conditions(
    execute: Execute,
    scope: int,
    outcomes: Mapping[str, bool],
    trace_of: Callable[[str], Trace | None],
) -> list[Condition]:
    """Those with enough sessions on both sides. `outcomes` are the reliable ends of sessions."""
    found = []
    for kept in workflows(execute, scope):
        steps = kept.workflow.steps
        optional = [at for at, step in enumerate(steps) if step.optional]
        if not optional or kept.sessions < 2 * FEWEST:
            continue
        sides: dict[int, dict[str, list[bool]]] = {at: defaultdict(list) for at in optional}
        for one in occurrences(execute, scope, kept.id):
            trace = trace_of(one.session) if one.session in outcomes else None
            rows = by_step(kept.workflow, one, trace) if trace is not None else None
            for at in optional if rows is not None else ():
                sides[at][one.session].append(bool(rows[at]) if rows is not None else False)
        for at, by_session in sides.items():
            # A session that did both says nothing.
            plain = {s: done[0] for s, done in by_session.items() if len(set(done)) == 1}
            having = {s: float(outcomes[s]) for s, with_it in plain.items() if with_it}
            lacking = {s: float(outcomes[s]) for s, with_it in plain.items() if not with_it}
            if min(len(having), len(lacking)) >= FEWEST:
                named = summary(steps[at].tool, _plain(steps[at].arguments))
                found.append(Condition(kept.id, kept.workflow.goal, named, having, lacking))
    return found


def _plain(arguments: object) -> dict[str, object]:
    if not isinstance(arguments, Mapping):
        return {}
    return {
        str(name): "".join(p if isinstance(p, str) else f"<{p.name}>" for p in value.parts)
        if isinstance(value, Pieces)
        else value
        for name, value in arguments.items()
    }
