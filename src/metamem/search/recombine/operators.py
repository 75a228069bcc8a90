"""The changes that recombination can make. Each works on a copy of the first parent's genome."""

import ast
import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from random import Random

from metamem.designs import library
from metamem.designs.blocks import (
    COMBINE,
    FAMILIES,
    Number,
    blocks,
    class_constants,
    composers,
)
from metamem.search.recombine import draw
from metamem.search.recombine.genome import (
    Genome,
    LayerGene,
    PartGene,
    WholeGene,
    all_slots,
    defined,
    from_block,
    join,
)
from metamem.search.recombine.parse import renamed, whole
from metamem.search.recombine.recast import RECASTS


@dataclass(frozen=True)
class Lender:
    """Another parent, from which parts may be taken."""

    id: str
    genome: Genome


@dataclass(frozen=True)
class Surroundings:
    """What an operator may use beside the genome it changes."""

    rng: Random
    weights: draw.Weights = field(default_factory=dict)
    lenders: tuple[Lender, ...] = ()


@dataclass(frozen=True)
class Change:
    """What an operator did."""

    operator: str
    detail: str  # the block or part that came in, or what was changed
    note: str  # a clause for people
    lender: str = ""

    @property
    def label(self) -> str:
        return f"{self.operator}({self.detail})" if self.detail else self.operator


Apply = Callable[[Genome, Surroundings], Change | None]  # None: there is nothing to change


def _replace(slot: str) -> Apply:
    def apply(genome: Genome, around: Surroundings) -> Change | None:
        having = [layer for layer in genome.layers if slot in layer.slots]
        if not having:
            return None
        layer = around.rng.choice(having)
        name, old = layer.name, layer.slots[slot]
        new = draw.another(around.rng, layer, slot, around.weights)
        layer.set_slot(new)
        note = f"in {name}, {slot} is now {new.name} ({new.does}) in place of {old.name}"
        if slot == layer.family.named_by[0]:
            _follow(layer, around)
        return Change(f"replace {slot}", new.name, note)

    return apply


def _follow(layer: LayerGene, around: Surroundings) -> None:
    """What finds and says follows what is kept or worked out, most often."""
    lead = layer.family.named_by[0]
    (now,) = (b for b in blocks(lead) if b.name == layer.slots[lead].name)
    for slot, fits in draw.fitting(now).items():
        suits = {block.name for block in fits}
        if not suits & set(layer.slots[slot].names) and around.rng.random() < draw.FITTING:
            layer.set_slot(draw.another(around.rng, layer, slot, around.weights))


def _join(genome: Genome, around: Surroundings) -> Change | None:
    """Two blocks share a slot: a back-off, a tie-break, one after the other."""
    free = [
        (layer, slot)
        for layer in genome.layers
        for slot in composers()
        if slot in layer.slots and not layer.slots[slot].joined
    ]
    if not free:
        return None
    layer, slot = around.rng.choice(free)
    name, old = layer.name, layer.slots[slot]
    new = draw.another(around.rng, layer, slot, around.weights)
    pair = (old, new) if around.rng.random() < 0.5 else (new, old)
    layer.set_slot(join(*pair))
    does = composers()[slot].does
    note = f"in {name}, {slot} is now {pair[0].name} with {pair[1].name} ({does})"
    return Change(f"join {slot}", new.name, note)


def _constant(genome: Genome, around: Surroundings) -> Change | None:
    options: list[tuple[str, str, Number, Callable[[Number], None]]] = []
    for name, value in genome.constants.items():
        options.append(("the memory", name, value, partial(_put, genome.constants, name)))
    for place, part in enumerate(genome.parts):
        if isinstance(part, LayerGene):
            for name, value in part.constants.items():
                options.append((part.name, name, value, partial(_put, part.constants, name)))
            continue
        for node in part.definitions:
            if isinstance(node, ast.ClassDef):
                for name, value in class_constants(node).items():
                    within = partial(_put_in_class, genome, place, node.name, name)
                    options.append((node.name, name, value, within))
    owner, name, value, put = around.rng.choice(options)
    new = draw.moved(around.rng, name, value)
    if new == value:
        return None
    put(new)
    return Change("change constant", name, f"in {owner}, {name} is now {new} in place of {value}")


