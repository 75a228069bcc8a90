"""Small scopes for tests, made of lines."""

from collections.abc import Sequence

import numpy as np
from bench.memory_talks import Scope, Spoken

from metamem.models.wordllama_embedder import WordLlamaEmbedder
from metamem.service.recall.ranker import Ranker
from metamem.service.recall.reading import Reader

NOW = 1_700_000_000_000
DAY = 86_400_000


def spoken(*lines: str, session: int = 0) -> list[Spoken]:
    """Lines as `Speaker: text`, said one day before now."""
    parted = (line.split(": ", 1) for line in lines)
    return [Spoken(who, text, session, NOW - DAY) for who, text in parted]


def shown(lines: Sequence[Spoken], question: str, *, dense: bool = True) -> list[str]:
    """The texts that would be shown, best first."""
    embedder, ranker = WordLlamaEmbedder(), Ranker.load()
    scope = Scope(lines, embedder if dense else None, Reader(embedder))
    chosen, rows = scope.rows(question, NOW)
    relevance = ranker.score(rows)
    seen = ranker.shown(rows, relevance)
    return [lines[chosen[i]].text for i in np.argsort(-relevance, kind="stable") if seen[i]]
