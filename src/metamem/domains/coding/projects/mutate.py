"""Faults that programmers make, as small changes of clean source: one function for each family.

Each family finds the places in a syntax tree where the fault could have been made and yields the
change as (start, end, replacement) in the source text.
"""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Change = tuple[int, int, str]

_BOUNDARY = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_CONDITION = {"==": "!=", "!=": "==", "in": "not in", "not in": "in"}
_OPERATOR = {"+": "-", "-": "+", "*": "+", "//": "*", "%": "//"}
_SYMBOLS: dict[type[ast.AST], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
}
_NORMALISERS = ("strip", "lstrip", "rstrip", "lower", "upper", "capitalize")
_COPIES = ("list", "dict", "sorted", "reversed")
_EXTREMES = {"min": "max", "max": "min"}


@dataclass(frozen=True, slots=True)
class Mutation:
    """One fault: whole lines of the clean source and what stands there instead."""

    family: str
    path: str
    line: int  # of the first clean line, counted from 1
    clean: str
    faulty: str


class Source:
    """A module's text, its tree, and where the nodes lie in the text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = ast.parse(text)
        self._starts = [0]
        for line in text.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def start(self, node: ast.expr | ast.stmt) -> int:
        return self._starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self._starts[node.end_lineno - 1] + node.end_col_offset

    def of(self, node: ast.expr | ast.stmt) -> str:
        return self.text[self.start(node) : self.end(node)]

    def between(self, left: ast.expr, right: ast.expr, symbol: str, other: str) -> Iterator[Change]:
        """Another symbol between two expressions."""
        place = self.text.find(symbol, self.end(left), self.start(right))
        if place >= 0:
            yield place, place + len(symbol), other

    def replace(self, node: ast.expr | ast.stmt, new: str) -> Change:
        return self.start(node), self.end(node), new


def _comparisons(source: Source, table: dict[str, str]) -> Iterator[Change]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for op, left, right in zip(node.ops, sides, sides[1:], strict=False):
                symbol = _SYMBOLS.get(type(op), "")
                if symbol in table:
                    yield from source.between(left, right, symbol, table[symbol])


def boundary(source: Source) -> Iterator[Change]:
    """The end of a range counted in, or not."""
    yield from _comparisons(source, _BOUNDARY)


def condition(source: Source) -> Iterator[Change]:
    """A condition turned round: == and !=, in and not in, and and or, a lost not."""
    yield from _comparisons(source, _CONDITION)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.BoolOp):
            symbol, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            for left, right in zip(node.values, node.values[1:], strict=False):
                yield from source.between(left, right, symbol, other)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield source.replace(node, source.of(node.operand))


def off_by_one(source: Source) -> Iterator[Change]:
    """A forgotten + 1 or - 1, or one place too far in an index or range."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            if isinstance(node.right, ast.Constant) and node.right.value == 1:
                yield source.replace(node, source.of(node.left))
        elif isinstance(node, ast.Call) and source.of(node.func) == "range":
            last = node.args[min(1, len(node.args) - 1)]
            yield source.replace(last, source.of(last) + " - 1")
            if len(node.args) > 1 and isinstance(node.args[0], ast.Constant):
                yield source.replace(node.args[0], _one_more(node.args[0]))
        elif isinstance(node, ast.Subscript):
            index = node.slice
            if isinstance(index, ast.Constant) and type(index.value) is int:
                yield source.replace(index, _one_more(index))
            elif isinstance(index, ast.Slice) and isinstance(index.lower, ast.Constant):
                yield source.replace(index.lower, _one_more(index.lower))


def _one_more(number: ast.Constant) -> str:
    assert isinstance(number.value, int)
    return str(number.value + 1)


def operator(source: Source) -> Iterator[Change]:
    """Plus for minus, times for plus, the quotient for the rest."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.BinOp):
            symbol = _SYMBOLS.get(type(node.op), "")
            if symbol in _OPERATOR:
                yield from source.between(node.left, node.right, symbol, _OPERATOR[symbol])
        elif isinstance(node, ast.AugAssign):
            symbol = _SYMBOLS.get(type(node.op), "")
            if symbol in ("+", "-"):
                place = source.text.find(f"{symbol}=", source.end(node.target))
                yield place, place + 1, _OPERATOR[symbol]


def normalisation(source: Source) -> Iterator[Change]:
    """Text compared or kept as it came, without strip, lower and the like."""
    for node in ast.walk(source.tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in _NORMALISERS
        ):
            yield source.replace(node, source.of(node.func.value))


def order(source: Source) -> Iterator[Change]:
    """The wrong order: no sort, no reverse, no key, the smallest for the largest."""
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Call):
            continue
        name = source.of(node.func)
        if name in _EXTREMES:
            yield source.replace(node.func, _EXTREMES[name])
        if name == "sorted" and node.args:
            yield source.replace(node, f"list({source.of(node.args[0])})")
        if name == "sorted" or name.endswith(".sort"):
            for keyword in node.keywords:
                if keyword.arg == "reverse":
                    start = source.text.rfind(",", 0, source.start(keyword.value))
                    start = start if start > source.start(node) else source.end(node.func) + 1
                    yield start, source.end(keyword.value), ""
                elif keyword.arg == "key" and isinstance(keyword.value, ast.Lambda):
                    body = keyword.value.body
                    if isinstance(body, ast.Tuple):
                        yield source.replace(body, source.of(body.elts[0]))
                        for part in body.elts:
                            if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.USub):
                                yield source.replace(part, source.of(part.operand))


def alias(source: Source) -> Iterator[Change]:
    """The caller's own object kept or changed, where a copy was meant."""
    for node in ast.walk(source.tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in _COPIES
            and len(node.args) == 1
            and not node.keywords
        ):
            yield source.replace(node, source.of(node.args[0]))


