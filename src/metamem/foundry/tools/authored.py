"""Tools that somebody wrote, a model or an agent: what they are shown, and what is made of what they hand in.

What they write is one function, put behind the same beginning as tools by template: values are read and
checked alike, and commands are texts that no value is pasted into. Nobody takes it on trust: it runs in the
jail alone and is judged as any other.
"""

import ast
import json
import sys
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from metamem.core.errors import DataError
from metamem.foundry.tools.interface import described, interface, named
from metamem.foundry.tools.template import assembled
from metamem.foundry.tools.tool import Case, Tool
from metamem.foundry.words import Workflow, template_json

MOST_BYTES = 60_000  # of what is handed in
_SHOWN_RESULT = 800  # characters of what a use printed
_SHOWN_TEXT = 4_000  # of one argument


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# They reach out, run something, or reach into the interpreter: none is needed for what a tool may do.
_NOT_TAKEN = _words(
    "__future__ asyncio asyncore code codeop concurrent ctypes ftplib http imaplib importlib multiprocessing"
    " nntplib os pickle poplib pty runpy selectors shelve signal smtplib socket socketserver ssl subprocess sys"
    " telnetlib threading urllib venv webbrowser xmlrpc zipimport _thread"
)
_NOT_NAMED = _words(
    "eval exec compile __import__ globals locals vars input breakpoint open os sys subprocess argparse run"
    " checked flowed inside"
)
# What stands in front of an author's code, or behind it.
_TAKEN = _words(
    "shell read write edit delete located step text stays Stop run checked flowed inside"
    " PARAMETERS REQUIRED RULES PATHS ABOUT"
)


def manual() -> str:
    return files("metamem.foundry.tools").joinpath("writing.md").read_text(encoding="utf-8")


def about(workflow: Workflow) -> dict[str, Any]:
    """A workflow as an author is shown it."""
    given = {g.name: g for g in interface(workflow)}
    return {
        "goal": workflow.goal,
        "values": [
            {"name": g.name, "kind": g.kind, "required": g.required, "examples": list(g.examples)}
            for g in given.values()
        ],
        "found while it runs": [
            {
                "name": p.name,
                "from": {"step": p.flow.step + 1, "before": p.flow.before, "after": p.flow.after},
            }
            for p in workflow.parameters
            if p.flow is not None
        ],
        "steps": [
            {
                "number": at + 1,
                "tool": step.tool,
                "arguments": template_json(step.arguments),
                "optional": step.optional,
                "for each of": step.each,
            }
            for at, step in enumerate(workflow.steps)
        ],
    }


def shown(case: Case) -> dict[str, Any]:
    """A recorded case as an author is shown it."""
    return {
        "values": dict(case.occurrence.values),
        "uses": [
            {
                "tool": use.tool,
                "arguments": {name: _cut(value) for name, value in use.arguments.items()},
                "printed": use.result[:_SHOWN_RESULT],
            }
            for use in case.uses
        ],
    }


def _cut(value: Any) -> Any:
    return value[:_SHOWN_TEXT] if isinstance(value, str) else value


def authored(source: str, workflow: Workflow, writer: str) -> Tool:
    """The tool that an author's text is; `DataError` says what is wrong with it, for whoever wrote it."""
    if len(source.encode(errors="replace")) > MOST_BYTES:
        raise DataError(f"the file is longer than {MOST_BYTES} bytes")
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise DataError(f"this is not Python that can be read: {error}") from error
    _check_top(tree)
    _check_inner(tree)
    given = interface(workflow)
    program = assembled(source, given, {}, (), described(workflow.goal))
    return Tool(named(workflow), described(workflow.goal), program, given, workflow.id, writer)


def _check_top(tree: ast.Module) -> None:
    steps = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "steps"]
    if len(steps) != 1 or len(steps[0].args.args) != 1 or steps[0].args.kwonlyargs:
        raise DataError("the file must define `def steps(v):`, once")
    for node in tree.body:
        plain = isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef)
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        constant = isinstance(node, ast.Assign | ast.AnnAssign) and _is_constant(node.value)
        if not (plain or text or constant):
            raise DataError(f"line {node.lineno}: nothing may run at the top of the file")


def _is_constant(value: ast.expr | None) -> bool:
    """Plain data, or a pattern: `re.compile("…")`."""
    if isinstance(value, ast.Call):
        named_ = ast.unparse(value.func)
        return named_ in ("re.compile", "frozenset", "set", "tuple") and all(
            _is_constant(each) or isinstance(each, ast.Attribute) for each in value.args
        )
    return value is not None and not any(
        isinstance(inner, ast.Call | ast.Await | ast.Yield | ast.NamedExpr)
        for inner in ast.walk(value)
    )


def _check_inner(tree: ast.Module) -> None:
    for node in ast.walk(tree):
        if taken := _bound(node) & _TAKEN:
            raise DataError(f"{min(taken)} is there already, and cannot be given another meaning")
        if isinstance(node, ast.Import):
            _check_modules([alias.name for alias in node.names], node.lineno)
        elif isinstance(node, ast.ImportFrom):
            _check_modules([node.module or "." * node.level], node.lineno)
        elif isinstance(node, ast.Name) and node.id in _NOT_NAMED:
            raise DataError(f"line {node.lineno}: {node.id} is not for tools")
        elif isinstance(node, ast.Attribute) and node.attr.startswith("__"):
            raise DataError(f"line {node.lineno}: {node.attr} is not for tools")
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "shell"
        ):
            _check_shell(node)
        elif isinstance(node, ast.Name) and node.id == "shell" and not _called(tree, node):
            raise DataError(f"line {node.lineno}: shell can be called, and nothing else")


def _bound(node: ast.AST) -> set[str]:
    """The names to which something is given here."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name for alias in node.names}
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        return {node.id}
    return set()


def _called(tree: ast.Module, name: ast.Name) -> bool:
    return any(isinstance(node, ast.Call) and node.func is name for node in ast.walk(tree))


def _check_shell(call: ast.Call) -> None:
    first = call.args[0] if call.args else None
    if not isinstance(first, ast.Constant) or not isinstance(first.value, str):
        raise DataError(
            f"line {call.lineno}: the command of shell is a text in quotes, and values are variables in it"
        )


def _check_modules(names: Sequence[str], line: int) -> None:
    for name in names:
        top = name.split(".")[0]
        if top not in sys.stdlib_module_names or top in _NOT_TAKEN:
            raise DataError(f"line {line}: the module {name} is not for tools")


def as_text(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, indent=1, default=str)
