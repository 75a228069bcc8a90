"""Drawing blocks, constants and layers by chance. Weights come from credit, or are all equal."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import TypeVar

from metamem.designs.blocks import (
    BOUNDS,
    COMBINE,
    FAMILIES,
    Block,
    Family,
    Number,
    blocks,
    family_with,
    plumbing,
)
from metamem.search.recombine.genome import Genome, LayerGene, SlotGene, from_block

T = TypeVar("T")
Weights = Mapping[str, float]  # by "slot:block"; a missing one counts as 1

# How often a slot of a new layer is the plainest: these can only take away.
PLAIN: Mapping[str, float] = {
    "admit": 0.6,
    "trim": 0.6,
    "forget": 0.8,
    "key": 0.6,
    "heed": 0.4,
    "settle": 0.4,
}
FITTING = 0.8  # how often a slot of a new layer is of the sort that suits its `keep`
OWN_CONSTANT = 0.5  # how often a new constant is the block's own
NEW_PARTS = (1, 1, 2)  # of a fresh design, by chance
MOST_PARTS = 4


def choose(rng: Random, options: Sequence[T], weights: Sequence[float]) -> T:
    return rng.choices(options, weights)[0]


def _weighed(rng: Random, options: Sequence[Block], weights: Weights) -> Block:
    return choose(rng, options, [weights.get(f"{b.slot}:{b.name}", 1.0) for b in options])


def block(rng: Random, slot: str, weights: Weights, *, other_than: str = "") -> Block:
    return _weighed(rng, [b for b in blocks(slot) if b.name != other_than], weights)


def another(rng: Random, layer: LayerGene, slot: str, weights: Weights) -> SlotGene:
    """Another block for a slot of a layer, most often one that suits what the layer keeps."""
    old = layer.slots[slot].name
    lead = layer.family.named_by[0]
    leads = [b for b in blocks(lead) if b.name in layer.slots[lead].names]
    fits = [b for found in leads for b in fitting(found).get(slot, ()) if b.name != old]
    if fits and rng.random() < FITTING:
        return from_block(_weighed(rng, fits, weights))
    return from_block(block(rng, slot, weights, other_than=old))


def layer(rng: Random, weights: Weights, family: Family | None = None) -> LayerGene:
    """A new layer: its slots by chance, but most often such that they can work together."""
    if family is None:
        family = rng.choice(FAMILIES)
    chosen = {slot: block(rng, slot, weights) for slot in family.slots}
    for slot, often in PLAIN.items():
        if slot in chosen and rng.random() < often:
            chosen[slot] = blocks(slot)[0]
    for slot, fits in fitting(chosen[family.named_by[0]]).items():
        if rng.random() < FITTING:
            chosen[slot] = _weighed(rng, fits, weights)
    constants: dict[str, Number] = dict(plumbing().base_constants[family.base])
    for each in chosen.values():
        constants.update(each.constants)
    for name, value in constants.items():
        if rng.random() >= OWN_CONSTANT:
            constants[name] = moved(rng, name, value)
    return LayerGene({slot: from_block(b) for slot, b in chosen.items()}, constants)


def fitting(lead: Block) -> dict[str, list[Block]]:
    """The blocks that can find, and say, what a `keep` keeps; or say what a `think` works out."""
    if lead.slot == "hear":
        return {}
    if lead.slot == "think":
        return {
            slot: [b for b in blocks(slot) if not b.shape or lead.shape in b.shape.split()]
            for slot in ("where", "fit", "tell")
        }
    filed = "word" if lead.deals_with == "word" else "text"
    return {
        "ask": [b for b in blocks("ask") if b.deals_with == lead.deals_with],
        "match": [b for b in blocks("match") if b.suits in ("", filed)],
        "phrase": [b for b in blocks("phrase") if b.shape == lead.shape],
    }


def plain(lead: Block) -> LayerGene:
    """The layer that a block leads in the plainest company that suits it."""
    family = family_with(lead.slot)
    chosen = {slot: blocks(slot)[0] for slot in family.slots}
    chosen |= {slot: fits[0] for slot, fits in fitting(lead).items()} | {lead.slot: lead}
    layer = LayerGene({slot: from_block(b) for slot, b in chosen.items()}, {})
    layer.set_slot(from_block(lead))  # draws in the constants
    return layer


def fresh(rng: Random, weights: Weights) -> Genome:
    """A design from nothing."""
    parts = [layer(rng, weights) for _ in range(rng.choice(NEW_PARTS))]
    return Genome([*parts], from_block(block(rng, COMBINE, weights)))


def moved(rng: Random, name: str, value: Number) -> Number:
    """A constant after one step: whole numbers stay whole, and all stay within bounds."""
    low, high = BOUNDS.get(name) or _guessed_bounds(value)
    if isinstance(value, int):
        step = max(1, round(value * rng.choice((0.25, 0.5, 1.0))))
        stepped = value + rng.choice((-1, 1)) * step
        if not low <= stepped <= high:
            stepped = 2 * value - stepped
        return int(min(max(stepped, low), high))
    width = (high - low) * rng.choice((0.05, 0.1, 0.2))
    return round(min(max(value + rng.choice((-1, 1)) * width, low), high), 3)


def _guessed_bounds(value: Number) -> tuple[Number, Number]:
    """For constants of designs that people wrote: a share stays a share, nothing is negative."""
    if isinstance(value, int):
        return 1, max(8, 4 * value)
    return 0.0, 1.0 if value <= 1 else 4 * value