def _put(constants: dict[str, Number], name: str, value: Number) -> None:
    constants[name] = value


def _put_in_class(genome: Genome, place: int, owner: str, name: str, value: Number) -> None:
    """A whole with one constant of one of its classes changed takes the place of the whole."""
    part = genome.parts[place]
    assert isinstance(part, WholeGene)
    definitions = list(part.definitions)
    for n, node in enumerate(definitions):
        if isinstance(node, ast.ClassDef) and node.name == owner:
            definitions[n] = changed = copy.deepcopy(node)
            for statement in changed.body:
                if isinstance(statement, ast.Assign) and name in defined([statement]):
                    statement.value = ast.Constant(value)
    genome.parts[place] = replace(part, definitions=definitions)


def _room(genome: Genome) -> bool:
    return len(genome.parts) < draw.MOST_PARTS


def _insert(genome: Genome, part: PartGene, rng: Random) -> None:
    """At a random place; a part that asks about what was told comes last."""
    last = len(genome.parts)
    asks = part.slots.get("ask") if isinstance(part, LayerGene) else None
    follows = asks is not None and asks.names[0].startswith("Told")
    genome.parts.insert(last if follows else rng.randint(0, last), part)


def _add_layer(genome: Genome, around: Surroundings) -> Change | None:
    if not _room(genome):
        return None
    layer = draw.layer(around.rng, around.weights)
    _insert(genome, layer, around.rng)
    lead = layer.slots[layer.family.named_by[0]]
    return Change("add layer", lead.name, f"a new part: {layer.does}")


def _drop_layer(genome: Genome, around: Surroundings) -> Change | None:
    if len(genome.parts) < 2:
        return None
    gone = genome.parts.pop(around.rng.randrange(len(genome.parts)))
    return Change("drop layer", "", f"{gone.name} is left out")


def _reorder(genome: Genome, around: Surroundings) -> Change | None:
    if len(genome.parts) < 2:
        return None
    here = around.rng.randrange(1, len(genome.parts))
    part = genome.parts.pop(here)
    genome.parts.insert(around.rng.randrange(here), part)
    return Change("reorder", "", f"{part.name} speaks earlier")


def _combine(genome: Genome, around: Surroundings) -> Change | None:
    if len(genome.parts) < 2:
        return None
    old = genome.combine
    new = from_block(draw.block(around.rng, COMBINE, around.weights, other_than=old.name))
    genome.combine = new
    return Change("replace combine", new.name, f"{new.does} ({new.name} in place of {old.name})")


def _cross(genome: Genome, around: Surroundings) -> Change | None:
    """A part of another parent joins, or takes the place of one here."""
    if not around.lenders:
        return None
    lender = around.rng.choice(around.lenders)
    parts = lender.genome.copy().parts
    if not parts:
        return None
    part = around.rng.choice(parts)
    if not _take_in(genome, part, around.rng):
        return None
    return Change("cross", "", f"{part.name} comes from {lender.id[:8]}", lender.id)


def _borrow(genome: Genome, around: Surroundings) -> Change | None:
    """A slot of another parent's layer takes the place of one here."""
    lenders = [lender for lender in around.lenders if lender.genome.layers]
    if not lenders or not genome.layers:
        return None
    lender = around.rng.choice(lenders)
    theirs = around.rng.choice(lender.genome.copy().layers)
    alike = [layer for layer in genome.layers if layer.family == theirs.family]
    if not alike:
        return None
    ours = around.rng.choice(alike)
    different = [s for s in ours.slots if theirs.slots[s].names != ours.slots[s].names]
    if not different:
        return None
    slot = around.rng.choice(different)
    name, gene = ours.name, theirs.slots[slot]
    ours.set_slot(gene)
    note = f"in {name}, {slot} is {gene.name} ({gene.does}) as in {lender.id[:8]}"
    return Change("borrow", "", note, lender.id)


