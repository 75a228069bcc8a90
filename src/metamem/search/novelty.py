"""Recognising copies of a design by their code."""

import ast
import hashlib
from functools import lru_cache

from metamem.core.errors import DataError


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    is_docstring = (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    )
    return (body[1:] or [ast.Pass()]) if is_docstring else body


class _Normalise(ast.NodeTransformer):
    """Drops docstrings and annotations, and numbers the classes in order of definition."""

    def __init__(self, classes: dict[str, str]) -> None:
        self.classes = classes

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.name = self.classes[node.name]
        node.body = _without_docstring(node.body)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.body, node.returns = _without_docstring(node.body), None
        return self.generic_visit(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        node.body, node.returns = _without_docstring(node.body), None
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self.classes.get(node.id, node.id)
        return node


@lru_cache(maxsize=4096)
def syntax_key(source: str) -> str:
    """Equal for designs that differ only in comments, docstrings, layout or names of classes."""
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise DataError(f"this is not Python: {error}") from error
    classes: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            classes.setdefault(node.name, f"class_{len(classes)}")
    tree.body = _without_docstring(tree.body)
    return hashlib.sha256(ast.dump(_Normalise(classes).visit(tree)).encode()).hexdigest()
