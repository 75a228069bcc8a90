"""What tells, of a question as a whole, whether anything in a scope answers it.

Each speaks for an answer the more, the larger it is, and the trees that weigh them were trained to
keep to that: a sign that spoke against answers on generated talk would not hold elsewhere.
"""

import numpy as np

from metamem.service.recall.catalog import Floats
from metamem.service.recall.features import NAMES

_BEST = ("words", "words_sharp", "gist", "meaning", "named", "known_names")
_OF_FIRST = ("named", "said_by", "matter_around")
SIGNS = (
    *("relevance", "relevance_2", "relevance_5"),  # of the first, second and fifth text
    *_BEST,
    *("known", "covered", "covered_around"),  # of all that is asked, unknown terms included
    "words_of_named",  # by texts alone that have every name asked for
    *(f"first_{name}" for name in _OF_FIRST),
)
_COLUMN = {name: n for n, name in enumerate(NAMES)}


def signs(rows: Floats, relevance: Floats) -> Floats:
    """A value for each of SIGNS, from the features and the relevance of all candidates."""
    order = np.argsort(-relevance, kind="stable")
    tops = relevance[order[np.minimum((0, 1, 4), len(order) - 1)]].clip(1e-6, 1 - 1e-6)
    best = rows.max(axis=0)
    known = best[_COLUMN["known_terms"]]
    named = rows[:, _COLUMN["named"]]
    every = (named < 0) | (named > 0.999)  # no name is asked for, or all are there
    first = rows[order[0]]
    return np.array(
        [
            *np.log(tops / (1 - tops)),
            *(best[_COLUMN[name]] for name in _BEST),
            known,
            best[_COLUMN["covered"]] * known,
            best[_COLUMN["covered_around"]] * known,
            (rows[:, _COLUMN["words"]] * every).max(),
            *(first[_COLUMN[name]] for name in _OF_FIRST),
        ],
        np.float32,
    )
