"""What a new conversation begins with: standing facts first, then what is new.

The first part is the same, byte for byte, until the facts in it change (or, rarely, a day has made
another fact weigh more): prompt caches keep it. It is chosen by weight and told in the order of the
facts' coming. What reads like an instruction to a model is in neither part, and what a tool or an
outsider said only where somebody pinned it.
"""

from collections.abc import Sequence

import numpy as np

from metamem.core.errors import UsageError
from metamem.core.ids import content_id
from metamem.core.tokens import count_tokens
from metamem.service import facts
from metamem.service.marks import unfenced
from metamem.service.recall.catalog import Catalog, Flags
from metamem.service.recall.columns import TYPE_CODES
from metamem.service.recall.index import Look
from metamem.service.recall.render import RECALLED, day, listed, plain
from metamem.service.recall.scoring import DAY, freshness
from metamem.service.sight import Sight
from metamem.service.words import TRUST, Briefing, Fact
from metamem.service.writing.clean import one_line
from metamem.service.writing.trust import strength
from metamem.store.engine import Execute

STANDING = ("instruction", "preference", "decision")
OPEN = ("plan", "error")  # what somebody may have to go on with
EVIDENCE = "turn"
FOR_PREFIX = 0.7  # of the budget, at most
MOST = 60  # facts of a part that are looked at
SESSIONS = 3
NEW_DAYS = 14  # after which a fact is not news
LONGEST = 120  # characters of a session's title or outcome
_NAMED = "0" * 12  # as long as what a prefix is named by: its content
HEAD = f"What memory holds to begin with. {RECALLED}"
HEAD_RECENT = f"What is new in memory. {RECALLED}"


def made(
    execute: Execute, view: Sight, looks: Sequence[Look], tokens: int, identifier: str, now: int
) -> tuple[Briefing, list[int]]:
    """A briefing within its budget, and the numbers of the facts in it."""
    if tokens < 0:
        raise UsageError(f"{tokens} tokens are not a budget")
    today = now - now % DAY
    standing = _read(execute, view, _heaviest(looks, today))
    prefix, told = _prefix(standing, int(tokens * FOR_PREFIX))
    left = tokens - count_tokens(prefix)
    news = _read(execute, view, [n for n in _newest(looks, now) if n not in told])
    recent, new = _recent(news, _sessions(execute, view), identifier, left)
    numbers = [*told, *new]
    known = {**dict(standing), **dict(news)}
    ids = tuple(known[number].id for number in numbers)
    whole = Briefing(identifier, prefix, recent, 0, ids)
    return Briefing(identifier, prefix, recent, count_tokens(whole.text), ids), numbers


def _heaviest(looks: Sequence[Look], today: int) -> list[int]:
    """Pinned facts first, then standing ones by importance and age."""
    found: list[tuple[float, int]] = []
    for look in looks:
        catalog = look.catalog
        may = _trusted(look) & (_of(catalog, STANDING) | catalog.pinned)
        places = np.flatnonzero(may)
        weights = catalog.importance[places] * freshness(
            catalog.type[places], catalog.said_at[places], today
        )
        weights = weights + 10 * catalog.pinned[places]
        best = np.argsort(-weights, kind="stable")[:MOST]
        found += [(-float(weights[i]), int(catalog.numbers[places[i]])) for i in best]
    return [number for _, number in sorted(found)[:MOST]]


def _newest(looks: Sequence[Look], now: int) -> list[int]:
    """Open plans and errors, then other facts, newest first; lines of conversations are not news."""
    found: list[tuple[int, int, int]] = []
    for look in looks:
        catalog = look.catalog
        fresh = catalog.said_at >= now - NEW_DAYS * DAY
        may = _trusted(look) & fresh & (catalog.type != TYPE_CODES[EVIDENCE])
        is_open = _of(catalog, OPEN)
        for turn, wanted in enumerate((is_open, ~is_open)):
            places = np.flatnonzero(may & wanted)
            newest = places[np.argsort(-catalog.said_at[places], kind="stable")][: MOST // 2]
            found += [(turn, -int(catalog.said_at[i]), int(catalog.numbers[i])) for i in newest]
    return [number for _, _, number in sorted(found)[:MOST]]


def _trusted(look: Look) -> Flags:
    """Facts that are active, do not read like an instruction to a model, and are somebody's own
    words: what tools and others bring in waits until it is asked for, or until somebody pins it."""
    catalog = look.catalog
    may: Flags = ~catalog.quarantined & ((catalog.trust >= TRUST["agent"]) | catalog.pinned)
    may[look.gone] = False
    return may


def _of(catalog: Catalog, types: tuple[str, ...]) -> Flags:
    return np.isin(catalog.type, [TYPE_CODES[name] for name in types])


def _read(execute: Execute, view: Sight, numbers: list[int]) -> list[tuple[int, Fact]]:
    """In the order of the numbers; those alone that may be shown now."""
    known = facts.by_number(execute, view, numbers)
    return [
        (number, known[number])
        for number in numbers
        if number in known and known[number].lifecycle == "active" and not known[number].quarantined
    ]


def _prefix(standing: list[tuple[int, Fact]], tokens: int) -> tuple[str, list[int]]:
    """Which facts fit is decided by weight; their order is that of their coming."""
    chosen = listed([fact for _, fact in standing], "briefing", _NAMED, tokens, HEAD)
    told = sorted(standing[place] for place in chosen.shown)
    content = content_id([[fact.id, fact.version] for _, fact in told])
    text = listed([fact for _, fact in told], "briefing", content[: len(_NAMED)], tokens, HEAD)
    return text.text, [told[place][0] for place in text.shown]


def _recent(
    news: list[tuple[int, Fact]], sessions: list[str], identifier: str, tokens: int
) -> tuple[str, list[int]]:
    text = listed([fact for _, fact in news], "briefing", identifier, tokens, HEAD_RECENT, sessions)
    return text.text, [news[place][0] for place in text.shown]


def _sessions(execute: Execute, view: Sight) -> list[str]:
    """The last conversations that have a title or an outcome, unless it commands models."""
    where, values = view.within("scope")
    rows = execute(
        f"SELECT started_at, host, title, outcome FROM sessions WHERE {where}"
        " AND (title <> '' OR outcome <> '') ORDER BY started_at DESC, id LIMIT ?",
        (*values, SESSIONS),
    )
    return [
        f"- [{day(at)} session{f', {plain(host)}' if host else ''}] "
        + ": ".join(one_line(unfenced(part), LONGEST) for part in (title, outcome) if part)
        for at, host, title, outcome in rows
        if not any(strength(part) == "command" for part in (host, title, outcome))
    ]
