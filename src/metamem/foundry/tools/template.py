"""Tools written without a model: a program whose steps are the recorded calls, with parameters in their place.

Whatever is not known to be safe is refused with its reason. Values reach commands through variables only;
texts of people and of programs never become defaults. Steps that only look, and whose output nothing needs,
are left out.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files

from metamem.core.secrets import INSTEAD
from metamem.foundry.tools.interface import (
    asking,
    described,
    examples,
    flags_of,
    holes,
    named,
    own_values,
)
from metamem.foundry.tools.operations import Code, NotATool, Operation, operations
from metamem.foundry.tools.programs import Checked, Rules, all_rules, check_path, checked_command
from metamem.foundry.tools.quoting import safe
from metamem.foundry.tools.tool import Case, Given, Tool
from metamem.foundry.words import Hole, Parameter, Step, Workflow, template_json
from metamem.service.writing.clean import one_line

_BARE = re.compile(r"[^\s'\"\\$`;&|<>()*?\[\]{}~#!]*")  # a shell takes it as one word, as it is
_NAME = re.compile(r"[a-z][a-z0-9_]{0,40}")
_ENTRY = """

if __name__ == "__main__":
    sys.exit(run(steps, PARAMETERS, REQUIRED, RULES, PATHS, ABOUT))
"""


@dataclass(frozen=True, slots=True)
class _Written:
    """The lines of one step."""

    lines: tuple[str, ...]
    rules: Rules
    paths: tuple[
        tuple[str | tuple[str], ...], ...
    ]  # words that must stay in the tree; names in tuples
    looks: bool


class TemplateWriter:
    """Writes a tool from a workflow's steps alone."""

    name = "template"

    def write(self, workflow: Workflow, cases: Sequence[Case] = ()) -> Tool:
        _check(workflow, cases)
        roots = tuple({c.trace.snapshot.folder for c in cases if c.trace.snapshot is not None})
        feeding = {p.flow.step for p in workflow.parameters if p.flow is not None}
        flags = flags_of(workflow)
        written = [
            _step(workflow, at, roots, flags.get(at, "")) for at in range(len(workflow.steps))
        ]
        kept = [at for at, one in enumerate(written) if not one.looks or at in feeding]
        if all(written[at].looks for at in kept):
            raise NotATool("nothing is changed by its steps")
        rules = all_rules([written[at].rules for at in kept])
        given = _given(workflow, {at: flags[at] for at in kept if at in flags}, kept)
        lines = ["def steps(v):", "    out = {}"]
        for at in kept:
            lines += written[at].lines
            for parameter in workflow.parameters:
                if parameter.flow is not None and parameter.flow.step == at:
                    lines.append(_flow_line(parameter, sorted(rules.get(parameter.name, ()))))
        wanted = {name: sorted(found) for name, found in rules.items()}
        paths = sorted({path for at in kept for path in written[at].paths}, key=repr)
        description = described(workflow.goal)
        program = assembled("\n".join(lines) + "\n", given, wanted, paths, description)
        return Tool(named(workflow), description, program, given, workflow.id, self.name)


def assembled(
    steps: str,
    given: Sequence[Given],
    rules: Mapping[str, Sequence[str]],
    paths: Sequence[Sequence[str | tuple[str]]],
    description: str,
) -> str:
    """The program whose function `steps` is given: it reads the values, checks them, and does it."""
    head = {
        "PARAMETERS": {g.name: g.kind for g in given},
        "REQUIRED": [g.name for g in given if g.required],
        "RULES": {g.name: rules[g.name] for g in given if g.name in rules},
        "PATHS": list(paths),
        "ABOUT": description,
    }
    constants = "\n".join(f"{name} = {value!r}" for name, value in head.items())
    body = files("metamem.foundry.tools").joinpath("body.py").read_text()
    return f"{body}\n\n{constants}\n\n\n{steps.rstrip()}\n{_ENTRY}"


def steps_of(program: str) -> str:
    """What a tool has of its own, without the helpers that stand in front of it; empty where that is not
    known."""
    body = files("metamem.foundry.tools").joinpath("body.py").read_text()
    if not program.startswith(body) or not program.endswith(_ENTRY):
        return ""
    return program[len(body) : -len(_ENTRY)].strip("\n")


def _check(workflow: Workflow, cases: Sequence[Case]) -> None:
    if not workflow.steps:
        raise NotATool("a workflow without steps")
    if INSTEAD.search(str([template_json(step.arguments) for step in workflow.steps])):
        raise NotATool(
            "something secret was taken out of a step: it cannot be done again as it was"
        )
    if any(use.redacted for case in cases for use in case.uses):
        raise NotATool("something secret was taken out of a recorded call")
    names = [parameter.name for parameter in workflow.parameters]
    if bad := [name for name in names if not _NAME.fullmatch(name) or name == "json"]:
        raise NotATool(f"a parameter cannot be called {bad[0]!r}")
    for parameter in workflow.parameters:
        if parameter.flow is not None and not 0 <= parameter.flow.step < len(workflow.steps):
            raise NotATool(f"{parameter.name} comes from a step that is not there")


