"""A function of the library as one task has it: forms drawn, names given, outcomes worked out."""

import ast
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from metamem.domains.coding.projects.library import MAIN, Function

_WORDS = (
    "alpha amount base block bound case cell chunk data each edge entry extra field first found"
    " given goal group head index inner item join kept label last left level line list_"
    " load lower mark match mode most node number outer own pair part pick piece place plan point"
    " pool prior queue range_ rate raw rest result right row scope section seed series side slot"
    " spare span start state step stock store sum_ tail target term text thing token total track"
    " turn unit_ upper value view wanted whole word"
)
NAMES = tuple(_WORDS.split())
_MEANT = ("ValueError", "KeyError")  # errors that a function raises on purpose


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call gives: its value, or the name of the error. Equal as a test would find them."""

    value: Any = None
    error: str = ""

    @property
    def meant(self) -> bool:
        """Whether a test can ask for it."""
        return not self.error or self.error in _MEANT


@dataclass(frozen=True, slots=True)
class Call:
    """One use of a function: what is done first, and the expression that is looked at."""

    before: tuple[str, ...]
    shown: str


def draw(function: Function, rng: random.Random) -> tuple[int, ...]:
    """A form for each slot, each as likely as the others."""
    return tuple(rng.randrange(len(slot.forms)) for slot in function.slots)


def calls_of(function: Function, name: str) -> list[Call]:
    """The library's calls with the name that the function has in the task."""
    found = []
    for line in function.calls:
        trees = [ast.parse(part.strip()) for part in line.split(" ;; ")]
        parts = [ast.unparse(_renamed(tree, {MAIN: name})) for tree in trees]
        found.append(Call(tuple(parts[:-1]), parts[-1]))
    return found


def written(
    function: Function, chosen: Sequence[int], names: Mapping[str, str], summary: str
) -> str:
    """The source under the names of a task, with a line that says what it is for."""
    tree = _renamed(ast.parse(function.text(chosen)), names)
    top = tree.body[0]
    assert isinstance(top, ast.FunctionDef | ast.ClassDef)
    top.body.insert(0, ast.Expr(ast.Constant(summary)))
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


@cache
def own_names(function: Function) -> list[str]:
    """What the function itself names and no call speaks of."""
    tree = ast.parse(function.text([0] * len(function.slots)))
    bound = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and _stored(n)}
    bound |= {a.arg for a in ast.walk(tree) if isinstance(a, ast.arg)}
    spoken = {
        keyword.arg
        for line in function.calls
        for part in line.split(" ;; ")
        for keyword in ast.walk(ast.parse(part.strip()))
        if isinstance(keyword, ast.keyword)
    }
    return sorted(bound - spoken - {"self", "_"})


def outcomes(source: str, calls: Sequence[Call]) -> list[Outcome]:
    """What the calls give. The source is the library's own, and was tried for endless loops."""
    scope: dict[str, Any] = {}
    exec(compile(source, "<library>", "exec"), scope)
    return [_outcome(call, dict(scope)) for call in calls]


def _outcome(call: Call, scope: dict[str, Any]) -> Outcome:
    try:
        for part in call.before:
            exec(part, scope)
        return Outcome(value=eval(call.shown, scope))
    except Exception as error:
        return Outcome(error=type(error).__name__)


def _stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _renamed(tree: ast.Module, names: Mapping[str, str]) -> ast.Module:
    for node, part in _named(tree):
        setattr(node, part, names.get(getattr(node, part), getattr(node, part)))
    return tree


def _named(tree: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node, "id"
        elif isinstance(node, ast.arg):
            yield node, "arg"
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node, "name"
