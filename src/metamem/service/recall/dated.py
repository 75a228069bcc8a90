"""The facts of a time: what answers a question that asks for nothing but one.

A fact is of the time that it means, and where it means none, of the time when it was said. What people
do, decide or say is also of the time when they said it, whatever time it means; what happens is not.
The most important come first, among equals the newest; of tools and outsiders as in every recall.
"""

from dataclasses import dataclass, replace

import numpy as np

from metamem.service import facts
from metamem.service.recall.asked_times import Dated, days
from metamem.service.recall.catalog import Floats
from metamem.service.recall.scoring import LESS, OUTSIDE, TRUSTED, Scored
from metamem.service.recall.wanted import EVIDENCE
from metamem.service.sight import Sight
from metamem.service.words import Ask
from metamem.store.engine import Execute, Value

LOOKED_AT = 1000  # facts of a scope: of a time with more, its newest
_NO_FEATURES: Floats = np.empty(0, np.float32)


@dataclass(frozen=True, slots=True)
class OfTime:
    """The best facts of a time, how many there are, and the time in words."""

    scored: list[Scored]
    count: str
    words: str


@dataclass(frozen=True, slots=True)
class _Found:
    number: int
    importance: float
    trust: int
    at: int


def of_time(execute: Execute, view: Sight, ask: Ask, dated: Dated, most: int) -> OfTime:
    """What a question of a time finds in the scopes of a sight."""
    asked = narrowed(ask, dated)
    found: dict[int, _Found] = {}
    all_of_it = True
    if asked is not None:
        for scope in view.scopes:
            for column in ("said_at", "meant_from"):
                some = _found(execute, scope, column, asked, dated)
                found |= {each.number: each for each in some}
                all_of_it &= len(some) < LOOKED_AT
    ranked = _ranked(list(found.values()))[:most]
    known = facts.by_number(execute, view, [each.number for each, _ in ranked])
    scored = [_scored(each, score, known[each.number].text) for each, score in ranked]
    count = f"{'' if all_of_it else 'at least '}{len(found)}"
    return OfTime(scored, count, _told(ask, dated))


def narrowed(ask: Ask, dated: Dated) -> Ask | None:
    """The filters of a question with those that its words tell; None where nothing passes both."""
    types = tuple(t for t in dated.types if not ask.types or t in ask.types)
    if dated.types and not types:
        return None
    if dated.speaker and ask.speaker and dated.speaker.casefold() != ask.speaker.casefold():
        return None
    since = max((t for t in (dated.first, ask.since) if t is not None), default=None)
    until = min((t for t in (dated.last, ask.until) if t is not None), default=None)
    return replace(
        ask,
        types=types or ask.types,
        speaker=dated.speaker or ask.speaker,
        since=since,
        until=until,
    )


def _found(execute: Execute, scope: int, column: str, asked: Ask, dated: Dated) -> list[_Found]:
    """Facts of a scope whose time, as this column has it, is the one asked for; the newest first."""
    conditions = [f"scope = ? AND {column} >= ? AND {column} <= ? AND lifecycle = 'active'"]
    since, until = asked.since, asked.until
    values: list[Value] = [
        scope,
        facts.EVER if since is None else since,
        facts.NEVER if until is None else until,
    ]
    if column == "said_at" and dated.happening:
        conditions.append("meant_from IS NULL")
    if asked.types:
        conditions.append(f"type IN ({', '.join('?' * len(asked.types))})")
        values += asked.types
    if not asked.evidence:
        conditions.append("type <> ?")
        values.append(EVIDENCE)
    if not asked.quarantined:
        conditions.append("quarantined = 0")
    if asked.speaker:
        names = _spellings(asked.speaker)
        conditions.append(f"(LOWER(author) = ? OR author IN ({', '.join('?' * len(names))}))")
        values += [asked.speaker.lower(), *names]
    rows = execute(
        "SELECT number, importance, trust, COALESCE(meant_from, said_at) FROM facts"
        f" WHERE {' AND '.join(conditions)} ORDER BY {column} DESC, number DESC LIMIT ?",
        (*values, LOOKED_AT),
    )
    return [_Found(*row) for row in rows]


def _spellings(name: str) -> list[str]:
    """The database knows no small and large letters but those of ASCII."""
    return sorted({name, name.lower(), name.upper(), name.title(), name.capitalize()})


def _ranked(found: list[_Found]) -> list[tuple[_Found, float]]:
    """By importance, less what is less trusted; what came from outside is not first while something is
    there that a person or an agent said."""
    scores = {each.number: each.importance * (1 - float(LESS[each.trust])) for each in found}
    said = max((scores[each.number] for each in found if each.trust >= TRUSTED), default=None)
    for each in found:
        if said is not None and each.trust == OUTSIDE:
            scores[each.number] = min(scores[each.number], 0.99 * said)
    order = sorted(found, key=lambda e: (-scores[e.number], -e.trust, -e.at, -e.number))
    return [(each, scores[each.number]) for each in order]


def _scored(each: _Found, score: float, text: str) -> Scored:
    less = score - each.importance
    return Scored(each.number, text, score, 1.0, 0.0, each.importance, less, _NO_FEATURES)


def _told(ask: Ask, dated: Dated) -> str:
    """The time in words and as dates: of yesterday, 2026-11-18."""
    since = ask.since if dated.first is None else dated.first
    until = ask.until if dated.last is None else dated.last
    dates = days(since, until)
    if not dated.words:
        return f"of {dates}" if since is not None and until is not None else dates
    return dated.words if dated.words.endswith(dates) else f"{dated.words}, {dates}"
