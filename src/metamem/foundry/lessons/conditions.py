"""Whether a workflow goes better with a step that some leave out: seen in what people did, not tested.

The unit is the session, and only sessions count whose end is reliable. The interval holds however often one
looks, and all comparisons of a scope share one level.

Sessions are read one by one, each in a block of its own, so that nobody waits for all of them: `conditions` is
for outside of blocks. What was erased meanwhile is left out by `still`, inside of the one in which lessons are kept.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from metamem.foundry.lessons.sessions import ended
from metamem.foundry.words import Occurrence, Pieces, Trace
from metamem.foundry.workflows.match import by_step
from metamem.foundry.workflows.shape import summary
from metamem.foundry.workflows.store import Kept, occurrences, workflows
from metamem.service.database import Database
from metamem.service.designs.comparing import FEWEST
from metamem.store.engine import Execute

TraceOf = Callable[[str], Trace | None]


@dataclass(frozen=True, slots=True)
class Condition:
    """A step that some leave out, and the sessions of either side."""

    workflow: str
    goal: str
    step: str
    having: tuple[str, ...]
    lacking: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Compared:
    """How the sessions of either side ended."""

    about: Condition
    having: Mapping[str, float]  # by session
    lacking: Mapping[str, float]


def conditions(database: Database, scope: int, trace_of: TraceOf) -> list[Condition]:
    """What may be compared; it opens blocks of its own."""
    with database.reading() as execute:
        reliable = {one.session for one in ended(execute, scope) if one.success is not None}
        known = [
            (kept, occurrences(execute, scope, kept.id))
            for kept in workflows(execute, scope)
            if kept.sessions >= 2 * FEWEST and any(step.optional for step in kept.workflow.steps)
        ]
    return [one for kept, places in known for one in _of(kept, places, reliable, trace_of)]


def still(
    compared: Iterable[Condition], execute: Execute, scope: int, outcomes: Mapping[str, bool]
) -> list[Compared]:
    """Those with enough sessions on both sides, of what is kept now. `outcomes` are the reliable ends of
    sessions."""
    known = {kept.id for kept in workflows(execute, scope)}
    found = []
    for one in compared:
        sides = [
            {s: float(outcomes[s]) for s in side if s in outcomes}
            for side in (one.having, one.lacking)
        ]
        if one.workflow in known and min(map(len, sides)) >= FEWEST:
            found.append(Compared(one, *sides))
    return found


def _of(
    kept: Kept, places: Iterable[Occurrence], reliable: Collection[str], trace_of: TraceOf
) -> Iterator[Condition]:
    steps = kept.workflow.steps
    done: dict[int, dict[str, set[bool]]] = {
        at: defaultdict(set) for at, step in enumerate(steps) if step.optional
    }
    for place in places:
        trace = trace_of(place.session) if place.session in reliable else None
        rows = by_step(kept.workflow, place, trace) if trace is not None else None
        if rows is not None:
            for at, by_session in done.items():
                by_session[place.session].add(bool(rows[at]))
    for at, by_session in done.items():
        # A session that did both says nothing.
        having, lacking = (
            tuple(sorted(s for s, ways in by_session.items() if ways == {side}))
            for side in (True, False)
        )
        named = summary(steps[at].tool, _plain(steps[at].arguments))
        yield Condition(kept.id, kept.workflow.goal.split(" / ")[0], named, having, lacking)


def _plain(arguments: object) -> dict[str, object]:
    if not isinstance(arguments, Mapping):
        return {}
    return {
        str(name): "".join(p if isinstance(p, str) else f"<{p.name}>" for p in value.parts)
        if isinstance(value, Pieces)
        else value
        for name, value in arguments.items()
    }