@cache
def _human_designs() -> Mapping[str, WholeGene]:
    return {name: whole(ast.parse(library.load(name).source)) for name in RECASTS}


def _adopt(genome: Genome, around: Surroundings) -> Change | None:
    """A design that people wrote becomes one part, as it is or written in blocks."""
    if not _room(genome):
        return None
    name = around.rng.choice(list(RECASTS))
    in_blocks = around.rng.random() < 0.5
    part = RECASTS[name].layer() if in_blocks else _human_designs()[name]
    if not _take_in(genome, part, around.rng):
        return None
    how = "in blocks, " if in_blocks else ""
    return Change("adopt", name, f"the human design {name}, {how}becomes a part")


def _recast(genome: Genome, around: Surroundings) -> Change | None:
    """A human design that is a whole part is written in blocks, so that it can be changed."""
    mains = {gene.main: name for name, gene in _human_designs().items()}
    places = [
        n
        for n, part in enumerate(genome.parts)
        if isinstance(part, WholeGene) and part.main in mains
    ]
    if not places:
        return None
    place = around.rng.choice(places)
    name = mains[genome.parts[place].name]
    genome.parts[place] = RECASTS[name].layer()
    return Change("recast", name, f"the human design {name} is written in blocks")


def adapted(genome: Genome, part: PartGene) -> PartGene | None:
    """The part as it can join the others; None where it is among them."""
    if isinstance(part, LayerGene):
        return None if any(part.alike(other) for other in genome.layers) else part
    others = [p for p in genome.parts if isinstance(p, WholeGene)]
    if any(other.main == part.main for other in others):
        return None
    return renamed(part, {name for other in others for name in defined(other.definitions)})


def _take_in(genome: Genome, part: PartGene, rng: Random) -> bool:
    """Adds a part, or puts it in another's place where there is no room; no part twice."""
    fits = adapted(genome, part)
    if fits is None:
        return False
    if _room(genome):
        _insert(genome, fits, rng)
    else:
        genome.parts[rng.randrange(len(genome.parts))] = fits
    return True


def _fresh(genome: Genome, around: Surroundings) -> Change | None:
    new = draw.fresh(around.rng, around.weights)
    genome.parts, genome.combine, genome.constants = new.parts, new.combine, new.constants
    return Change(FRESH, "", f"a new design: {new.summary}")


FRESH = "fresh"
SURVEY = "survey"

OPERATORS: Mapping[str, Apply] = {
    **{f"replace {slot}": _replace(slot) for slot in all_slots()},
    "join": _join,
    "change constant": _constant,
    "add layer": _add_layer,
    "drop layer": _drop_layer,
    "reorder": _reorder,
    "replace combine": _combine,
    "cross": _cross,
    "borrow": _borrow,
    "adopt": _adopt,
    "recast": _recast,
    FRESH: _fresh,
}


def block_of(label: str) -> str:
    """`slot:block` for a label such as `replace key(Pattern)`; empty where it names no block."""
    operator, _, detail = label.partition("(")
    first, _, slot = operator.partition(" ")
    if first in ("replace", "join", SURVEY) and slot and detail:
        return f"{slot}:{detail.partition(')')[0]}"
    if operator in ("add layer", SURVEY) and detail:
        name = detail.removesuffix(")")
        for lead in (family.named_by[0] for family in FAMILIES):
            if name in {block.name for block in blocks(lead)}:
                return f"{lead}:{name}"
    return ""


def operator_of(label: str) -> str:
    """The operator's name for a label: all joins are one operator."""
    name = label.partition("(")[0]
    return "join" if name.startswith("join ") else name
