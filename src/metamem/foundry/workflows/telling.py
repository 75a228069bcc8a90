"""A workflow in words for other agents: what it is for, its steps with their parameters, how often it worked.

It is made of what users asked for and of calls that agents made, never of what a tool said: of a value that an
earlier step prints only that is told, and of a sentence in a call, which may quote an output, only that there is
one (`speech`). Nothing is told of a workflow of which one part must not be.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from metamem.core.ids import canonical_json
from metamem.core.secrets import INSTEAD
from metamem.foundry.failures.telling import is_tellable
from metamem.foundry.speech import INSTEAD as CUT
from metamem.foundry.speech import has_speech, is_speech, without_speech
from metamem.foundry.tools.programs import may_hold_secrets
from metamem.foundry.tools.telling import ways
from metamem.foundry.words import Parameter, Step, Workflow, filled
from metamem.foundry.workflows.store import Kept
from metamem.service.importing.commands import is_shell
from metamem.service.writing.clean import one_line
from metamem.store.engine import Execute

GOAL = 120  # characters of the way of asking that is quoted
WIDTHS = (200, 110, 60)  # characters of a step: as many as there is room for
_NAME = re.compile(r"[^\s'\"=:,;<>|&()`]+")
_ROOTS = 5
_EDITS = (("file_path", "old_string", "new_string"), ("filePath", "oldString", "newString"))
_REMARKS = ("description", "timeout")  # of agents to their hosts


def tellable_ways(workflow: Workflow) -> list[str]:
    """In which words it was asked for, of those that may be told."""
    return [way for way in ways(workflow.goal) if is_tellable(way, rules=True)]


def in_words(
    kept: Kept, way: str, width: int = WIDTHS[0], proof: str = "", roots: Sequence[str] = ()
) -> str:
    """A workflow under one way of asking for it; empty where it must not be told. `proof`: what telling it was
    measured to do; `roots`: folders of the project, which are left out of paths."""
    workflow = kept.workflow
    whole = [_step(step, workflow.parameters, None) for step in workflow.steps]
    if not all(is_tellable(step) and _is_open(step) for step in whole):
        return ""
    if any(has_speech(_said(step, workflow.parameters, whole=False)) for step in workflow.steps):
        return ""  # a sentence that is no argument of its own
    steps = [_step(step, workflow.parameters, width, roots) for step in workflow.steps]
    head = (
        f"Asked for as “{_quoted(way, GOAL)}”, it was done in {len(steps)} steps"
        f" ({kept.successes} of {kept.uses} times it went well{f'; {proof}' if proof else ''}):"
    )
    text = "\n".join([head, *(f"{n}. {line}" for n, line in enumerate(steps, start=1))])
    return text if is_tellable(text, rules=True) else ""


def lines(workflow: Workflow, roots: Sequence[str] = ()) -> list[str]:
    """The steps for the people whose calls they are: a line each, all that they say."""
    return [_step(step, workflow.parameters, WIDTHS[0], roots) for step in workflow.steps]


def in_few_words(step: Step, parameters: tuple[Parameter, ...]) -> str:
    """One step for whoever chooses whether it is done; empty where it must not be told."""
    said = _said(step, parameters, whole=False)
    whole = _said(step, parameters, whole=True)
    if not is_tellable(whole, rules=True) or not _is_open(whole) or has_speech(said):
        return ""
    return _quoted(said, WIDTHS[-1])


def roots_of(execute: Execute, scope: int) -> list[str]:
    """The folders in which a project's sessions began of late, the deepest first."""
    rows = execute(
        "SELECT folder FROM trees WHERE scope = ? GROUP BY folder ORDER BY MAX(at) DESC", (scope,)
    )
    return sorted((folder for (folder,) in rows[:_ROOTS]), key=len, reverse=True)


def _is_open(step: str) -> bool:
    """Whether nothing secret was taken out of it, and it names no file that may hold some."""
    return INSTEAD.search(step) is None and not any(map(may_hold_secrets, _NAME.findall(step)))


def _step(
    step: Step, parameters: tuple[Parameter, ...], width: int | None, roots: Sequence[str] = ()
) -> str:
    """One step with its parameters in their places; without a width, all of what it says."""
    line = _said(step, parameters, whole=width is None)
    for root in roots:
        line = line.replace(f"{root.rstrip('/')}/", "")
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


def _said(step: Step, parameters: tuple[Parameter, ...], whole: bool) -> str:
    """What a step calls, with the names of its parameters in their places."""
    names = [parameter.name for parameter in parameters]
    said = filled(step.arguments, {name: f"<{name}>" for name in [*names, step.each] if name})
    given = said if isinstance(said, Mapping) else {}
    return _call(step.tool, {n: v for n, v in given.items() if n not in _REMARKS}, whole)


def _call(tool: str, arguments: Mapping[str, Any], whole: bool) -> str:
    """What is called; unless all of it is wanted, without its sentences."""
    command = arguments.get("command", arguments.get("cmd"))
    if is_shell(tool) and isinstance(command, str):
        return command if whole else without_speech(command)
    texts = {n: _value(v, whole) for n, v in arguments.items() if isinstance(v, str)}
    if edit := next((names for names in _EDITS if texts.keys() >= set(names)), None):
        where, old, new = (texts[name] for name in edit)
        return f"{tool} {where}: {old} → {new}"
    told = (
        f"{name} = {_value(value if isinstance(value, str) else canonical_json(value), whole)}"
        for name, value in arguments.items()
    )
    return f"{tool} {', '.join(told)}".rstrip()


def _value(text: str, whole: bool) -> str:
    return text if whole or not is_speech(text) else CUT


def _quoted(text: str, most: int) -> str:
    cut = one_line(text.strip().replace("\n", " ⏎ "), most + 1).replace("`", "'")
    return cut if len(cut) <= most else f"{cut[: most - 1].rstrip()}…"
