"""What Foundry finds in traces, each with an id of its own and in words that a person can judge."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metamem.core.ids import content_id
from metamem.foundry.failures.linking import Resolved, Unresolved, link
from metamem.foundry.failures.telling import told
from metamem.foundry.words import Hole, Occurrence, Pieces, Template, Trace, Use, Workflow
from metamem.foundry.workflows.mine import mine

_SHOWN = 900  # characters of a call or an output


@dataclass(frozen=True, slots=True)
class Link:
    """A failure and what became of it."""

    trace: Trace
    found: Resolved | Unresolved

    @property
    def kind(self) -> str:
        return self.found.kind if isinstance(self.found, Resolved) else "open"

    @property
    def told(self) -> str:
        taught = isinstance(self.found, Resolved) and self.found.kind in ("changed", "step")
        return told(self.found) if taught and isinstance(self.found, Resolved) else ""

    @property
    def id(self) -> str:
        by = self.found.by.id if isinstance(self.found, Resolved) else ""
        return content_id(self.trace.scope, self.trace.session, self.found.use.id, by)[:12]


@dataclass(frozen=True, slots=True)
class Done:
    """A place where a workflow was carried out."""

    workflow: Workflow
    occurrence: Occurrence
    trace: Trace

    @property
    def id(self) -> str:
        return content_id(
            self.trace.scope, self.workflow.id, self.occurrence.session, self.occurrence.uses[0]
        )[:12]


def links(traces: Sequence[Trace]) -> list[Link]:
    return [Link(trace, found) for trace in traces for found in link(trace)]


def done(
    traces: Sequence[Trace], mined: Callable[[Sequence[Trace]], list[Workflow]] = mine
) -> list[Done]:
    known = {trace.session: trace for trace in traces}
    return [
        Done(workflow, one, known[one.session])
        for workflow in mined(traces)
        for one in workflow.occurrences
    ]


def show_link(one: Link) -> str:
    """A resolution, for whoever judges it."""
    found = one.found
    assert isinstance(found, Resolved)
    steps = {use.id for use in found.steps}
    tried = {attempt.use for attempt in found.trajectory}
    goal = one.trace.prompts.get(found.use.prompt, "")
    lines = [f"## {one.id}  {one.kind}  {one.trace.session}", f"goal: {_cut(goal, 400)}"]
    begun = False
    for use in one.trace.uses:
        begun = begun or use.id == found.use.id
        if not begun:
            continue
        mark = (
            "FAILED" if use.id == found.use.id
            else "BY" if use.id == found.by.id
            else "step" if use.id in steps
            else "tried" if use.id in tried
            else "between"
        )  # fmt: skip
        wide = mark in ("FAILED", "BY")
        lines.append(f"[{mark}] {_call(use, _SHOWN if wide or mark == 'step' else 160)}")
        if wide or mark == "tried":
            lines.append(f"   -> {_came(use, _SHOWN if wide else 200)}")
        if use.id == found.by.id:
            break
    lines += [f"signature: {found.signature.text}", f"told: {one.told or '-'}"]
    return "\n".join(lines)


def show_done(one: Done) -> str:
    """A place of a workflow, for whoever judges it."""
    workflow, occurrence = one.workflow, one.occurrence
    sessions = len({o.session for o in workflow.occurrences})
    lines = [
        f"## {one.id}  of {workflow.id[:8]}  {one.trace.session}"
        f"  ({sessions} sessions, {len(workflow.occurrences)} places, this one"
        f" {'well' if occurrence.success else 'badly'})"
    ]
    for number, step in enumerate(workflow.steps):
        marks = ("?" if step.optional else "") + (f" each {step.each}" if step.each else "")
        lines.append(f"  {number}{marks}. {step.tool} {_cut(written(step.arguments), _SHOWN)}")
    for parameter in workflow.parameters:
        flow = f" from {parameter.flow}" if parameter.flow else ""
        value = repr(occurrence.values.get(parameter.name))
        lines.append(f"  {parameter.name} ({parameter.kind}){flow} = {_cut(value, 200)}")
    uses = {use.id: use for use in one.trace.uses}
    lines.append(f"  goal: {_cut(_asked(one.trace, occurrence), 300)}")
    lines += [f"    {name}: {_call(uses[name], 400)}" for name in occurrence.uses]
    return "\n".join(lines)


def written(template: Template) -> str:
    """A template in a line, with its holes named."""
    if isinstance(template, Hole):
        return f"<{template.name}>"
    if isinstance(template, Pieces):
        return "".join(p if isinstance(p, str) else f"<{p.name}>" for p in template.parts)
    if isinstance(template, Mapping):
        if set(template) == {"command"}:
            return written(template["command"])
        return (
            "{" + ", ".join(f"{name}: {written(value)}" for name, value in template.items()) + "}"
        )
    if isinstance(template, Sequence) and not isinstance(template, str):
        return "[" + ", ".join(map(written, template)) + "]"
    return str(template)


def _asked(trace: Trace, occurrence: Occurrence) -> str:
    served = {use.prompt for use in trace.uses if use.id in occurrence.uses}
    return " / ".join(text for name, text in trace.prompts.items() if name in served)


def _call(use: Use, most: int) -> str:
    return _cut(f"{use.tool} {_said(use.arguments)}", most)


def _said(arguments: Mapping[str, Any]) -> str:
    return str(arguments["command"]) if set(arguments) == {"command"} else str(dict(arguments))


def _came(use: Use, most: int) -> str:
    text = use.error or use.result
    code = "" if use.exit_code is None else f"({use.exit_code}) "
    return code + (text if len(text) <= most else f"{text[: most // 3]} … {text[-2 * most // 3 :]}")


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"
