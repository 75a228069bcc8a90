"""Older facts that a new one may have to do with, found by its rarest words.

Lists are bounded, so that what a write costs does not grow with the scope: of each of the few rarest
words the newest facts are looked at, lines of conversations left out, since they are evidence only.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from metamem.core.terms import terms
from metamem.service.words import Candidate
from metamem.service.writing.similar import STRONG, Relation, compare
from metamem.service.writing.statement import Statement, statement
from metamem.store.engine import Execute, Value

RAREST = 5  # words whose facts are looked at
LISTED = 32  # facts of a word, the newest
COMPARED = 8  # facts that a new one is held against
TOLD = 5  # of which whoever writes is told
COUNTED = 16  # words that are counted to find the rarest, the longest first


@dataclass(frozen=True, slots=True)
class Older:
    """A fact that is there already."""

    id: str
    statement: Statement
    trust: int


@dataclass(slots=True)
class Fresh:
    """Facts of the batch that is being written, which no index holds yet."""

    facts: dict[str, Older] = field(default_factory=dict)
    by_term: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(self, older: Older, words: Iterable[str]) -> None:
        self.facts[older.id] = older
        for word in words:
            self.by_term[word].append(older.id)


@dataclass(frozen=True, slots=True)
class Match:
    """An older fact, and what the new one has to do with it."""

    older: Older
    relation: Relation

    def to_candidate(self) -> Candidate:
        relation = self.relation
        return Candidate(
            self.older.id,
            self.older.statement.text,
            relation.kind,
            relation.weight,
            relation.reason,
        )


def searched_terms(text: str) -> list[str]:
    """The words of a text by which others like it are found."""
    return sorted(terms(text), key=lambda term: (-len(term), term))[:COUNTED]


def matches(
    execute: Execute,
    scope: int,
    new: Statement,
    words: Sequence[str],
    fresh: Fresh,
    gone: frozenset[str] | set[str],
    *,
    correction: bool,
) -> list[Match]:
    """What a new statement has to do with older ones, the weightiest first."""
    found: list[Match] = []
    # A correction may share no more than the name of what it is about.
    least = 1 if correction or new.corrects or len(new.content) <= 3 else 2
    for older in near(execute, scope, words, fresh, least):
        if older.id in gone:
            continue
        relation = compare(new, older.statement, correction=correction)
        if relation is not None:
            found.append(Match(older, relation))
    return sorted(found, key=lambda match: -match.relation.weight)[:TOLD]


def replaced(found: Sequence[Match], trust: int) -> list[Match]:
    """The one older fact that a correction surely is about; none where it could be one of several."""
    strong = [m for m in found if m.relation.kind == "supersedes" and m.relation.weight >= STRONG]
    if len(strong) != 1 or strong[0].older.trust > trust:
        return []
    return strong


def near(
    execute: Execute,
    scope: int,
    words: Sequence[str],
    fresh: Fresh,
    least: int,
    *,
    turns: bool = False,
) -> list[Older]:
    """The facts that share most of the rarest words; `turns`: lines of conversations, too."""
    if not words:
        return []
    shared: Counter[int | str] = Counter()
    rarest = _rarest(execute, scope, words, fresh)
    if rarest:
        # Each list is bounded before facts are looked at, so that turns cost no more than that.
        one = (
            "SELECT f.number FROM (SELECT fact FROM postings WHERE scope = ? AND term = ?"
            " ORDER BY fact DESC LIMIT ?) p JOIN facts f ON f.number = p.fact"
            + ("" if turns else " WHERE f.type <> 'turn'")
        )
        values: list[Value] = [value for word in rarest for value in (scope, word, LISTED)]
        rows = execute(" UNION ALL ".join([one] * len(rarest)), values)
        shared.update(number for (number,) in rows)
    for word in rarest:
        shared.update(fresh.by_term.get(word, [])[-LISTED:])
    best = [which for which, count in shared.most_common(COMPARED) if count >= least]
    numbers = [which for which in best if isinstance(which, int)]
    older = [fresh.facts[which] for which in best if isinstance(which, str)]
    if numbers:
        marks = ", ".join("?" * len(numbers))
        rows = execute(
            f"SELECT id, text, trust FROM facts WHERE scope = ? AND number IN ({marks})",
            (scope, *numbers),
        )
        older += [Older(fact, statement(text), trust) for fact, text, trust in rows]
    return older


def _rarest(execute: Execute, scope: int, words: Sequence[str], fresh: Fresh) -> list[str]:
    """Words that some facts hold, those that the fewest hold first."""
    count = "(SELECT COUNT(*) FROM (SELECT 1 FROM postings WHERE scope = ? AND term = ? LIMIT ?) c)"
    values: list[Value] = [value for word in words for value in (scope, word, LISTED + 1)]
    held = dict(
        execute(" UNION ALL ".join(f"SELECT {at}, {count}" for at in range(len(words))), values)
    )
    holders = {word: held[at] + len(fresh.by_term.get(word, ())) for at, word in enumerate(words)}
    some = (word for word in words if holders[word])
    return sorted(some, key=lambda word: holders[word])[:RAREST]
