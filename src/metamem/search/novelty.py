"""Recognising copies of a design: by their code, or by what they advise."""

import ast
import hashlib
from collections.abc import Mapping, Sequence
from functools import lru_cache

from metamem.core.errors import DataError
from metamem.core.types import Evaluation


def behaviours(
    evaluations: Mapping[str, Evaluation], tasks: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """What designs advised on these tasks, as digests; of those that advised alike the first.

    A design that did not play them all is left out: nobody knows what it would have said. So is
    one that was also asked while acting: others are compared before they have acted.
    """
    known: dict[tuple[str, ...], str] = {}
    for design, evaluation in evaluations.items():
        rules = evaluation.fingerprint.rules
        if rules.get("ask_every") or rules.get("ask_when"):
            continue
        told = {r.task_id: r.advice_digest for r in evaluation.rows if r.repeat == 0}
        if all(task in told for task in tasks):
            known.setdefault(tuple(told[task] for task in tasks), design)
    return {design: told for told, design in known.items()}


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
