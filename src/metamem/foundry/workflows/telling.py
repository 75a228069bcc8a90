"""A workflow in words for other agents: what it is for, its steps with their parameters, how often it worked.

It is made of what users asked for and of calls that agents made, never of what a tool said: of a value that an
earlier step prints only that is told. Nothing is told of a workflow of which one part must not be.
"""

import re
from collections.abc import Mapping
from typing import Any

from metamem.core.ids import canonical_json
from metamem.core.secrets import INSTEAD
from metamem.foundry.failures.telling import is_tellable
from metamem.foundry.tools.programs import may_hold_secrets
from metamem.foundry.tools.telling import ways
from metamem.foundry.words import Parameter, Step, Workflow, filled
from metamem.foundry.workflows.store import Kept
from metamem.service.importing.commands import is_shell
from metamem.service.writing.clean import one_line

GOAL = 120  # characters of the way of asking that is quoted
WIDTHS = (200, 110, 60)  # characters of a step: as many as there is room for
_NAME = re.compile(r"[^\s'\"=:,;<>|&()`]+")
_REMARKS = ("description", "timeout")  # of agents to their hosts


def tellable_ways(workflow: Workflow) -> list[str]:
    """In which words it was asked for, of those that may be told."""
    return [way for way in ways(workflow.goal) if is_tellable(way, rules=True)]


def in_words(kept: Kept, way: str, width: int = WIDTHS[0]) -> str:
    """A workflow under one way of asking for it; empty where it must not be told."""
    workflow = kept.workflow
    whole = [_step(step, workflow.parameters, None) for step in workflow.steps]
    if not all(is_tellable(step) and _is_open(step) for step in whole):
        return ""
    steps = [_step(step, workflow.parameters, width) for step in workflow.steps]
    head = (
        f"Asked for as “{_quoted(way, GOAL)}”, it was done in {len(steps)} steps"
        f" ({kept.successes} of {kept.uses} times it went well):"
    )
    text = "\n".join([head, *(f"{n}. {line}" for n, line in enumerate(steps, start=1))])
    return text if is_tellable(text, rules=True) else ""


def _is_open(step: str) -> bool:
    """Whether nothing secret was taken out of it, and it names no file that may hold some."""
    return INSTEAD.search(step) is None and not any(map(may_hold_secrets, _NAME.findall(step)))


def _step(step: Step, parameters: tuple[Parameter, ...], width: int | None) -> str:
    """One step with its parameters in their places; without a width, all of what it says."""
    names = [parameter.name for parameter in parameters]
    said = filled(step.arguments, {name: f"<{name}>" for name in [*names, step.each] if name})
    given = said if isinstance(said, Mapping) else {}
    line = _call(step.tool, {n: v for n, v in given.items() if n not in _REMARKS})
    line = _quoted(line, width) if width is not None else line
    notes = [f"for each <{step.each}>"] if step.each else []
    notes += ["not always"] if step.optional else []
    notes += [
        f"<{p.name}> is what step {p.flow.step + 1} prints"
        for p in parameters
        if p.flow is not None and f"<{p.name}>" in line
    ]
    shown = f"`{line}`" if width is not None else line
    return f"{shown} ({'; '.join(notes)})" if notes else shown


def _call(tool: str, arguments: Mapping[str, Any]) -> str:
    command = arguments.get("command", arguments.get("cmd"))
    if is_shell(tool) and isinstance(command, str):
        return command
    told = (
        f"{name} = {value if isinstance(value, str) else canonical_json(value)}"
        for name, value in arguments.items()
    )
    return f"{tool} {', '.join(told)}".rstrip()


def _quoted(text: str, most: int) -> str:
    cut = one_line(text.strip().replace("\n", " ⏎ "), most + 1).replace("`", "'")
    return cut if len(cut) <= most else f"{cut[: most - 1].rstrip()}…"