def _step(workflow: Workflow, at: int, roots: Sequence[str], flag: str) -> _Written:
    step, code = workflow.steps[at], Code()
    arguments = {
        name: value
        for name, value in (step.arguments if isinstance(step.arguments, Mapping) else {}).items()
        if name not in ("description", "timeout")  # remarks of agents to their hosts
    }
    found = [_relative(op, roots) for op in operations(step.tool, arguments, code)]
    unknown = holes(step) - {p.name for p in workflow.parameters}
    if unknown:
        raise NotATool(f"nothing gives {min(unknown)} a value")
    for parameter in workflow.parameters:
        if (
            parameter.kind == "list"
            and parameter.name in code.names
            and parameter.name != step.each
        ):
            raise NotATool("a list in the place of one value")
    done = [_call(op, code, workflow) for op in found]
    if not done:
        return _Written((), {}, (), True)
    calls = [call for call, _ in done]
    rules = dict(all_rules([checked.rules for _, checked in done]))
    paths = tuple(_parts(path, code) for _, checked in done for path in checked.paths)
    looks = all(checked.looks for _, checked in done)
    values = "{**v, %r: item}" % step.each if step.each else "v"  # noqa: UP031
    does = "".join(f"({call}) + " for call in calls)[:-3]
    what = one_line(_title(step, found, code), 60)
    inner = f"step({at + 1}, {what!r}, lambda v={values}: {does})"
    line = f"out[{at}] = {inner}"
    if step.each:
        line = f"out[{at}] = ''.join([{inner} for item in v[{step.each!r}]])"
    condition = [flag] if flag else list(own_values(workflow, at)) if step.optional else []
    if condition:
        asked = " and ".join(f"v.get({name!r}) is not None" for name in condition)
        asked = f"v.get({flag!r})" if flag else asked
        return _Written((f"    if {asked}:", f"        {line}"), rules, paths, looks)
    return _Written((f"    {line}",), rules, paths, looks)


def _call(op: Operation, code: Code, workflow: Workflow) -> tuple[str, Checked]:
    """One operation as a line of Python."""
    if op.kind == "shell":
        read = safe(op.text, code)
        checked = [checked_command(command, code) for command in read.commands]
        _check_bare(read.bare, workflow)
        names = sorted(code.names)
        values = "{" + ", ".join(f"{name!r}: v[{name!r}]" for name in names) + "}"
        paths = tuple(path for one in checked for path in one.paths)
        more = f", {_text(op.path or '.', code)}" if op.path or paths else ""
        more += f", [{', '.join(_text(path, code) for path in paths)}]" if paths else ""
        rules = dict(all_rules([one.rules for one in checked]))
        together = Checked(rules, paths, all(one.looks for one in checked))
        return f"shell({read.text!r}, {values}{more})", together
    check_path(op.path)
    path = _text(op.path, code)
    if op.kind == "read":
        return f"read({path})", Checked()
    if op.kind == "delete":
        return f"delete({path})", Checked(looks=False)
    if op.kind == "write":
        return f"write({path}, {_text(op.text, code)})", Checked(looks=False)
    arguments = f"{path}, {_text(op.text, code)}, {_text(op.new, code)}, {op.everywhere}"
    return f"edit({arguments})", Checked(looks=False)


def _check_bare(bare: frozenset[str], workflow: Workflow) -> None:
    """What stood outside of quotes was one word each time: else the shell made more of it than a value."""
    for parameter in workflow.parameters:
        if parameter.name not in bare:
            continue
        seen = [
            o.values[parameter.name] for o in workflow.occurrences if parameter.name in o.values
        ]
        for value in (*parameter.examples, *seen):
            for item in value if isinstance(value, list | tuple) else [value]:
                if not _BARE.fullmatch(str(item)):
                    raise NotATool(f"{parameter.name} was more than one word for the shell")


def _parts(coded: str, code: Code) -> tuple[str | tuple[str], ...]:
    return tuple((p.name,) if isinstance(p, Hole) else p for p in code.parts(coded))


def _text(coded: str, code: Code) -> str:
    parts = (f"v[{p.name!r}]" if isinstance(p, Hole) else repr(p) for p in code.parts(coded))
    return f"text({', '.join(parts)})"


def _relative(op: Operation, roots: Sequence[str]) -> Operation:
    """An operation on the tree, wherever that lies."""
    for root in filter(None, roots):
        ended = re.compile(re.escape(root.rstrip("/")) + r"(?:/(?=[\w.-])|/?(?=[\s'\";&|)]|$))")
        path = ended.sub("", op.path)
        command = ended.sub(lambda m: "" if m[0].endswith("/") else ".", op.text)
        op = replace(op, path=path, text=command if op.kind == "shell" else op.text)
    if op.path.startswith(("/", "~")):
        raise NotATool("a path outside of the tree")
    return op


def _flow_line(parameter: Parameter, rules: Sequence[str]) -> str:
    flow = parameter.flow
    assert flow is not None
    found = f"located(out[{flow.step}], {flow.before!r}, {flow.after!r})"
    return f"    if {flow.step} in out: v[{parameter.name!r}] = flowed({parameter.name!r}, {parameter.kind!r}, {rules!r}, {found})"


def _given(workflow: Workflow, flags: Mapping[int, str], kept: Sequence[int]) -> tuple[Given, ...]:
    optional = {n for at in kept if workflow.steps[at].optional for n in own_values(workflow, at)}
    needed = {name for at in kept for name in holes(workflow.steps[at])}
    asked = [
        Given(p.name, p.kind, p.name not in optional, examples(p))
        for p in workflow.parameters
        if p.flow is None and p.name in needed
    ]
    return (*asked, *asking(workflow, flags))


def _title(step: Step, found: Sequence[Operation], code: Code) -> str:
    if found and found[0].kind == "shell":
        parts = code.parts(found[0].text)
        return "".join(f"<{p.name}>" if isinstance(p, Hole) else p for p in parts)
    return step.tool
