"""What has to be given to a tool, whoever writes it; and what that was in a recorded case."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from metamem.core.secrets import INSTEAD
from metamem.foundry.speech import has_speech, is_speech
from metamem.foundry.tools.body import holds
from metamem.foundry.tools.tool import Case, Given, Tool
from metamem.foundry.words import Hole, Parameter, Step, Workflow
from metamem.foundry.workflows.match import by_step
from metamem.foundry.workflows.telling import in_few_words
from metamem.service.writing.clean import one_line
from metamem.service.writing.trust import strength

_EXAMPLES, _LONGEST = 3, 120


def interface(workflow: Workflow) -> tuple[Given, ...]:
    """What a caller gives to a tool that does all of a workflow."""
    optional = {
        name
        for at, step in enumerate(workflow.steps)
        if step.optional
        for name in own_values(workflow, at)
    }
    asked = [
        Given(p.name, p.kind, p.name not in optional, examples(p))
        for p in workflow.parameters
        if p.flow is None
    ]
    return (*asked, *asking(workflow, flags_of(workflow)))


def asking(workflow: Workflow, flags: Mapping[int, str]) -> Iterator[Given]:
    """The flags that ask for optional steps, each with what it asks for."""
    for at, name in flags.items():
        about = in_few_words(workflow.steps[at], workflow.parameters)
        yield Given(name, "flag", False, about=about)


def values_of(tool: Tool, workflow: Workflow, case: Case) -> dict[str, Any] | str:
    """What the tool has to be given to do a case; in words why that cannot be said, where it cannot."""
    steps = by_step(workflow, case.occurrence, case.trace)
    if steps is None:
        return "the steps that the tool does are not those of this case"
    done = {name: bool(steps[at]) for at, name in flags_of(workflow).items()}
    known: dict[str, Any] = {
        **case.occurrence.values,
        **{n: True for n, was in done.items() if was},
    }
    missing = [g.name for g in tool.given if g.required and g.name not in known]
    if missing:
        return f"nothing recorded says what {missing[0]} was"
    return {given.name: known[given.name] for given in tool.given if given.name in known}


def flags_of(workflow: Workflow) -> dict[int, str]:
    """Optional steps that no value of their own asks for, by number."""
    return {
        at: f"with_step_{at + 1}"
        for at, step in enumerate(workflow.steps)
        if step.optional and not own_values(workflow, at)
    }


def own_values(workflow: Workflow, at: int) -> tuple[str, ...]:
    """The values that a caller gives for this step alone: it is done where they are given."""
    others = {n for k, s in enumerate(workflow.steps) if k != at for n in holes(s)}
    asked = {p.name for p in workflow.parameters if p.flow is None}
    return tuple(sorted((holes(workflow.steps[at]) & asked) - others))


def holes(step: Step) -> set[str]:
    """The names of what stands in a step."""
    found: set[str] = {step.each} if step.each else set()

    def look(part: Any) -> None:
        if isinstance(part, Hole):
            found.add(part.name)
        elif isinstance(part, Mapping):
            for value in part.values():
                look(value)
        elif isinstance(part, Sequence) and not isinstance(part, str):
            for value in part:
                look(value)
        elif hasattr(part, "parts"):
            look(part.parts)

    look(step.arguments)
    return found


def examples(parameter: Parameter) -> tuple[Any, ...]:
    """Short values only, and no sentences: an example is read by models, and may have come from anywhere."""
    plain = [
        value
        for value in parameter.examples
        if len(str(value)) <= _LONGEST
        and holds("one line", str(value))
        and not strength(str(value))
        and not has_speech(str(value))
        and not is_speech(str(value))
        and not INSTEAD.search(str(value))
    ]
    return tuple(plain[:_EXAMPLES])


def described(goal: str) -> str:
    told = one_line(goal, 400)
    return told if told and strength(told) != "command" else "Does steps that were repeated here."


def named(workflow: Workflow) -> str:
    """A name in the words of those who asked for it; the id keeps two workflows apart."""
    values = {str(v).lower() for o in workflow.occurrences for v in o.values.values()}
    words = [w for w in re.findall(r"[a-z]{3,}", workflow.goal.lower()) if w not in values]
    skipped = {"the", "and", "please", "with", "that", "for", "its"}
    chosen = [w for w in dict.fromkeys(words) if w not in skipped][:4]
    return "_".join([*chosen, workflow.id[:6]])[:60]
