"""Repairs that often help, as small changes at places of a syntax tree: one function a template.

The templates know Python and nothing of any project. Each yields (start, end, replacement).
"""

import ast
import re
from collections.abc import Callable, Iterator

from metamem.agents.repair_change import Substitution
from metamem.agents.repair_code import Function, Module

Change = tuple[int, int, str]
Template = Callable[[Module, ast.AST], Iterator[Change]]

_SYMBOLS: dict[type[ast.AST], tuple[str, tuple[str, ...]]] = {
    ast.Lt: ("<", ("<=", ">")),
    ast.LtE: ("<=", ("<",)),
    ast.Gt: (">", (">=", "<")),
    ast.GtE: (">=", (">",)),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: ("not in", ("in",)),
    ast.Add: ("+", ("-", "*")),
    ast.Sub: ("-", ("+",)),
    ast.Mult: ("*", ("//", "+")),
    ast.FloorDiv: ("//", ("%", "*")),
    ast.Mod: ("%", ("//",)),
    ast.Div: ("/", ("//",)),
    ast.And: ("and", ("or",)),
    ast.Or: ("or", ("and",)),
}
_METHODS = ("strip()", "lower()", "upper()", "strip().lower()")
_FORMS = ("strip", "lstrip", "rstrip", "lower", "upper", "title", "capitalize")
_SIMPLE = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)


def _swap(module: Module, node: ast.expr, new: str) -> Change:
    return module.start(node), module.end(node), new


def symbols(module: Module, node: ast.AST) -> Iterator[Change]:
    """Another operator between two expressions."""
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        joints = [*zip(node.ops, sides, sides[1:], strict=False)]
    elif isinstance(node, ast.BinOp):
        joints = [(node.op, node.left, node.right)]  # type: ignore[list-item]
    elif isinstance(node, ast.BoolOp):
        joints = [(node.op, a, b) for a, b in zip(node.values, node.values[1:], strict=False)]  # type: ignore[misc]
    else:
        return
    for op, left, right in joints:
        symbol, others = _SYMBOLS.get(type(op), ("", ()))
        place = module.text.find(symbol, module.end(left), module.start(right))
        if symbol and place >= 0:
            for other in others:
                yield place, place + len(symbol), other


def increments(module: Module, node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add | ast.Sub):
        place = module.end(node.target) + 1
        yield place, place + 1, "-" if isinstance(node.op, ast.Add) else "+"


