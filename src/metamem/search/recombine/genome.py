"""A design as what recombination changes: parts, each slot of which is a few methods.

Syntax trees are shared between genomes and never changed in place: a change puts a new one.
"""

import ast
import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from metamem.designs.blocks import (
    COMBINE,
    FAMILIES,
    Block,
    Family,
    Method,
    Number,
    blocks,
    composers,
    family_with,
    plumbing,
)

FIRST, SECOND = "_first", "_second"


def defined(statements: list[ast.stmt]) -> set[str]:
    """The names that module-level statements define."""
    names: set[str] = set()
    for node in statements:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        else:
            stored = (n for n in ast.walk(node) if isinstance(n, ast.Name))
            names |= {n.id for n in stored if isinstance(n.ctx, ast.Store)}
    return names


def with_docstring(method: Method, words: str) -> Method:
    """The same method saying something else about itself; empty: nothing."""
    body = method.body[1:] if ast.get_docstring(method) is not None else method.body
    changed = copy.copy(method)
    said: list[ast.stmt] = [ast.Expr(ast.Constant(words))] if words else []
    changed.body = [*said, *(body or [ast.Pass()])]
    return changed


def bare_dump(method: Method) -> str:
    """The tree without its docstring: equal for the same code."""
    return ast.dump(with_docstring(method, ""))


@dataclass(frozen=True)
class SlotGene:
    """What fills one slot: its own method first, then those that help it."""

    slot: str
    names: tuple[str, ...]  # of the block, or of the two that share the slot
    does: str
    methods: list[Method]

    @property
    def name(self) -> str:
        return " and ".join(self.names)

    @property
    def joined(self) -> bool:
        return len(self.names) > 1


def from_block(block: Block) -> SlotGene:
    own = block.slot if block.slot != COMBINE else "retrieve"
    methods = sorted(block.methods, key=lambda m: m.name != own)
    return SlotGene(block.slot, (block.name,), block.does, methods)


def join(first: SlotGene, second: SlotGene) -> SlotGene:
    """Both in one slot: the slot's composer calls the two."""
    composer = composers()[first.slot]
    methods = list(composer.methods)
    for gene, suffix in ((first, FIRST), (second, SECOND)):
        methods += [named(method, method.name + suffix) for method in gene.methods]
    helpers = [m.name for m in first.methods + second.methods if m.name != first.slot]
    methods += [_calls_both(name, methods) for name in dict.fromkeys(helpers)]
    does = f"{first.does}, and {second.does}: {composer.does}"
    return SlotGene(first.slot, (*first.names, *second.names), does, methods)


def named(method: Method, name: str) -> Method:
    """The same method under another name."""
    changed = copy.copy(method)
    changed.name = name
    return changed


def _calls_both(name: str, methods: list[Method]) -> Method:
    """A hook of `Part` that calls what the joined blocks have made of it."""
    parts = [m for m in methods if m.name in (name + FIRST, name + SECOND)]
    hook = named(parts[0], name)
    passed = [ast.Name(a.arg, ast.Load()) for a in hook.args.args[1:]]
    hook.body = []
    for part in parts:
        function = ast.Attribute(ast.Name("self", ast.Load()), part.name, ast.Load())
        call: ast.expr = ast.Call(function, list(passed), [])
        if isinstance(part, ast.AsyncFunctionDef):
            call = ast.Await(call)
        hook.body.append(ast.Expr(call))
    return ast.fix_missing_locations(hook)


def all_slots() -> tuple[str, ...]:
    return tuple(slot for family in FAMILIES for slot in family.slots)


@cache
def known_constants() -> Mapping[tuple[str, str], Mapping[str, Number]]:
    """The constants of every block, by slot and name."""
    return {(s, b.name): b.constants for s in (*all_slots(), COMBINE) for b in blocks(s)}


@dataclass
class LayerGene:
    """One layer: every slot filled, and the constants that the slots use."""

    slots: dict[str, SlotGene]
    constants: dict[str, Number]

    @property
    def family(self) -> Family:
        return family_with(next(iter(self.slots)))

    def set_slot(self, gene: SlotGene) -> None:
        """Fill a slot anew; constants that nothing uses any more go, new ones come."""
        self.slots[gene.slot] = gene
        wanted = dict(plumbing().base_constants[self.family.base])
        for slot, filled in self.slots.items():
            for name in filled.names:
                wanted.update(known_constants()[slot, name])
        self.constants = {name: self.constants.get(name, wanted[name]) for name in wanted}

    def alike(self, other: "LayerGene") -> bool:
        """The same blocks and constants."""
        ours, theirs = ({s: g.names for s, g in each.slots.items()} for each in (self, other))
        return ours == theirs and self.constants == other.constants

    @property
    def name(self) -> str:
        first, second = ("".join(self.slots[slot].names) for slot in self.family.named_by)
        return f"{first}By{second}"

    @property
    def does(self) -> str:
        return self.family.does.format(*(self.slots[slot].does for slot in self.family.named_by))


@dataclass(frozen=True)
class WholeGene:
    """A design that stands alone, as one part: its definitions as they are."""

    main: str  # the class that is the memory
    definitions: list[ast.stmt]
    imports: list[ast.Import | ast.ImportFrom]

    @property
    def name(self) -> str:
        return self.main

    @property
    def does(self) -> str:
        for node in self.definitions:
            if isinstance(node, ast.ClassDef) and node.name == self.main:
                return (ast.get_docstring(node) or "").split("\n")[0] or f"As {self.main} does."
        return ""


PartGene = LayerGene | WholeGene


@dataclass
class Genome:
    """A whole design: its parts in the order they speak, and how they answer together."""

    parts: list[PartGene]
    combine: SlotGene
    constants: dict[str, Number] = field(default_factory=lambda: dict(plumbing().memory_constants))

    @property
    def layers(self) -> list[LayerGene]:
        return [part for part in self.parts if isinstance(part, LayerGene)]

    def copy(self) -> "Genome":
        """A genome that can be changed without changing this one."""
        parts = [
            LayerGene(dict(part.slots), dict(part.constants))
            if isinstance(part, LayerGene)
            else part
            for part in self.parts
        ]
        return Genome(parts, self.combine, dict(self.constants))

    @property
    def summary(self) -> str:
        return " + ".join(part.name for part in self.parts)
