"""Known workflows in a new trace: carried out step by step, begun, or done by a tool instead.

A use is a step where its arguments are the step's template with values, the same value wherever a
parameter stands. Other uses between the steps are passed over, as many as mining passes over.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from metamem.foundry.words import Occurrence, Step, Trace, Use, Workflow, filled
from metamem.foundry.workflows import shell
from metamem.foundry.workflows.sequences import GAP
from metamem.foundry.workflows.shape import command_text, essential
from metamem.foundry.workflows.spans import Span, spans
from metamem.foundry.workflows.unify import Values, unified


@dataclass(frozen=True, slots=True)
class Match:
    """A workflow in a trace: by its steps or by a tool, with which values, and how far it came."""

    by: Literal["steps", "tool"]
    session: str
    uses: tuple[str, ...]
    values: Mapping[str, Any]
    done: int  # steps, those that were left out included; 1 for a tool
    complete: bool
    success: bool


def matches(workflow: Workflow, trace: Trace, *, begun: bool = False) -> list[Match]:
    """Where a trace carries out a workflow; with `begun` also where only its first steps stand."""
    found = []
    for span in spans(trace):
        uses = [use for item in span.items for use in item.uses]
        at = 0
        while at < len(uses):
            match, after = _from(workflow.steps, uses, at, span)
            if match is not None and (match.complete or begun):
                found.append(match)
            at = after if match is not None and match.complete else at + 1
    return _apart(found)


def by_tool(trace: Trace, names: Collection[str]) -> list[Match]:
    """Where one of these tools was used: called by its name on any server, or run as a command."""
    return [
        Match("tool", trace.session, (use.id,), essential(use.arguments), 1, True, not use.failed)
        for use in trace.uses
        if any(name in names for name in _called(use))
    ]


def by_step(
    workflow: Workflow, occurrence: Occurrence, trace: Trace
) -> tuple[tuple[Use, ...], ...] | None:
    """An occurrence's uses, step by step; None where the trace does not hold them so."""
    known = {use.id: use for use in trace.uses}
    if any(name not in known for name in occurrence.uses):
        return None
    left = [known[name] for name in occurrence.uses]
    rows = []
    for step in workflow.steps:
        row = []
        for wanted in rounds(step, occurrence.values):
            if left and left[0].tool == step.tool and essential(left[0].arguments) == wanted:
                row.append(left.pop(0))
        if not row and not step.optional:
            return None
        rows.append(tuple(row))
    return None if left else tuple(rows)


def _from(
    steps: Sequence[Step], uses: Sequence[Use], start: int, span: Span
) -> tuple[Match | None, int]:
    """What begins with this use, and where the next may begin."""
    values: Values = {}
    mine: list[Use] = []
    at, done, complete = start, 0, True
    for number, step in enumerate(steps):
        reach = at + 1 if not mine else min(len(uses), at + 1 + GAP)
        step_uses, found = _step(step, uses, at, reach, values)
        if step_uses:
            mine.extend(uses[one] for one in step_uses)
            at, values = step_uses[-1] + 1, found
        elif not step.optional:
            complete = False
            break
        done = number + 1
    if not mine:
        return None, start + 1
    worked = complete and span.success(mine) and not any(use.failed for use in mine)
    names = tuple(use.id for use in mine)
    return Match("steps", span.session, names, values, done, complete, worked), at


def _step(
    step: Step, uses: Sequence[Use], at: int, reach: int, values: Values
) -> tuple[list[int], Values]:
    """The uses that are one step, and the values known after it."""
    taken: list[int] = []
    items: list[Any] = []
    outside = {name: value for name, value in values.items() if name != step.each}
    while at < min(reach, len(uses)):
        found = None
        if uses[at].tool == step.tool:
            found = unified(step.arguments, essential(uses[at].arguments), outside)
        at += 1
        if found is None:
            continue
        taken.append(at - 1)
        if not step.each:
            return taken, found
        items.append(found.pop(step.each))
        outside, reach = found, at + 1 + GAP
    return taken, {**outside, step.each: items} if step.each else values


def rounds(step: Step, values: Mapping[str, Any]) -> Iterator[Any]:
    """What a step's arguments are in an occurrence, each time that it is done."""
    try:
        if not step.each:
            yield filled(step.arguments, values)
        for item in values[step.each] if step.each else ():
            yield filled(step.arguments, {**values, step.each: item})
    except KeyError:  # it was left out: its values are not there
        return


def _called(use: Use) -> Iterator[str]:
    # `mcp__server__release` is the tool `release`.
    yield use.tool
    yield use.tool.rsplit("__", 1)[-1]
    text = command_text(use.arguments)
    for command in shell.commands(text) if text is not None else ():
        program = command.words[0].rsplit("/", 1)[-1] if command.words else ""
        yield program
        if program == "metamem" and command.words[1:2] == ("tool",):
            yield from command.words[2:3]


def _apart(found: Sequence[Match]) -> list[Match]:
    """Without beginnings that stand inside of something that came further."""
    kept: list[Match] = []
    for match in sorted(found, key=lambda match: (-match.done, match.uses)):
        if not any(set(match.uses) & set(other.uses) for other in kept):
            kept.append(match)
    order = {id(match): at for at, match in enumerate(found)}
    return sorted(kept, key=lambda match: order[id(match)])
