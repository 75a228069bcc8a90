"""Building blocks of memories: small, general ideas as real Python, one class for each.

A layer is `Part`, `Thinker` or `Listener` with every slot filled; each file named after a slot holds the blocks
for it.
No block knows a domain, and no block is a memory.
"""

from metamem.designs.blocks.catalogue import (
    BOUNDS,
    COMBINE,
    FAMILIES,
    LISTENERS,
    LISTENING,
    SLOTS,
    STORES,
    THINKERS,
    THINKING,
    Block,
    Family,
    Method,
    Number,
    blocks,
    class_constants,
    composers,
    family_with,
    imported,
    plumbing,
)

__all__ = [
    "BOUNDS",
    "COMBINE",
    "FAMILIES",
    "LISTENERS",
    "LISTENING",
    "SLOTS",
    "STORES",
    "THINKERS",
    "THINKING",
    "Block",
    "Family",
    "Method",
    "Number",
    "blocks",
    "class_constants",
    "composers",
    "family_with",
    "imported",
    "plumbing",
]
