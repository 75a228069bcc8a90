"""A module as a repairer holds it: text, tree, and the functions that may be at fault."""

import ast
import re
from dataclasses import dataclass
from functools import cached_property

_CALL = re.compile(r"\b([A-Za-z_]\w*)\s*\(")

Place = ast.expr | ast.stmt


@dataclass(frozen=True, slots=True)
class Function:
    name: str
    node: ast.FunctionDef
    owner: ast.ClassDef | None
    calls: frozenset[str]


class Module:
    """Positions in the tree as positions in the text."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.tree = ast.parse(text)
        self._starts = [0]
        for line in text.split("\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)

    def start(self, node: Place) -> int:
        return self._starts[node.lineno - 1] + node.col_offset

    def end(self, node: Place) -> int:
        return self._starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0)

    def of(self, node: Place) -> str:
        return self.text[self.start(node) : self.end(node)]

    def lines(self, start: int, end: int) -> tuple[int, int]:
        """The span of whole lines around a span."""
        after = self.text.find("\n", end)
        return self.text.rfind("\n", 0, start) + 1, len(self.text) if after < 0 else after

    def number(self, place: int) -> int:
        return self.text.count("\n", 0, place) + 1

    @cached_property
    def functions(self) -> list[Function]:
        found = []
        for node in self.tree.body:
            inner = node.body if isinstance(node, ast.ClassDef) else [node]
            owner = node if isinstance(node, ast.ClassDef) else None
            for part in inner:
                if isinstance(part, ast.FunctionDef):
                    calls = frozenset(_CALL.findall(self.of(part))) - {part.name}
                    found.append(Function(part.name, part, owner, calls))
        return found

    @cached_property
    def imports(self) -> dict[str, str]:
        """Imported name → path of the module it comes from."""
        return {
            alias.name: f"{node.module.replace('.', '/')}.py"
            for node in self.tree.body
            if isinstance(node, ast.ImportFrom) and node.module
            for alias in node.names
        }
