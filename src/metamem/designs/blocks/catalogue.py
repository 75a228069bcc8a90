"""The blocks read as syntax trees: what recombination puts together."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

Method = ast.FunctionDef | ast.AsyncFunctionDef
Number = int | float

# In the order in which they act, which is also the order in which a layer is written down.
SLOTS = (
    "admit",
    "trim",
    "keep",
    "form",
    "forget",
    "ask",
    "key",
    "match",
    "prefer",
    "adapt",
    "phrase",
)
THINKING = ("think", "whose", "where", "fit", "tell")
LISTENING = ("hear", "heed", "weigh", "settle", "answer")
COMBINE = "combine"

# What every constant of a block may be. Whole numbers stay whole.
BOUNDS: Mapping[str, tuple[Number, Number]] = {
    "TOP": (1, 8),
    "BUDGET": (60, 1500),
    "ADVICE": (200, 3500),
    "STEPS": (4, 60),
    "LAST": (1, 12),
    "LINES": (2, 30),
    "CAPACITY": (20, 3000),
    "SHORTEST": (1, 5),
    "SHARE": (0.05, 0.6),
    "LETTERS": (2, 7),
    "SHARED": (0.1, 0.9),
    "NEAREST": (1, 15),
    "FLOOR": (0.0, 0.9),
    "RANKED": (1, 15),
    "ALIKE": (0.3, 0.95),
    "DOUBT": (0.0, 5.0),
    "WAYS": (1, 16),
    "FEWEST": (1, 12),
    "PLACES": (1, 16),
    "TIES": (1, 10),
    "NODES": (200, 6000),
    "AGAIN": (2, 30),
    "MARGIN": (1, 4),
    "NEAR": (0.4, 0.95),
}


@dataclass(frozen=True)
class Block:
    """One way to fill one slot."""

    slot: str
    name: str
    does: str  # the rest of a sentence
    methods: tuple[Method, ...]
    constants: Mapping[str, Number]
    deals_with: str = ""  # what a `keep` files under, or an `ask` asks for
    shape: str = ""  # of what a `keep` or a `think` makes; of others, what they suit; empty: any
    suits: str = ""  # what a `match` is meant for: `word`, `text`, or both


@dataclass(frozen=True)
class Family:
    """Layers of one build: the same class below them, the same slots."""

    base: str  # the class, in the file of its name
    slots: tuple[str, ...]
    named_by: tuple[str, str]  # the slots that say most about a layer; the first is drawn first
    does: str  # a sentence with the two


# A layer that stores files values and finds them again; one that thinks works out what to do; one
# that listens keeps lines and tells the few that answer.
STORES = Family("Part", SLOTS, ("keep", "ask"), "Keeps {}; asks for {}.")
THINKERS = Family("Thinker", THINKING, ("think", "whose"), "Works out {}; from {}.")
LISTENERS = Family("Listener", LISTENING, ("hear", "weigh"), "Keeps {}; weighs {}.")
FAMILIES = (STORES, THINKERS, LISTENERS)


def family_with(slot: str) -> Family:
    return next(family for family in FAMILIES if slot in family.slots)


@dataclass(frozen=True)
class Plumbing:
    """Source of the classes that children share, as it stands in the files."""

    whole: str
    bases: Mapping[str, str]  # by family, each with the rows that it keeps
    base_constants: Mapping[str, Mapping[str, Number]]
    memory_constants: Mapping[str, Number]
    memory_methods: str  # that every memory has, whatever its blocks


def _source(module: str) -> str:
    return resources.files(__package__).joinpath(f"{module}.py").read_text(encoding="utf-8")


def _classes(module: str) -> list[ast.ClassDef]:
    return [n for n in ast.parse(_source(module)).body if isinstance(n, ast.ClassDef)]


def _is_empty_slot(method: Method) -> bool:
    return isinstance(method.body[-1], ast.Raise)


def class_constants(node: ast.ClassDef) -> dict[str, Number]:
    """The numbers that a class names in capitals."""
    found: dict[str, Number] = {}
    for statement in node.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
            target, value = statement.targets[0], statement.value.value
            if (
                isinstance(target, ast.Name)
                and target.id.isupper()
                and isinstance(value, int | float)
                and not isinstance(value, bool)
            ):
                found[target.id] = value
    return found


def _said(node: ast.ClassDef, *names: str) -> str:
    """The text that a class gives under one of the names."""
    for statement in node.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
            target = statement.targets[0]
            if isinstance(target, ast.Name) and target.id in names:
                return str(statement.value.value)
    return ""


def _block(slot: str, node: ast.ClassDef) -> Block:
    methods = [n for n in node.body if isinstance(n, Method) and not _is_empty_slot(n)]
    return Block(
        slot,
        node.name,
        ast.get_docstring(node) or "",
        tuple(methods),
        class_constants(node),
        _said(node, "ABOUT", "ASKS"),
        _said(node, "SHAPE"),
        _said(node, "SUITS"),
    )


@cache
def blocks(slot: str) -> tuple[Block, ...]:
    """Every block for a slot, in the order of its file: the plainest first."""
    nodes = _classes(slot)
    if slot == COMBINE:
        nodes = [n for n in nodes if n.name not in ("Whole", "Recombined")]
    return tuple(_block(slot, node) for node in nodes)


@cache
def composers() -> Mapping[str, Block]:
    """For each slot that two blocks can share, the method that calls both."""
    found = {}
    for node in _classes("compose"):
        block = _block("", node)
        slot = block.methods[0].name
        found[slot] = Block(slot, block.name, block.does, block.methods, {})
    return found


@cache
def plumbing() -> Plumbing:
    """`Row`, `Whole` and the classes of the families without their empty slots, word for word with
    their comments."""
    files = {family.base: family.base.lower() for family in FAMILIES}
    memory = {n.name: n for n in _classes(COMBINE)}
    return Plumbing(
        _with_decorators(_source(COMBINE), memory["Whole"]),
        {base: "\n\n\n".join(_plumbing_of(base, file)) for base, file in files.items()},
        {base: class_constants(_classes(file)[-1]) for base, file in files.items()},
        class_constants(memory["Recombined"]),
        _with_decorators(_source(COMBINE), _method(memory["Recombined"], "said")),
    )


def _method(node: ast.ClassDef, name: str) -> Method:
    return next(n for n in node.body if isinstance(n, Method) and n.name == name)


def _plumbing_of(base: str, file: str) -> Iterator[str]:
    """The classes of a family's file: what a layer keeps, and the layer without its slots."""
    source = _source(file)
    for node in _classes(file):
        yield _without_slots(source, node) if node.name == base else _with_decorators(source, node)


def _without_slots(source: str, node: ast.ClassDef) -> str:
    """The empty slots stand at the end, under a comment line of their own."""
    empty = [n for n in node.body if isinstance(n, Method) and _is_empty_slot(n)]
    return "\n".join(source.split("\n")[node.lineno - 1 : empty[0].lineno - 3]).rstrip()


@cache
def imported() -> Mapping[str, str]:
    """Where the names come from that blocks use beside the contract, by name."""
    found = {}
    for module in (*THINKING, "thinker"):
        for node in ast.parse(_source(module)).body:
            if isinstance(node, ast.ImportFrom) and "thinking" in (node.module or ""):
                found.update({alias.name: str(node.module) for alias in node.names})
    return found


def _with_decorators(source: str, node: ast.ClassDef | Method) -> str:
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    return "\n".join(source.split("\n")[first - 1 : node.end_lineno])
