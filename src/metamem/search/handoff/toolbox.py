"""toolbox.md of a request: every part for thinking with its example, signatures and what they say of themselves.

The manual names the parts in a line each; whoever may read no code of metamem needs to know how they are called.
It is read from the parts as they are, so that it cannot differ from them.
"""

import ast
from collections.abc import Iterator
from importlib.resources import files

PACKAGE = "metamem.designs.thinking"
_HEAD = """# Parts for thinking, as a design imports them

All of them may be used by any design, and none knows a domain. What stands here is read from the parts
themselves: what each is for, an example, and how it is called.
"""


def toolbox() -> str:
    """Markdown; the parts in the order of their names."""
    return "\n".join([_HEAD, *(_part(name, tree) for name, tree in _modules())])


def _modules() -> Iterator[tuple[str, ast.Module]]:
    for file in sorted(files(PACKAGE).iterdir(), key=lambda file: file.name):
        if file.name.endswith(".py") and not file.name.startswith("_"):
            yield file.name.removesuffix(".py"), ast.parse(file.read_text(encoding="utf-8"))


def _part(name: str, tree: ast.Module) -> str:
    said = [f"## {PACKAGE}.{name}", "", "```text", ast.get_docstring(tree) or "", "```", ""]
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and _public(node.name):
            said += [f"`class {node.name}`{_about(node)}", "", *_inside(node)]
        elif isinstance(node, ast.FunctionDef) and _public(node.name):
            said += [f"`{_signature(node)}`{_about(node)}", ""]
    return "\n".join(said)


def _inside(of: ast.ClassDef) -> list[str]:
    lines = []
    for node in of.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            if _public(node.target.id):
                lines.append(f"- `{node.target.id}: {ast.unparse(node.annotation)}`")
        elif isinstance(node, ast.FunctionDef) and (_public(node.name) or node.name == "__init__"):
            lines.append(f"- `{_signature(node)}`{_about(node)}")
    return [*lines, ""] if lines else []


def _public(name: str) -> bool:
    return not name.startswith("_")


def _signature(function: ast.FunctionDef) -> str:
    is_property = any(ast.unparse(each) == "property" for each in function.decorator_list)
    given = "" if is_property else f"({ast.unparse(function.args)})"
    back = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    return f"{function.name}{given}{back}"


def _about(node: ast.ClassDef | ast.FunctionDef) -> str:
    """Its first paragraph, on one line."""
    told = (ast.get_docstring(node) or "").split("\n\n")[0]
    return f": {' '.join(told.split())}" if told else ""
