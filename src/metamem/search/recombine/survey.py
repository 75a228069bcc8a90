"""Each way of remembering tried by itself, and the best of them in other company."""

from collections.abc import Callable
from functools import partial

from metamem.core.types import Design
from metamem.designs.blocks import COMBINE, FAMILIES, Block, blocks
from metamem.search.proposer import Proposal, Request
from metamem.search.recombine import draw
from metamem.search.recombine.genome import Genome, from_block
from metamem.search.recombine.operators import SURVEY
from metamem.search.recombine.parse import parse
from metamem.search.recombine.writing import written


def not_surveyed(request: Request) -> list[Block]:
    """The blocks that lead layers, less those that were tried by themselves."""
    seen = {outcome.operator for outcome in request.history}
    leads = [block for family in FAMILIES for block in blocks(family.named_by[0])]
    return [block for block in leads if f"{SURVEY}({block.name})" not in seen]


def alone(lead: Block) -> Proposal:
    genome = Genome([draw.plain(lead)], from_block(blocks(COMBINE)[0]))
    label = f"{SURVEY}({lead.name})"
    note = f"By itself: {genome.layers[0].does} To see what it is worth."
    return Proposal(written(genome, note, label, ()), (), label, note)


def other_company(request: Request) -> list[Callable[[], Proposal]]:
    """The best of what was tried by itself, with one slot filled otherwise: what was not tried yet."""
    alone = [one for one in request.tried if one.operator.startswith(SURVEY)]
    if not alone:
        return []
    best = max(alone, key=lambda one: one.mean)
    seen = {outcome.operator for outcome in request.history}
    (layer,) = parse(best.design.source).layers
    lead = layer.family.named_by[0]
    (leads,) = (b for b in blocks(lead) if b.name == layer.slots[lead].name)
    fits = draw.fitting(leads)
    found: list[Callable[[], Proposal]] = []
    for slot, filled in layer.slots.items():
        for block in fits.get(slot, blocks(slot)):
            label = f"{SURVEY} {slot}({block.name}) of {best.design.id[:8]}"
            if slot != lead and block.name != filled.name and label not in seen:
                found.append(partial(_in_company, best.design, block, label))
    return found


def _in_company(design: Design, block: Block, label: str) -> Proposal:
    genome = parse(design.source)
    layer = genome.layers[0]
    layer.set_slot(from_block(block))
    note = f"By itself: {layer.does} Now {block.slot} is {block.name} ({block.does})."
    return Proposal(written(genome, note, label, (design.id,)), (design.id,), label, note)
