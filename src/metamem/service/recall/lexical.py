"""BM25 over posting lists."""

import math
from collections.abc import Callable

import numpy as np

from metamem.core.terms import terms
from metamem.service.recall.catalog import NO_PLACES, Catalog, Hit, Hits, Ints, Posting
from metamem.service.recall.question import Question

K1, B = 0.9, 0.5  # chosen on generated conversations: lines are short

OF_SPEAKERS = 0.3  # names of those who speak: they call each other far more than they tell


def search(
    question: Question,
    catalog: Catalog,
    posting: Callable[[str], Posting],
    gone: Ints = NO_PLACES,
) -> Hits:
    """All hits of a question. `posting` says where a term occurs; an unknown term occurs nowhere.
    Facts that are `gone` count for nothing."""
    lexical = np.zeros(catalog.count, np.float32)
    count = catalog.count - len(gone)
    length = int(catalog.lengths.sum()) - int(catalog.lengths[gone].sum())
    mean = max(1.0, length / max(1, count))
    speakers = frozenset(term for name in catalog.authors for term in terms(name))
    hits = []
    for term in question.terms:
        found = posting(term)
        often = len(found.where)
        rarity = math.log(1 + (count - often + 0.5) / (often + 0.5))
        if term in speakers:
            rarity *= OF_SPEAKERS
        hits.append(Hit(term, rarity, found))
        counts = found.counts.astype(np.float32)
        norm = K1 * (1 - B + B * catalog.lengths[found.where] / mean)
        lexical[found.where] += np.float32(rarity * (K1 + 1)) * counts / (counts + norm)
    return Hits(tuple(hits), lexical)
