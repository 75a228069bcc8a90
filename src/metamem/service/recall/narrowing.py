"""A large scope made small for one question.

What speaks for a fact is judged by how it stands among the others. In a scope of a hundred thousand
facts nearly all of them have nothing to do with the question, and comparing with each of them takes
most of the time. So a large scope is cut down first to the facts that share its terms or come near
its meaning, and to the lines beside those: that is also about as large as what the ranker learned on.
"""

from dataclasses import dataclass, fields, replace

import numpy as np

from metamem.service.recall.catalog import (
    NO_PLACES,
    NONE,
    Catalog,
    Flags,
    Floats,
    Hit,
    Hits,
    Ints,
    Posting,
)

LARGE = 6000  # facts from which a scope is cut down
BY_TERMS, BY_MEANING = 1500, 500


@dataclass(frozen=True, slots=True)
class Narrowed:
    """Some facts of a scope as if there were no others. `places` are those that they have in it."""

    catalog: Catalog
    hits: Hits
    dense: Floats | None
    may: Flags | None  # those that may be shown
    places: Ints


def narrowed(
    catalog: Catalog, hits: Hits, dense: Floats | None, may: Flags | None, gone: Ints = NO_PLACES
) -> Narrowed:
    """A scope for one question, without facts that are `gone` in it."""
    every = np.arange(catalog.count, dtype=np.int32)
    if catalog.count <= LARGE:
        if not gone.size:
            return Narrowed(catalog, hits, dense, may, every)
        return _part(catalog, hits, dense, may, np.delete(every, gone))
    found = [_best(hits.lexical, may, BY_TERMS)]
    if dense is not None:
        found.append(_best(dense, may, BY_MEANING))
    places = np.concatenate(found)
    for _ in range(2):
        places = np.concatenate((places, catalog.before[places], catalog.after[places]))
        places = np.unique(places[places != NONE])
    return _part(catalog, hits, dense, may, places)


def _part(
    catalog: Catalog, hits: Hits, dense: Floats | None, may: Flags | None, places: Ints
) -> Narrowed:
    return Narrowed(
        part_of(catalog, places),
        _hits(hits, places),
        None if dense is None else dense[places],
        None if may is None else may[places],
        places.astype(np.int32),
    )


def _best(scores: Floats, may: Flags | None, most: int) -> Ints:
    """The places of the largest scores above zero, in no order."""
    above = np.flatnonzero(scores > 0 if may is None else (scores > 0) & may)
    if len(above) > most:
        above = above[np.argpartition(scores[above], len(above) - most)[len(above) - most :]]
    return above.astype(np.int32)


def part_of(catalog: Catalog, places: Ints) -> Catalog:
    """Some facts of a catalog, at rising places, as a catalog of their own."""
    columns = {
        each.name: getattr(catalog, each.name)[places]
        for each in fields(catalog)
        if each.name != "authors"
    }
    part = Catalog(**columns, authors=catalog.authors)
    return replace(part, before=_moved(part.before, places), after=_moved(part.after, places))


def _moved(beside: Ints, places: Ints) -> Ints:
    """Places in the whole as places in the part; none for those that are not in it."""
    at = np.minimum(np.searchsorted(places, beside), len(places) - 1)
    moved: Ints = np.where(places[at] == beside, at, NONE).astype(np.int32) if len(at) else beside
    return moved


def _hits(hits: Hits, places: Ints) -> Hits:
    terms = []
    for hit in hits.terms:
        kept = np.isin(hit.posting.where, places, assume_unique=True)
        where = np.searchsorted(places, hit.posting.where[kept]).astype(np.int32)
        terms.append(Hit(hit.term, hit.rarity, Posting(where, hit.posting.counts[kept])))
    return Hits(tuple(terms), hits.lexical[places])
