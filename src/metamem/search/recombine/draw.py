"""Drawing blocks, constants and layers by chance. Weights come from credit, or are all equal."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import TypeVar

from metamem.search.blocks import BOUNDS, COMBINE, SLOTS, Block, Number, blocks, plumbing
from metamem.search.recombine.genome import Genome, LayerGene, SlotGene, from_block

T = TypeVar("T")
Weights = Mapping[str, float]  # by "slot:block"; a missing one counts as 1

FITTING_ASK = 0.8  # how often a new layer asks for the sort of thing it files under
DEFAULT_CONSTANT = 0.5  # how often a new constant is the block's own value
NEW_PARTS = (1, 2, 3)  # of a fresh design, by chance
MOST_PARTS = 4


def choose(rng: Random, options: Sequence[T], weights: Sequence[float]) -> T:
    return rng.choices(options, weights)[0]


def block(rng: Random, slot: str, weights: Weights, *, other_than: str = "") -> Block:
    options = [b for b in blocks(slot) if b.name != other_than]
    return choose(rng, options, [weights.get(f"{slot}:{b.name}", 1.0) for b in options])


def slot_gene(rng: Random, slot: str, weights: Weights, *, other_than: str = "") -> SlotGene:
    return from_block(block(rng, slot, weights, other_than=other_than))


def layer(rng: Random, weights: Weights) -> LayerGene:
    """A new layer: a block for every slot, most often with an `ask` that suits its `keep`."""
    chosen = {slot: block(rng, slot, weights) for slot in SLOTS}
    fitting = [b for b in blocks("ask") if b.deals_with == chosen["keep"].deals_with]
    if rng.random() < FITTING_ASK:
        weighed = [weights.get(f"ask:{b.name}", 1.0) for b in fitting]
        chosen["ask"] = choose(rng, fitting, weighed)
    constants: dict[str, Number] = dict(plumbing().part_constants)
    for each in chosen.values():
        constants.update(each.constants)
    for name, value in constants.items():
        if rng.random() >= DEFAULT_CONSTANT:
            constants[name] = moved(rng, name, value)
    return LayerGene({slot: from_block(b) for slot, b in chosen.items()}, constants)


def fresh(rng: Random, weights: Weights) -> Genome:
    """A design from nothing."""
    parts = [layer(rng, weights) for _ in range(rng.choice(NEW_PARTS))]
    return Genome([*parts], slot_gene(rng, COMBINE, weights))


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
