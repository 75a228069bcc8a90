"""One scope's facts, scored for one question: candidates, features, relevance, and what age,
importance and trust add to it.

Age and importance move a score by a few hundredths and lift nothing over the floor. What a tool or
an outsider said comes after what somebody said who is as near to the question: whoever can put words
into a page could repeat any question in it. What came from outside is never first while something
is shown that a person or an agent said. Nothing is left out for that. Nothing of them
is stored, and being recalled is no evidence: neither makes a fact weigh more next time.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metamem.service.recall.candidates import choose
from metamem.service.recall.catalog import Catalog, Flags, Floats, Hits, Ints
from metamem.service.recall.embedding import Identity
from metamem.service.recall.features import features
from metamem.service.recall.index import Look
from metamem.service.recall.lexical import search
from metamem.service.recall.narrowing import Narrowed, narrowed
from metamem.service.recall.question import Question
from metamem.service.recall.ranker import Ranker
from metamem.service.recall.reading import Reader
from metamem.service.recall.stopwatch import Stopwatch
from metamem.service.recall.vectors import unpacked
from metamem.service.recall.wanted import allowed
from metamem.service.words import TRUST, TYPES, Ask
from metamem.store.engine import Execute

DAY = 86_400_000  # milliseconds
BY_AGE, BY_IMPORTANCE = 0.05, 0.05  # of a score, at most, up or down
LESS = np.array([0.9, 0.4, 0.0, 0.0], np.float32)  # of a score, by trust: from outside, a tool
OUTSIDE, TRUSTED = TRUST["outside"], TRUST["agent"]
FIRST_LOOK = 300  # facts whose vectors are read one by one while the scope's are not in memory
_HALF_LIVES = np.array([each.half_life_days for each in TYPES.values()])


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its vector, where vectors can be compared."""

    ask: Ask
    question: Question
    vector: Floats | None
    identity: Identity | None


@dataclass(frozen=True, slots=True)
class Scored:
    """A fact that may answer, by its number, and what its score is made of."""

    number: int
    text: str
    score: float
    relevance: float
    by_age: float
    by_importance: float
    by_trust: float
    features: Floats


class Scorer:
    """Judges facts. Safe for many threads."""

    def __init__(self, reader: Reader, ranker: Ranker) -> None:
        self._reader = reader
        self._ranker = ranker

    def score(
        self, execute: Execute, look: Look, asked: Asked, most: int, watch: Stopwatch
    ) -> list[Scored]:
        """The best facts of a scope that are relevant enough, best first."""
        question = asked.question
        with watch("candidates"):
            may = allowed(asked.ask, look.catalog)
            hits = search(question, look.catalog, look.posting, look.gone)
            near = _near(execute, look, asked, hits, may)
            some = narrowed(look.catalog, hits, near, may, look.gone)
            chosen = choose(question, some.catalog, *_masked(some))
            if some.may is not None:
                chosen = chosen[some.may[chosen]]
        with watch("texts"):
            chosen, texts = _texts(execute, look.scope, some.catalog, chosen)
            if some.dense is not None:
                _make_exact(execute, look, asked, some.dense, some.places, chosen)
        if not texts:
            return []
        with watch("rank"):
            readings = self._reader.read(question, texts)
            rows = features(question, some.catalog, some.hits, some.dense, chosen, readings)
            relevance = self._ranker.score(rows)
            return self._best(asked, some.catalog, chosen, texts, rows, relevance, most)

    def why(self, scored: Scored) -> dict[str, Any]:
        """The parts of a score in their own names, and what relevance rests on."""
        return {
            "relevance": round(scored.relevance, 4),
            "age": round(scored.by_age, 4),
            "importance": round(scored.by_importance, 4),
            "trust": round(scored.by_trust, 4),
            "features": dict(self._ranker.explain(scored.features)),
        }

    def _best(
        self,
        asked: Asked,
        catalog: Catalog,
        chosen: Ints,
        texts: list[str],
        rows: Floats,
        relevance: Floats,
        most: int,
    ) -> list[Scored]:
        floor = asked.ask.floor
        shown = self._ranker.shown(rows, relevance) if floor is None else relevance >= floor
        age = freshness(catalog.type[chosen], catalog.said_at[chosen], asked.question.now)
        by_age = relevance * BY_AGE * (2 * age - 1)
        by_importance = relevance * BY_IMPORTANCE * (2 * catalog.importance[chosen] - 1)
        trust = catalog.trust[chosen]
        by_trust = -relevance * LESS[trust]
        scores = relevance + by_age + by_importance + by_trust
        if (said := shown & (trust >= TRUSTED)).any():
            over = np.maximum(scores - np.float32(0.99) * scores[said].max(), 0) * (
                trust == OUTSIDE
            )
            by_trust, scores = by_trust - over, scores - over
        order = [int(i) for i in np.argsort(-scores, kind="stable") if shown[i]]
        return [
            Scored(
                int(catalog.numbers[chosen[i]]),
                texts[i],
                float(scores[i]),
                float(relevance[i]),
                float(by_age[i]),
                float(by_importance[i]),
                float(by_trust[i]),
                rows[i],
            )
            for i in order[:most]
        ]


