"""Reading facts: by id, in lists, with their history. Every query is made through a `Sight`."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from metamem.core.access import Scope
from metamem.core.errors import UnknownName, UsageError
from metamem.service.sight import Sight
from metamem.service.words import LIFECYCLES, Fact, Listing, Page, Version, known_span, known_type
from metamem.service.writing.fields import identifier, told
from metamem.store.engine import Execute, Value

_NAMES = tuple(field.name for field in fields(Fact) if field.name != "entities")
COLUMNS = f"number, {', '.join(_NAMES)}"
MOST = 1000  # facts of a page
EVER, NEVER = -(2**62), 2**62  # before and after all times
SHORTEST = 8  # characters of an id that may stand for it: as many as answers show
CHOICES = 5  # facts that are told where a short id could be several
_SIGNS = frozenset("0123456789abcdef")


def by_number(execute: Execute, sight: Sight, numbers: Sequence[int]) -> dict[int, Fact]:
    """The facts of these numbers that the sight covers, whatever their lifecycle."""
    if not numbers:
        return {}
    where, values = sight.within("+scope")  # the plus: found by number, not by all of the scope
    marks = ", ".join("?" * len(numbers))
    rows = execute(
        f"SELECT {COLUMNS} FROM facts WHERE number IN ({marks}) AND {where}",
        (*numbers, *values),
    )
    return dict(_facts(execute, rows, sight.scopes))


def by_id(execute: Execute, sight: Sight, name: str) -> tuple[int, Fact]:
    """A fact and its number, by its id, or by the end or the start of it where that is one fact's.
    What is in another scope is as unknown as what is not there, and makes nothing ambiguous."""
    where, values = sight.within("scope")
    rows = execute(f"SELECT {COLUMNS} FROM facts WHERE id = ? AND {where}", (name, *values))
    found = _facts(execute, rows, sight.scopes) or _by_part(execute, sight, name)
    if len(found) > 1:
        raise UsageError(
            f"{told(name)} could be one of several facts",
            hint=f"say more of its id: {', '.join(fact.id for _, fact in found[:CHOICES])}"
            + (", …" if len(found) > CHOICES else ""),
        )
    for one in found:
        return one
    short = f"say at least {SHORTEST} characters of its id; " if len(name) < SHORTEST else ""
    raise UnknownName(
        f"there is no fact {told(name)}", hint=f"{short}`metamem list` shows what there is"
    )


def is_part(name: str, fact_id: str) -> bool:
    """Whether people may mean a fact by this: its id, the end of it, or the start."""
    return name == fact_id or (
        len(name) >= SHORTEST and (fact_id.endswith(name) or fact_id.startswith(name))
    )


def _by_part(execute: Execute, sight: Sight, name: str) -> list[tuple[int, Fact]]:
    """Facts of the sight whose ids end or begin so. All ids are gone through whatever comes of it,
    in the index alone: how long that takes tells nothing of what others keep."""
    if len(name) < SHORTEST or not set(name.removeprefix("f")) <= _SIGNS:
        return []
    where, values = sight.within("+scope")
    rows = execute(
        f"SELECT {COLUMNS} FROM facts WHERE number IN (SELECT number FROM facts"
        f" WHERE SUBSTR(id, LENGTH(id) - ?) = ? OR SUBSTR(id, 1, ?) = ?) AND {where}"
        " ORDER BY number LIMIT ?",
        (len(name) - 1, name, len(name), name, *values, CHOICES + 1),
    )
    return _facts(execute, rows, sight.scopes)


def listed(execute: Execute, sight: Sight, listing: Listing) -> Page:
    """A page of facts, oldest first."""
    if not 1 <= listing.limit <= MOST:
        raise UsageError(f"a page holds 1 to {MOST} facts, not {listing.limit}")
    for lifecycle in listing.lifecycle:
        if lifecycle not in LIFECYCLES:
            raise UsageError(
                f"no lifecycle is called {lifecycle!r}", hint=f"known: {', '.join(LIFECYCLES)}"
            )
    for type_ in listing.types:
        known_type(type_)
    known_span(listing.since, listing.until)
    where, values = sight.within("scope")
    conditions: list[str] = [where]
    if listing.since is not None or listing.until is not None:
        inside, within = _of_time(sight, listing)
        # The plus: found by their numbers, not by going through all of the scopes.
        conditions = [sight.within("+scope")[0], inside]
        values += within
    for column, wanted in (("type", listing.types), ("lifecycle", listing.lifecycle)):
        if wanted:
            conditions.append(f"{column} IN ({', '.join('?' * len(wanted))})")
            values += wanted
    if listing.session:
        conditions.append("session = ?")
        values.append(identifier(listing.session))
    if listing.entity:
        conditions.append("number IN (SELECT fact FROM fact_entities WHERE entity = ?)")
        values.append(listing.entity.lower())
    if listing.contains:
        conditions.append("LOWER(text) LIKE ? ESCAPE '!'")
        values.append(f"%{_like(listing.contains.lower())}%")
    if listing.after:
        number, _ = by_id(execute, sight, listing.after)
        conditions.append("number > ?")
        values.append(number)
    rows = execute(
        f"SELECT {COLUMNS} FROM facts WHERE {' AND '.join(conditions)} ORDER BY number LIMIT ?",
        (*values, listing.limit + 1),
    )
    facts = tuple(fact for _, fact in _facts(execute, rows[: listing.limit], sight.scopes))
    return Page(facts, facts[-1].id if len(rows) > listing.limit else "")


def _of_time(sight: Sight, listing: Listing) -> tuple[str, list[Value]]:
    """The condition that a fact is of a time, and its values: of the time that it means, and where it
    means none, of that when it was said."""
    where, values = sight.within("scope")
    since = EVER if listing.since is None else listing.since
    until = NEVER if listing.until is None else listing.until
    if listing.types:  # which the indexes know, too
        where += f" AND type IN ({', '.join('?' * len(listing.types))})"
        values += listing.types
    found = f"SELECT number FROM facts WHERE {where}"
    return (
        f"number IN ({found} AND meant_from BETWEEN ? AND ?"
        f" UNION ALL {found} AND meant_from IS NULL AND said_at BETWEEN ? AND ?)",
        [*values, since, until] * 2,
    )


def history(execute: Execute, sight: Sight, fact_id: str) -> list[Version]:
    """What a fact was, from the first version to the one that it is now."""
    number, _ = by_id(execute, sight, fact_id)
    columns = "version, text, type, importance, lifecycle, changed_by"
    rows = execute(
        f"SELECT {columns}, at, reason FROM fact_versions WHERE fact = ?"
        f" UNION ALL SELECT {columns}, changed_at, reason FROM facts WHERE number = ?"
        " ORDER BY version",
        (number, number),
    )
    return [Version(*row) for row in rows]


def linked(execute: Execute, sight: Sight, fact_id: str) -> list[dict[str, Any]]:
    """How a fact hangs together with others that the sight covers."""
    number, _ = by_id(execute, sight, fact_id)
    rows = execute(
        "SELECT source, target, kind, weight FROM links WHERE source = ? OR target = ?",
        (number, number),
    )
    ends = sorted({end for source, target, _, _ in rows for end in (source, target)})
    seen = by_number(execute, sight, ends)
    return [
        {"from": seen[s].id, "to": seen[t].id, "kind": kind, "weight": weight}
        for s, t, kind, weight in rows
        if s in seen and t in seen
    ]


def _facts(
    execute: Execute, rows: Sequence[tuple[Any, ...]], scopes: Mapping[int, Scope]
) -> list[tuple[int, Fact]]:
    numbers: list[Value] = [row[0] for row in rows]
    entities: dict[int, list[str]] = {}
    if numbers:
        marks = ", ".join("?" * len(numbers))
        for number, entity in execute(
            f"SELECT fact, entity FROM fact_entities WHERE fact IN ({marks}) ORDER BY entity",
            numbers,
        ):
            entities.setdefault(number, []).append(entity)
    return [(row[0], _fact(row[1:], scopes, tuple(entities.get(row[0], ())))) for row in rows]


def _fact(row: tuple[Any, ...], scopes: Mapping[int, Scope], entities: tuple[str, ...]) -> Fact:
    """Of the columns after the number, in their order."""
    columns = dict(zip(_NAMES, row, strict=True))
    columns["scope"] = str(scopes[columns["scope"]])
    for flag in ("quarantined", "pinned"):
        columns[flag] = bool(columns[flag])
    return Fact(**columns, entities=entities)


def _like(text: str) -> str:
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")
