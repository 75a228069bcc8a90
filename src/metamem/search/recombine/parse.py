"""From a design's source back to a genome. Any design can be read: one that is not made of the
known plumbing and blocks becomes a single whole part.
"""

import ast
import copy
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache

from metamem.core.errors import DataError
from metamem.designs import library
from metamem.designs.blocks import (
    COMBINE,
    FAMILIES,
    Block,
    Method,
    blocks,
    class_constants,
)
from metamem.search.novelty import syntax_key
from metamem.search.recombine.genome import (
    FIRST,
    SECOND,
    Genome,
    LayerGene,
    SlotGene,
    WholeGene,
    bare_dump,
    defined,
    from_block,
    join,
    named,
)
from metamem.search.recombine.render import MEMORY, RESERVED, render

NOTHING = "no_memory"


class _NotKnown(Exception):
    """Not made of known plumbing and blocks."""


def parse(source: str) -> Genome:
    """The genome of any design."""
    return _parse(source).copy()


@lru_cache(maxsize=256)
def _parse(source: str) -> Genome:
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise DataError(f"a parent is not Python: {error}") from error
    together = from_block(blocks(COMBINE)[0])
    if syntax_key(source) == syntax_key(library.load(NOTHING).source):
        return Genome([], together)  # there is no part worth keeping
    try:
        genome = _structured(tree)
        # What the plumbing of this file does is only known if it comes out the same again.
        if syntax_key(render(genome, "")) == syntax_key(source):
            return genome
    except _NotKnown:
        pass
    return Genome([whole(tree)], together)


def whole(tree: ast.Module) -> WholeGene:
    """A design as one part: its memory class becomes a layer, all else stays."""
    main = memory_class(tree)
    definitions, imports = _split(tree)
    gene = WholeGene(main, [_as_layer(copy.deepcopy(n)) for n in definitions], imports)
    return renamed(gene, RESERVED)


def renamed(gene: WholeGene, taken: Iterable[str]) -> WholeGene:
    """The same with every name changed that is taken."""
    taken = set(taken)
    own = defined(gene.definitions)
    names: dict[str, str] = {}
    for name in sorted(own & taken):
        number = 2
        while f"{name}{number}" in taken | own:
            number += 1
        names[name] = f"{name}{number}"
    if not names:
        return gene
    rename = _Rename(names)
    definitions = [rename.visit(copy.deepcopy(node)) for node in gene.definitions]
    return WholeGene(names.get(gene.main, gene.main), definitions, gene.imports)


class _Rename(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.name = self.names.get(node.name, node.name)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if node.col_offset == 0:  # methods keep their names
            node.name = self.names.get(node.name, node.name)
        return self.generic_visit(node)


def _as_layer(node: ast.stmt) -> ast.stmt:
    """A file has one memory: inside another, a memory is a layer."""
    if isinstance(node, ast.ClassDef):
        for base in node.bases:
            if isinstance(base, ast.Name) and base.id == "Memory":
                base.id = "Layer"
    return node


def _split(tree: ast.Module) -> tuple[list[ast.stmt], list[ast.Import | ast.ImportFrom]]:
    imports = [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    rest = [n for n in tree.body if not isinstance(n, ast.Import | ast.ImportFrom)]
    if rest and isinstance(rest[0], ast.Expr) and isinstance(rest[0].value, ast.Constant):
        rest = rest[1:]  # the docstring of the file
    return rest, imports


def memory_class(tree: ast.Module) -> str:
    classes = [n for n in tree.body if isinstance(n, ast.ClassDef)]
    memories: list[str] = []
    for node in classes:
        bases = {b.id for b in node.bases if isinstance(b, ast.Name)}
        if bases & {"Memory", *memories}:
            memories = [name for name in memories if name not in bases] + [node.name]
    if not memories:
        raise DataError("a parent has no class that is a Memory")
    return memories[-1]


# --- designs made by recombination -----------------------------------------------------------


def _structured(tree: ast.Module) -> Genome:
    definitions, imports = _split(tree)
    classes = {n.name: n for n in definitions if isinstance(n, ast.ClassDef)}
    memory = classes.get(MEMORY)
    if memory is None:
        raise _NotKnown
    parts: list[LayerGene | WholeGene] = []
    for call in _part_calls(memory):
        match call:
            case ast.Call(ast.Name("Whole"), [_, ast.Call(ast.Name(name))]) if name in classes:
                needed = _closure(name, definitions)
                parts.append(WholeGene(name, needed, _used_imports(needed, imports)))
            case ast.Call(ast.Name(name)) if name in classes:
                parts.append(_layer(classes[name]))
            case _:
                raise _NotKnown
    retrieve = [n for n in memory.body if isinstance(n, Method) and n.name == "retrieve"]
    return Genome(parts, _identify(COMBINE, retrieve), class_constants(memory))


def _part_calls(memory: ast.ClassDef) -> list[ast.expr]:
    for node in ast.walk(memory):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.List):
            target = node.targets[0]
            if isinstance(target, ast.Attribute) and target.attr == "parts":
                return node.value.elts
    raise _NotKnown


def _layer(node: ast.ClassDef) -> LayerGene:
    bases = {base.id for base in node.bases if isinstance(base, ast.Name)}
    family = next((family for family in FAMILIES if family.base in bases), None)
    if family is None:
        raise _NotKnown
    methods = [n for n in node.body if isinstance(n, Method)]
    slots: dict[str, SlotGene] = {}
    for slot in family.slots:
        own = [m for m in methods if m.name == slot or m.name.startswith(f"{slot}_")]
        slots[slot] = _identify(slot, own)
    return LayerGene(slots, class_constants(node))


def _identify(slot: str, methods: Sequence[Method]) -> SlotGene:
    """Which block, or which two, these methods are."""
    if not methods:
        raise _NotKnown
    if not any(m.name == slot + FIRST for m in methods):
        return _single(slot, methods)
    halves = []
    for suffix in (FIRST, SECOND):
        half = [named(m, m.name.removesuffix(suffix)) for m in methods if m.name.endswith(suffix)]
        halves.append(_single(slot, half))
    return join(*halves)


def _single(slot: str, methods: Sequence[Method]) -> SlotGene:
    block = _blocks_by_code(slot).get(frozenset(map(bare_dump, methods)))
    if block is None:
        raise _NotKnown
    return from_block(block)


@cache
def _blocks_by_code(slot: str) -> Mapping[frozenset[str], Block]:
    return {frozenset(map(bare_dump, block.methods)): block for block in blocks(slot)}


def _closure(name: str, definitions: list[ast.stmt]) -> list[ast.stmt]:
    """The definition of a name with all that it needs, in their order."""
    by_name = {n: node for node in definitions for n in defined([node])}
    needed, waiting = {name}, [name]
    while waiting:
        node = by_name[waiting.pop()]
        for used in (n.id for n in ast.walk(node) if isinstance(n, ast.Name)):
            if used in by_name and used not in needed:
                needed.add(used)
                waiting.append(used)
    return [node for node in definitions if defined([node]) & needed]


def _used_imports(
    definitions: list[ast.stmt], imports: list[ast.Import | ast.ImportFrom]
) -> list[ast.Import | ast.ImportFrom]:
    used = {n.id for d in definitions for n in ast.walk(d) if isinstance(n, ast.Name)}
    kept: list[ast.Import | ast.ImportFrom] = []
    for node in imports:
        aliases = [a for a in node.names if (a.asname or a.name).split(".")[0] in used]
        if aliases:
            narrowed = copy.copy(node)
            narrowed.names = aliases
            kept.append(narrowed)
    return kept
