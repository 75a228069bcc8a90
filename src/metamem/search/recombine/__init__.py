"""`recombine`: new designs from the syntax trees of old ones and from building blocks."""

from metamem.search.recombine.proposers import RandomRecombine, Recombine

__all__ = ["RandomRecombine", "Recombine"]
