"""Lines of an answer that say what a better one says already."""

import re
from collections.abc import Sequence

from metamem.core.terms import terms
from metamem.service.recall.scoring import Scored

ALIKE = 0.9  # of the terms of both together
_DIGIT = re.compile(r"\d")
_DENIALS = frozenset({"not", "no", "never", "without", "none"})


def without_repeats(scored: Sequence[Scored], most: int) -> list[Scored]:
    """The first facts in their order, without those that repeat one before them."""
    kept: list[Scored] = []
    seen: list[frozenset[str]] = []
    for each in scored:
        if len(kept) == most:
            break
        said = frozenset(terms(each.text)) | (_DENIALS & frozenset(each.text.lower().split()))
        if not any(_alike(said, before) for before in seen):
            kept.append(each)
            seen.append(said)
    return kept


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Numbers and denials make all the difference, however much else is the same."""
    apart = one ^ other
    if len(apart) > (1 - ALIKE) * len(one | other):
        return False
    return not any(term in _DENIALS or _DIGIT.search(term) for term in apart)
