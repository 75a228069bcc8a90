"""What a design says about itself, read without running it."""

import ast
import warnings


def docstrings(source: str) -> dict[str, str]:
    """Docstrings by place: "" for the file, "Class", "Class.method". Empty for odd sources.

    Classes that others of the file build on are left out: what they say is plumbing.
    """
    try:
        with warnings.catch_warnings(action="ignore"):  # of odd escapes, which are not ours
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    found = {"": ast.get_docstring(tree) or ""}
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    bases = {base.id for node in classes for base in node.bases if isinstance(base, ast.Name)}
    for node in classes:
        if node.name in bases:
            continue
        found[node.name] = ast.get_docstring(node) or ""
        for part in node.body:
            if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) and part.name[0] != "_":
                found[f"{node.name}.{part.name}"] = ast.get_docstring(part) or ""
    return {place: text for place, text in found.items() if text or not place}


def first_paragraph(text: str) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join(text.split("\n\n")[0].split())
