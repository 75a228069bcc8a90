"""Which facts of a scope the ranker looks at."""

import numpy as np

from metamem.service.recall.catalog import NONE, Catalog, Floats, Hits, Ints
from metamem.service.recall.question import Question

MOST = 200  # of candidates
_BESIDE, _MEANING, _SESSION = 0.5, 0.125, 0.3  # chosen for how much evidence is among them


def choose(question: Question, catalog: Catalog, hits: Hits, dense: Floats | None) -> Ints:
    """Local indices in rising order: best by terms, by meaning, and by what is said around them."""
    scores = scaled(hits.lexical)
    if dense is not None and catalog.count:
        scores = scores + np.float32(_MEANING) * _apart(dense)
    around = beside(scores, catalog.before) + beside(scores, catalog.after)
    best = session_best(catalog, scores)
    summed = scores + np.float32(_BESIDE) * around + np.float32(_SESSION) * best
    above = np.flatnonzero(summed > 0)
    if len(above) > MOST:
        order = np.argpartition(-summed[above], MOST - 1)[:MOST]
        above = np.sort(above[order])
    return above.astype(np.int32)


def _apart(dense: Floats) -> Floats:
    """By how many deviations each cosine is above the mean; of one fact alone nothing could be, and
    it is looked at always."""
    if len(dense) == 1:
        return np.ones(1, np.float32)
    spread = np.float32(max(float(dense.std()), 1e-6))
    found: Floats = np.maximum((dense - dense.mean()) / spread, 0)
    return found


def scaled(lexical: Floats) -> Floats:
    """BM25 as a share of the scope's best."""
    found: Floats = lexical / np.float32(max(float(lexical.max(initial=0)), 1e-6))
    return found


def beside(values: Floats, neighbour: Ints) -> Floats:
    """The value of each fact's neighbour; zero where it has none."""
    found: Floats = np.where(neighbour == NONE, np.float32(0), values[neighbour])
    return found


def session_best(catalog: Catalog, values: Floats) -> Floats:
    """The best value within each fact's session; zero for facts of none."""
    best = np.zeros(int(catalog.session.max(initial=NONE)) + 2, np.float32)
    np.maximum.at(best, catalog.session, values)
    best[NONE] = 0
    return best[catalog.session]