def freshness(kinds: NDArray[np.int16], at: NDArray[np.int64], now: int) -> Floats:
    """What is left of facts' weight at their age, from 1 to 0, by the half-lives of their types."""
    half_lives = _HALF_LIVES[np.minimum(kinds, len(TYPES) - 1)]
    left: Floats = np.exp2(-np.maximum(now - at, 0) / DAY / half_lives).astype(np.float32)
    return left


def _masked(some: Narrowed) -> tuple[Hits, Floats | None]:
    """What candidates are chosen by: facts that may not be shown take nobody's place."""
    if some.may is None:
        return some.hits, some.dense
    lexical = np.where(some.may, some.hits.lexical, np.float32(0))
    dense = None if some.dense is None else np.where(some.may, some.dense, np.float32(0))
    return replace(some.hits, lexical=lexical), dense


def _near(
    execute: Execute, look: Look, asked: Asked, hits: Hits, may: Flags | None
) -> Floats | None:
    """How near facts are in meaning; those alone that share terms, while the rest is not in memory."""
    if asked.vector is None:
        return None
    if look.vectors is not None:
        return look.vectors.near(asked.vector, look.catalog.count)
    dense = np.zeros(look.catalog.count, np.float32)
    lexical = hits.lexical if may is None else hits.lexical * may
    some = np.flatnonzero(lexical > 0)
    if len(some) > FIRST_LOOK:
        some = some[np.argpartition(-lexical[some], FIRST_LOOK)[:FIRST_LOOK]]
    places = some.astype(np.int32)
    _make_exact(execute, look, asked, dense, np.arange(len(dense), dtype=np.int32), places)
    return dense


def _make_exact(
    execute: Execute, look: Look, asked: Asked, dense: Floats, places: Ints, chosen: Ints
) -> None:
    """Enter how near the chosen facts are, by their whole vectors. `places` are those that the facts
    of `dense` have in the scope."""
    assert asked.vector is not None
    assert asked.identity is not None
    if look.vectors is not None:
        dense[chosen] = look.vectors.exactly(asked.vector, places[chosen])
        return
    unknown = chosen[dense[chosen] == 0]
    wanted = {int(look.catalog.numbers[places[i]]): int(i) for i in unknown}
    if wanted:
        marks = ", ".join("?" * len(wanted))
        rows = execute(
            "SELECT fact, vector FROM vectors WHERE scope = ? AND embedder = ?"
            f" AND fact IN ({marks})",
            (look.scope, asked.identity.number, *wanted),
        )
        if rows:
            scales, levels = unpacked([blob for _, blob in rows], asked.identity.dimensions)
            near = (levels.astype(np.float32) @ asked.vector) * scales
            dense[[wanted[fact] for fact, _ in rows]] = near


def _texts(execute: Execute, scope: int, catalog: Catalog, chosen: Ints) -> tuple[Ints, list[str]]:
    """The texts of facts that are active and in this scope now, and which those are."""
    numbers = [int(number) for number in catalog.numbers[chosen]]
    if not numbers:
        return chosen, []
    marks = ", ".join("?" * len(numbers))
    found = dict(
        execute(
            f"SELECT number, text FROM facts WHERE number IN ({marks}) AND scope = ?"
            " AND lifecycle = 'active'",
            (*numbers, scope),
        )
    )
    there = np.array([number in found for number in numbers], np.bool_)
    return chosen[there], [found[number] for number in numbers if number in found]
