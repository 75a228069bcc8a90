"""Prepared drafts entered into a scope: one event for all that is new, inside one transaction.

Repeats are told by what they repeat. What a draft says that it replaces, by id or in its words, gives
its place; where that is not sure, the older fact stays and whoever writes is told.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from metamem.core.access import Caller
from metamem.core.errors import UnknownName, UsageError
from metamem.core.terms import terms
from metamem.service import changing, facts, log, picture
from metamem.service.database import new_id
from metamem.service.sight import Sight
from metamem.service.words import TRUST, Fact, LinkKind, Written
from metamem.service.writing.candidates import (
    Fresh,
    Looked,
    Match,
    Older,
    matches,
    replaced,
    searched_terms,
)
from metamem.service.writing.entities import phrases, with_vocabulary
from metamem.service.writing.prepare import NOT_PINNED, Prepared, Refused
from metamem.service.writing.statement import statement
from metamem.service.writing.trust import is_quarantined
from metamem.service.writing.vocabulary import known_names
from metamem.store.engine import Execute

LINKED = 3  # older facts that a new one is linked to


@dataclass(frozen=True, slots=True)
class _Link:
    source: str
    target: str
    kind: LinkKind
    weight: float
    reason: str


@dataclass(slots=True)
class Remembering:
    """One batch on its way into one scope."""

    execute: Execute
    view: Sight  # of that scope alone
    caller: Caller
    may_replace: bool = True  # an older fact that a draft says in its words is over
    new: list[dict[str, Any]] = field(default_factory=list)
    _digests: dict[str, tuple[str, int, bool]] = field(default_factory=dict)
    _fresh: Fresh = field(default_factory=Fresh)
    _gone: set[str] = field(default_factory=set)
    _links: list[_Link] = field(default_factory=list)
    _names: frozenset[str] = frozenset()  # of the scope, that the batch speaks of
    _phrases: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _words: dict[str, list[str]] = field(default_factory=dict)  # by which others are found, by text
    _there: dict[str, list[tuple[str, int, bool]]] = field(default_factory=dict)  # by digest
    _looked: Looked = field(init=False)

    def __post_init__(self) -> None:
        self._looked = Looked(self.execute, self.scope)

    @property
    def scope(self) -> int:
        (number,) = self.view.scopes
        return number

    def take(self, prepared: Sequence[Prepared | Refused]) -> list[Written]:
        """What becomes of each. Nothing is entered yet."""
        whole = [each for each in prepared if isinstance(each, Prepared)]
        self._phrases = {text: phrases(text) for text in {each.text for each in whole}}
        self._there = self._repeated({each.digest for each in whole})
        self._words = {
            each.text: searched_terms(each.text) for each in whole if each.type != "turn"
        }
        self._looked.held(word for words in self._words.values() for word in words)
        self._names = known_names(self.execute, self.scope, self._phrases.values())
        (scope,) = self.view.scopes.values()
        results = [self._taken(each) for each in prepared]
        return results if self.caller.may_read(scope) else [_unread(one) for one in results]

    def enter(self) -> None:
        """One event for the facts, then one for each change of older ones."""
        if self.new:
            _apply(self.execute, self.scope, "remembered", self.caller, {"facts": self.new})
        for link in self._links:
            if link.kind == "supersedes" and link.target in self._gone:
                _, fact = facts.by_id(self.execute, self.view, link.target)
                changing.moved(
                    self.execute,
                    self.scope,
                    fact,
                    "superseded",
                    by=self.caller.who,
                    reason=link.reason,
                )
            changing.linked(
                self.execute,
                self.scope,
                link.source,
                link.target,
                link.kind,
                link.weight,
                by=self.caller.who,
            )

    def _taken(self, each: Prepared | Refused) -> Written:
        if isinstance(each, Refused):
            return Written("refused", reason=each.reason, redacted=each.redacted)
        try:
            each = self._drawn(each)
        except UnknownName as unknown:
            return Written("refused", reason=unknown.message, redacted=each.redacted)
        if each.pinned and each.trust < TRUST["agent"]:  # by what it is drawn from
            return Written("refused", reason=NOT_PINNED, redacted=each.redacted)
        reason = ""
        known = self._known(each.digest)
        if known is not None:
            older, trust, quarantined = known
            if trust >= each.trust and (each.quarantined or not quarantined):
                return Written("duplicate", older, "this is remembered already", each.redacted)
            reason = f"it was known as {older}, by somebody less trusted"
        if each.supersedes:
            try:
                each = replace(each, supersedes=self._replaced(each))
            except _Kept as problem:
                return Written("refused", reason=str(problem), redacted=each.redacted)
        fact_id = new_id("f")
        found = self._matches(each)
        gone: list[str] = []
        if known is not None:
            gone.append(known[0])
        if each.supersedes and each.supersedes not in gone:
            gone.append(each.supersedes)
        if not gone and self.may_replace and not each.quarantined:
            gone += [match.older.id for match in replaced(found, each.trust)]
        for target in gone:
            said = "repeats" if known is not None and target == known[0] else "supersedes"
            self._links.append(
                _Link(fact_id, target, "supersedes", 1.0, f"{said}: superseded by {fact_id}")
            )
        self._gone.update(gone)
        rest = [match for match in found if match.older.id not in gone]
        self._link(fact_id, rest)
        self._links += [_Link(fact_id, target, "about", 1.0, "") for target in each.about]
        self._add(each, fact_id)
        return Written(
            "stored",
            fact_id,
            "; ".join(filter(None, (reason, each.note))),
            each.redacted,
            each.quarantined,
            tuple(gone),
            tuple(match.to_candidate() for match in rest),
        )

    def _drawn(self, each: Prepared) -> Prepared:
        """A draft that is believed no more than what it is drawn from, by the ids of that."""
        if not each.about:
            return each
        found = [facts.by_id(self.execute, self.view, name)[1] for name in each.about]
        trust = min(each.trust, *(fact.trust for fact in found))
        quoted = each.quarantined or any(fact.quarantined for fact in found)
        return replace(
            each,
            about=tuple(dict.fromkeys(fact.id for fact in found)),
            trust=trust,
            told_by=each.told_by or _told_by(each.author, found),
            quarantined=quoted or is_quarantined(trust, each.type, each.text),
        )

    def _matches(self, each: Prepared) -> list[Match]:
        if each.type == "turn":
            return []
        return matches(
            self._looked,
            statement(each.text),
            self._words[each.text],
            self._fresh,
            self._gone,
            correction=each.type == "correction",
        )

    def _link(self, fact_id: str, rest: Sequence[Match]) -> None:
        """Links to what stays. What could have been replaced and was not is contradicted by now."""
        for match in rest[:LINKED]:
            relation = match.relation
            kind: LinkKind = "contradicts" if relation.kind == "supersedes" else relation.kind
            self._links.append(
                _Link(fact_id, match.older.id, kind, relation.weight, relation.reason)
            )

    def _add(self, each: Prepared, fact_id: str) -> None:
        names = [name for name in self._phrases[each.text] if name in self._names]
        body = each.to_body(fact_id)
        body["entities"] = sorted(with_vocabulary(each.entities, names))
        self.new.append(body)
        self._digests[each.digest] = (fact_id, each.trust, each.quarantined)
        self._fresh.add(Older(fact_id, statement(each.text), each.trust), terms(each.text))

    def _known(self, digest: str) -> tuple[str, int, bool] | None:
        """The active fact that says the same: of this batch, or of those that are there."""
        fresh = self._digests.get(digest)
        if fresh is not None and fresh[0] not in self._gone:
            return fresh
        there = self._there.get(digest, ())
        return next((fact for fact in there if fact[0] not in self._gone), None)

    def _repeated(self, digests: Collection[str]) -> dict[str, list[tuple[str, int, bool]]]:
        """The active facts that say what a batch says, those most trusted first."""
        found: dict[str, list[tuple[str, int, bool]]] = {}
        if not digests:
            return found
        marks = ", ".join("?" * len(digests))
        rows = self.execute(
            "SELECT digest, id, trust, quarantined FROM facts WHERE scope = ?"
            f" AND digest IN ({marks}) AND lifecycle = 'active' ORDER BY trust DESC, number",
            (self.scope, *digests),
        )
        for digest, fact_id, trust, quarantined in rows:
            found.setdefault(str(digest), []).append((str(fact_id), int(trust), bool(quarantined)))
        return found

    def _replaced(self, each: Prepared) -> str:
        """The whole id of the fact whose place a draft asks for; `_Kept` where it cannot have it."""
        target = each.supersedes
        if (fresh := self._fresh.facts.get(target)) is not None:
            trust = fresh.trust
        else:
            try:
                _, fact = facts.by_id(self.execute, self.view, target)
            except (UnknownName, UsageError) as unknown:
                raise _Kept(unknown.message) from None
            target, trust = fact.id, fact.trust
            if fact.lifecycle != "active":
                raise _Kept(f"{target} is {fact.lifecycle} and cannot be superseded")
        if target in self._gone:
            raise _Kept(f"{target} is superseded already")
        if each.quarantined:
            raise _Kept("what reads like an instruction cannot take the place of another fact")
        if each.trust < min(trust, TRUST["agent"]):
            raise _Kept(f"{target} comes from somebody more trusted, and is not superseded by this")
        return target


def _told_by(author: str, found: Sequence[Fact]) -> str:
    """Who told that somebody said what a draft is drawn from."""
    return next((fact.told_by for fact in found if fact.told_by and fact.author == author), "")


def _unread(written: Written) -> Written:
    """For those who may write a scope and not read it: nothing of what was there before."""
    kept = replace(written, candidates=(), superseded=())
    if written.outcome == "refused":
        return kept
    return replace(kept, id=written.id if written.outcome == "stored" else "", reason="")


class _Kept(Exception):
    """A fact stays where it is, and why."""


def _apply(execute: Execute, scope: int, kind: str, caller: Caller, body: dict[str, Any]) -> None:
    picture.apply(execute, log.append(execute, scope, kind, caller.who, body))