def guard(source: Source) -> Iterator[Change]:
    """A special case at the beginning that nobody thought of."""
    for function in ast.walk(source.tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        for node in function.body[:-1]:
            plain = isinstance(node, ast.If) and not node.orelse and len(node.body) == 1
            if plain and isinstance(node.body[0], ast.Return | ast.Raise):  # type: ignore[attr-defined]
                start = source.text.rfind("\n", 0, source.start(node)) + 1
                yield start, source.end(node) + 1, ""


def default(source: Source) -> Iterator[Change]:
    """Another value where none is given."""
    for node in ast.walk(source.tree):
        values: list[ast.expr] = []
        if isinstance(node, ast.FunctionDef):
            values = node.args.defaults
        elif isinstance(node, ast.ClassDef):
            values = [s.value for s in node.body if isinstance(s, ast.AnnAssign) and s.value]
        elif isinstance(node, ast.Call) and source.of(node.func).endswith(".get"):
            values = node.args[1:]
        elif isinstance(node, ast.Call):
            values = [k.value for k in node.keywords if k.arg == "default"]
        for value in values:
            if isinstance(value, ast.Constant):
                yield from _other_value(source, value)


def _other_value(source: Source, node: ast.Constant) -> Iterator[Change]:
    value = node.value
    if isinstance(value, bool):
        yield source.replace(node, str(not value))
    elif isinstance(value, int):
        yield source.replace(node, str(value + 1))
        if value > 1:
            yield source.replace(node, str(value - 1))
    elif isinstance(value, str):
        yield source.replace(node, '""' if value else '" "')


def constant(source: Source) -> Iterator[Change]:
    """A number or a word mistyped in an expression."""
    for node in ast.walk(source.tree):
        parts: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.BinOp):
            parts = [node.left, node.right]
        elif isinstance(node, ast.Return) and isinstance(node.value, ast.Constant):
            parts = [node.value]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            parts = node.args if node.func.attr != "get" else []
        for part in parts:
            if isinstance(part, ast.Constant) and part.value not in (0, 1, None, ""):
                if isinstance(part.value, int) and not isinstance(part.value, bool):
                    yield source.replace(part, str(part.value + 1))
                elif isinstance(part.value, str) and len(part.value) == 1:
                    other = {",": ";", ";": ",", ":": "=", "=": ":", "&": ";", "-": "_", " ": ""}
                    if part.value in other:
                        yield source.replace(part, f'"{other[part.value]}"')


def arguments(source: Source) -> Iterator[Change]:
    """Two arguments, or two sides of a difference, in the wrong order."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and len(node.args) == 2:
            first, second = node.args
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            first, second = node.left, node.right
            if isinstance(second, ast.Constant):
                continue
        else:
            continue
        if not isinstance(first, ast.Starred) and not isinstance(second, ast.Starred):
            gap = source.text[source.end(first) : source.start(second)]
            new = source.of(second) + gap + source.of(first)
            yield source.start(first), source.end(second), new


Family = Callable[[Source], Iterator[Change]]
FAMILIES: dict[str, Family] = {
    family.__name__: family
    for family in (
        boundary,
        condition,
        off_by_one,
        operator,
        normalisation,
        order,
        alias,
        guard,
        default,
        constant,
        arguments,
    )
}


def mutations(path: str, text: str) -> list[Mutation]:
    """All faults of all families in one module that still parse, in the order of the lines."""
    source = Source(text)
    found: dict[str, Mutation] = {}
    for name, family in FAMILIES.items():
        for start, end, new in family(source):
            changed = text[:start] + new + text[end:]
            if changed not in found and changed != text and _parses(changed):
                found[changed] = as_lines(name, path, text, changed)
    return sorted(found.values(), key=lambda m: (m.line, m.family, m.faulty))


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def as_lines(family: str, path: str, clean: str, faulty: str) -> Mutation:
    """The lines in which two versions of a module differ, never fewer than one clean line."""
    old, new = clean.splitlines(keepends=True), faulty.splitlines(keepends=True)
    first = 0
    while first < min(len(old), len(new)) and old[first] == new[first]:
        first += 1
    last = 0
    while last < min(len(old), len(new)) - first and old[-1 - last] == new[-1 - last]:
        last += 1
    cut = slice(first, len(old) - last), slice(first, len(new) - last)
    return Mutation(family, path, first + 1, "".join(old[cut[0]]), "".join(new[cut[1]]))
