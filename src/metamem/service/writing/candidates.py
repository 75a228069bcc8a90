"""Older facts that a new one may have to do with, found by its rarest words.

Lists are bounded, so that what a write costs does not grow with the scope: of each of the few rarest
words the newest facts are looked at, lines of conversations left out, since they are evidence only.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
AT_ONCE = 200  # words that one statement asks for
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
        held = self.by_term
        for word in words:
            held[word].append(older.id)


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
    looked: "Looked",
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
    for older in near(looked, words, fresh, least):
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


@dataclass(slots=True)
class Looked:
    """What is looked up in a scope for the facts of a batch, each thing once: whoever writes is alone in the
    scope, and enters nothing before all of its facts are held against what is there."""

    execute: Execute
    scope: int
    turns: bool = False  # lines of conversations, too
    _held: dict[str, int] = field(default_factory=dict)
    _newest: dict[str, list[int]] = field(default_factory=dict)
    _older: dict[int, Older] = field(default_factory=dict)

    def held(self, words: Iterable[str]) -> Mapping[str, int]:
        """By how many facts each word is held; of many, no more than that they are many."""
        missing = list(dict.fromkeys(word for word in words if word not in self._held))
        for start in range(0, len(missing), AT_ONCE):
            some = missing[start : start + AT_ONCE]
            rows = self.execute(
                f"WITH asked (at, term) AS (VALUES {numbered(some)}) SELECT at, (SELECT COUNT(*) FROM"
                " (SELECT 1 FROM postings p WHERE p.scope = ? AND p.term = asked.term LIMIT ?) c)"
                " FROM asked",
                (*some, self.scope, LISTED + 1),
            )
            self._held.update((some[at], count) for at, count in rows)
        return self._held

    def newest(self, words: Sequence[str]) -> Iterator[list[int]]:
        """Of each word the newest facts that hold it."""
        missing = [word for word in words if word not in self._newest]
        if missing:
            # Each list is bounded before facts are looked at, so that turns cost no more than that.
            one = (
                "SELECT {}, f.number FROM (SELECT fact FROM postings WHERE scope = ? AND term = ?"
                " ORDER BY fact DESC LIMIT ?) p JOIN facts f ON f.number = p.fact"
                + ("" if self.turns else " WHERE f.type <> 'turn'")
            )
            values: list[Value] = [v for word in missing for v in (self.scope, word, LISTED)]
            asked = " UNION ALL ".join(one.format(at) for at in range(len(missing)))
            found: list[list[int]] = [[] for _ in missing]
            for at, number in self.execute(asked, values):
                found[at].append(number)
            self._newest.update(zip(missing, found, strict=True))
        return (self._newest[word] for word in words)

    def older(self, numbers: Sequence[int]) -> list[Older]:
        missing = [number for number in numbers if number not in self._older]
        if missing:
            rows = self.execute(
                "SELECT number, id, text, trust FROM facts WHERE scope = ? AND number IN"
                f" ({', '.join('?' * len(missing))})",
                (self.scope, *missing),
            )
            for number, fact, text, trust in rows:
                self._older[number] = Older(fact, statement(text), trust)
        return [self._older[number] for number in sorted(numbers)]


def near(looked: Looked, words: Sequence[str], fresh: Fresh, least: int) -> list[Older]:
    """The facts that share most of the rarest words."""
    if not words:
        return []
    shared: Counter[int | str] = Counter()
    rarest = _rarest(looked, words, fresh)
    for numbers in looked.newest(rarest):
        shared.update(numbers)
    for word in rarest:
        shared.update(fresh.by_term.get(word, [])[-LISTED:])
    best = [which for which, count in shared.most_common(COMPARED) if count >= least]
    own = [fresh.facts[which] for which in best if isinstance(which, str)]
    return [*own, *looked.older([which for which in best if isinstance(which, int)])]


def _rarest(looked: Looked, words: Sequence[str], fresh: Fresh) -> list[str]:
    """Words that some facts hold, those that the fewest hold first."""
    held = looked.held(words)
    holders = {word: held[word] + len(fresh.by_term.get(word, ())) for word in words}
    some = (word for word in words if holders[word])
    return sorted(some, key=lambda word: holders[word])[:RAREST]


def numbered(values: Sequence[str]) -> str:
    """Rows of a statement that asks for several things at once: the place of each, and the thing."""
    return ", ".join(f"({at}, ?)" for at in range(len(values)))