def negations(module: Module, node: ast.AST) -> Iterator[Change]:
    """A condition turned round."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield _swap(module, node, module.of(node.operand))
    tests: list[ast.expr] = []
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        tests = [node.test]
    elif isinstance(node, ast.comprehension):
        tests = node.ifs
    elif isinstance(node, ast.BoolOp):
        tests = node.values
    for test in tests:
        if isinstance(test, _SIMPLE):
            yield _swap(module, test, f"not {module.of(test)}")


def nudges(module: Module, node: ast.AST) -> Iterator[Change]:
    """One more or one less in ranges, indices, lengths and results."""
    spots: list[ast.expr] = []
    if isinstance(node, ast.Call) and module.of(node.func) == "range" and node.args:
        spots = [node.args[min(1, len(node.args) - 1)]]
    elif isinstance(node, ast.Subscript):
        index = node.slice
        if isinstance(index, ast.Slice):
            spots = [part for part in (index.lower, index.upper) if part is not None]
        elif not isinstance(index, ast.Constant | ast.Tuple):
            spots = [index]
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.BinOp | ast.Call):
        spots = [node.value]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv | ast.Mod | ast.Pow):
        spots = [node.left, node.right]
    elif isinstance(node, ast.Compare):
        spots = node.comparators[-1:]
    elif isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp | ast.Subscript):
        spots = [node.value]
    for spot in spots:
        text = module.of(spot)
        if isinstance(spot, ast.Constant):
            continue
        if text.endswith((" + 1", " - 1")):
            yield _swap(module, spot, text[:-4])
            continue
        whole = isinstance(node, ast.BinOp) and not isinstance(spot, ast.Constant)
        for step in (" + 1", " - 1"):
            yield _swap(module, spot, f"({text}{step})" if whole else f"{text}{step}")


def constants(module: Module, node: ast.AST) -> Iterator[Change]:
    if not isinstance(node, ast.Constant):
        return
    if isinstance(node.value, bool):
        yield _swap(module, node, str(not node.value))
    elif isinstance(node.value, int):
        yield _swap(module, node, str(node.value - 1))
        yield _swap(module, node, str(node.value + 1))


def text_forms(module: Module, node: ast.AST) -> Iterator[Change]:
    """Text brought into a plain form before it is used, or left as it is."""
    spots: list[ast.expr] = []
    if _is_form(node):
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        yield _swap(module, node, module.of(node.func.value))
        if node.func.attr != "strip":
            yield _swap(module, node, f"{module.of(node.func.value)}.strip()")
    if isinstance(node, ast.Assign | ast.Return) and node.value is not None:
        spots = [*node.value.elts] if isinstance(node.value, ast.Tuple) else [node.value]
    elif isinstance(node, ast.Compare):
        spots = [node.left, *node.comparators]
    elif isinstance(node, ast.comprehension):
        spots = [node.iter]
    elif isinstance(node, ast.ListComp | ast.GeneratorExp):
        spots = [node.elt]
    elif isinstance(node, ast.Call):
        spots = [*node.args]
        if isinstance(node.func, ast.Attribute):
            spots.append(node.func.value)
    elif isinstance(node, ast.Subscript):
        spots = [node.slice]
    for spot in spots:
        if isinstance(spot, _SIMPLE):
            for method in _METHODS:
                if not module.of(spot).endswith(f".{method}"):
                    yield _swap(module, spot, f"{module.of(spot)}.{method}")


def _is_form(node: ast.AST) -> bool:
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    return called and node.func.attr in _FORMS  # type: ignore[attr-defined]


def orders(module: Module, node: ast.AST) -> Iterator[Change]:
    """Sorted or not, forwards or backwards, largest or smallest."""
    if isinstance(node, ast.Call):
        name = module.of(node.func)
        if name in ("min", "max"):
            yield _swap(module, node.func, "max" if name == "min" else "min")
        if name in ("sorted",) or name.endswith(".sort"):
            inside = module.of(node)[:-1]
            named = [k for k in node.keywords if k.arg == "reverse"]
            if not named:
                yield _swap(
                    module, node, f"{inside}{'' if inside[-1] == '(' else ', '}reverse=True)"
                )
            for keyword in node.keywords:
                if keyword.arg == "key" and isinstance(keyword.value, ast.Lambda):
                    body = keyword.value.body
                    first = body.elts[0] if isinstance(body, ast.Tuple) else body
                    yield _swap(module, first, f"-{module.of(first)}")
        if name in ("sorted", "reversed") and node.args:
            yield _swap(module, node, f"list({module.of(node.args[0])})")
        if name.endswith(".append") and len(node.args) == 1:
            yield _swap(module, node, f"{name[:-7]}.insert(0, {module.of(node.args[0])})")
        if name.endswith(".insert") and len(node.args) == 2:
            yield _swap(module, node, f"{name[:-7]}.append({module.of(node.args[1])})")
        if name == "list" and len(node.args) == 1:
            inner = module.of(node.args[0])
            yield _swap(module, node, f"sorted({inner})")
            yield _swap(module, node, f"list(reversed({inner}))")
    elif isinstance(node, ast.Assign | ast.Return) and isinstance(
        node.value, ast.Name | ast.Subscript
    ):
        yield _swap(module, node.value, f"sorted({module.of(node.value)})")
    yield from _backwards(module, node)


def _backwards(module: Module, node: ast.AST) -> Iterator[Change]:
    """What is gone through or given back, from the other end."""
    spots: list[ast.expr] = []
    if isinstance(node, ast.For | ast.comprehension):
        spots = [node.iter]
    elif isinstance(node, ast.Assign | ast.Return) and node.value is not None:
        spots = [node.value]
    elif isinstance(node, ast.Call) and len(node.args) == 1:
        spots = node.args
    for spot in spots:
        text = module.of(spot)
        if text.endswith("[::-1]"):
            yield _swap(module, spot, text[:-6])
        elif isinstance(spot, ast.Call) and module.of(spot.func) == "reversed" and spot.args:
            yield _swap(module, spot, module.of(spot.args[0]))
        elif isinstance(spot, ast.Name):
            yield _swap(module, spot, f"{text}[::-1]")


def copies(module: Module, node: ast.AST) -> Iterator[Change]:
    """An object of its own in place of the caller's, or the caller's own."""
    if isinstance(node, ast.Call) and module.of(node.func) in ("list", "dict") and node.args:
        yield _swap(module, node, module.of(node.args[0]))
    if isinstance(node, ast.Assign | ast.Return) and isinstance(
        node.value, ast.Name | ast.Attribute
    ):
        for maker in ("list", "dict"):
            yield _swap(module, node.value, f"{maker}({module.of(node.value)})")


def swaps(module: Module, node: ast.AST) -> Iterator[Change]:
    """Two arguments, or two sides of a difference, exchanged."""
    if isinstance(node, ast.Call) and len(node.args) == 2:
        first, second = node.args
    elif isinstance(node, ast.Tuple | ast.List) and len(node.elts) == 2:
        first, second = node.elts
    elif isinstance(node, ast.BinOp):
        first, second = node.left, node.right
    else:
        return
    fixed = isinstance(first, ast.Constant), isinstance(second, ast.Constant)
    if isinstance(first, ast.Starred) or (any(fixed) and not all(fixed)):
        return
    gap = module.text[module.end(first) : module.start(second)]
    yield module.start(first), module.end(second), module.of(second) + gap + module.of(first)


def endings(module: Module, node: ast.AST) -> Iterator[Change]:
    """Another way out of a special case, or no special case at all."""
    if not isinstance(node, ast.If) or node.orelse or len(node.body) != 1:
        return
    way = node.body[0]
    if not isinstance(way, ast.Return | ast.Raise | ast.Continue | ast.Break | ast.Assign):
        return
    for other in _WAYS:
        if other != module.of(way):
            yield module.start(way), module.end(way), other
    start, end = module.lines(module.start(node), module.end(node))
    yield start, min(end + 1, len(module.text)), ""


_WAYS = (
    "return None",
    "return 0",
    "return []",
    'return ""',
    'raise ValueError("wrong")',
    "continue",
)


def missing(module: Module, node: ast.AST) -> Iterator[Change]:
    """Nothing told apart from nought and empty, or not; another value for nothing."""
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.IsNot):
        yield _swap(module, node, module.of(node.left))
    tests: list[ast.expr] = [node.test] if isinstance(node, ast.If | ast.IfExp) else []
    if isinstance(node, ast.comprehension):
        tests = node.ifs
    for test in tests:
        if isinstance(test, ast.Name):
            yield _swap(module, test, f"{module.of(test)} is not None")
    if isinstance(node, ast.Constant) and (node.value is None or node.value == 0):
        yield _swap(module, node, "0" if node.value is None else "None")


def factors(module: Module, node: ast.AST) -> Iterator[Change]:
    """Another unit: a large number for another, a factor more or less."""
    if isinstance(node, ast.Constant) and type(node.value) is int and node.value >= _UNITS[0]:
        for other in _UNITS:
            if other != node.value:
                yield _swap(module, node, str(other))
    if (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Mult | ast.FloorDiv | ast.Div)
        and module.of(node.right) in map(str, _UNITS)
    ):
        yield _swap(module, node, module.of(node.left))
    if isinstance(node, ast.Return) and isinstance(node.value, ast.Name | ast.Call | ast.BinOp):
        for sign in ("*", "//"):
            yield _swap(module, node.value, f"({module.of(node.value)}) {sign} 100")


_UNITS = (60, 100, 1000, 3600)


def roundings(module: Module, node: ast.AST) -> Iterator[Change]:
    """Down, up, to the nearest, or not at all."""
    if not isinstance(node, ast.BinOp | ast.Call | ast.UnaryOp):
        return
    division: ast.AST = node
    if isinstance(node, ast.Call) and module.of(node.func) == "round" and node.args:
        division = node.args[0]
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        division = node.operand
    if not isinstance(division, ast.BinOp) or not isinstance(division.op, ast.Div | ast.FloorDiv):
        return
    top, below = module.of(division.left), module.of(division.right)
    if division is not node and isinstance(node, ast.UnaryOp):
        top = top.removeprefix("-")
    ways = (f"{top} // {below}", f"-(-{top} // {below})", f"round({top} / {below})")
    for way in (*ways, f"{top} / {below}"):
        if way != module.of(node):
            yield _swap(module, node, way)


TEMPLATES: tuple[Template, ...] = (
    endings,
    missing,
    factors,
    roundings,
    symbols,
    increments,
    negations,
    nudges,
    constants,
    text_forms,
    orders,
    copies,
    swaps,
)


def substituted(module: Module, function: Function, known: list[Substitution]) -> Iterator[Change]:
    """Substitutions that were made elsewhere, wherever the same tokens stand here."""
    start = module.start(function.node)
    text = module.of(function.node)
    for each in known:
        for found in re.finditer(_pattern(each.gone), text):
            yield start + found.start(), start + found.end(), each.come


def _pattern(gone: tuple[str, ...]) -> str:
    first = r"\b" if gone[0][0].isalnum() else r"(?<![-+*/<>=!])"
    last = r"\b" if gone[-1][-1].isalnum() else r"(?![-+*/<>=])"
    return first + r"\s*".join(map(re.escape, gone)) + last


def guards(module: Module, function: Function, donors: list[str]) -> Iterator[Change]:
    """A special case before everything else: as other functions have it, or a plain one."""
    names = [a.arg for a in function.node.args.args if a.arg not in ("self", "cls")]
    body = [s for s in function.node.body if not _is_docstring(s)]
    if not body:
        return
    start = module.lines(module.start(body[0]), module.start(body[0]))[0]
    pad = " " * body[0].col_offset
    heads = [f"if not {name}:\n    {end}" for name in names for end in _ENDS]
    heads += [f'if {name} < {n}:\n    raise ValueError("{name}")' for name in names for n in (1, 0)]
    for text in [*donors, *heads]:
        lines = "".join(f"{pad}{line}\n" for line in text.split("\n"))
        if lines not in module.text[start : module.end(function.node)]:
            yield start, start, lines


_ENDS = ("return 0", 'return ""', "return []", 'raise ValueError("empty")')


def donated(module: Module, function: Function) -> list[str]:
    """Special cases of other functions that speak only of what this one is given too."""
    own = {a.arg for a in function.node.args.args}
    found = []
    for other in module.functions:
        for part in other.node.body:
            if isinstance(part, ast.If) and isinstance(part.body[0], ast.Return | ast.Raise):
                named = {n.id for n in ast.walk(part.test) if isinstance(n, ast.Name)}
                if named <= own | {"len", "isinstance"} and other.name != function.name:
                    found.append(ast.unparse(part))
    return list(dict.fromkeys(found))


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
