"""What recall computes with: the facts of one scope as columns, and where a question's terms are.

Both are plain arrays. Whoever reads the database fills them (and keeps them while nothing leaves the
index); all that judges relevance works on them alone and needs no database.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Flags = NDArray[np.bool_]

NONE = -1  # no session, no neighbour, no time
NO_PLACES: Ints = np.empty(0, np.int32)


@dataclass(frozen=True, slots=True)
class Catalog:
    """The active facts of one scope in the order of their numbers: columns of equal length.

    A fact's place in them is its local index. Sessions and authors are numbered within the scope.
    """

    numbers: Longs
    lengths: Ints  # how many terms a text has
    said_at: Longs
    meant_from: Longs  # or -1
    session: Ints  # or -1: not a line of a conversation
    position: Ints
    author: Ints
    authors: tuple[str, ...]  # the name of each author
    importance: Floats
    type: NDArray[np.int16]
    trust: NDArray[np.int8]
    quarantined: Flags
    pinned: Flags
    before: Ints  # the local index of the line before in the same session, or -1
    after: Ints  # and of the line after

    @property
    def count(self) -> int:
        return len(self.numbers)


@dataclass(frozen=True, slots=True)
class Posting:
    """Where one term occurs: local indices in rising order, and how often in each."""

    where: Ints
    counts: Ints


@dataclass(frozen=True, slots=True)
class Hit:
    """One term of a question, how much it tells (its rarity), and where it occurs."""

    term: str
    rarity: float
    posting: Posting


@dataclass(frozen=True, slots=True)
class Hits:
    """All terms of one question, and what BM25 makes of them for each fact of the catalog."""

    terms: tuple[Hit, ...]
    lexical: Floats


def neighbours(session: Ints, position: Ints) -> tuple[Ints, Ints]:
    """`before` and `after` of a catalog, from its sessions and positions.

    Facts of no session have no neighbours. Where a line is gone, its neighbours become each other's.
    """
    before = np.full(len(session), NONE, np.int32)
    after = np.full(len(session), NONE, np.int32)
    order = np.lexsort((position, session))
    first, second = order[:-1], order[1:]
    joined = (session[first] == session[second]) & (session[first] != NONE)
    after[first[joined]] = second[joined]
    before[second[joined]] = first[joined]
    return before, after
