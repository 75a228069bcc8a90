"""A scope's facts as columns: read from the database, and kept up with what was added or changed.

A hundred thousand rows are read whenever a process meets a large scope for the first time, so the
small columns travel as one number: each column of a row costs time.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from metamem.service.recall.catalog import NONE, Catalog, Flags, Ints, Longs, neighbours
from metamem.service.words import TYPES
from metamem.store.engine import Execute

TYPE_CODES = {name: code for code, name in enumerate(TYPES)}
_CODE = " ".join(f"WHEN '{name}' THEN {code}" for name, code in TYPE_CODES.items())
_STEPS = 1000  # of importance
_COLUMNS = (
    f"number, said_at, COALESCE(meant_from, {NONE}), position, author, NULLIF(session, ''),"
    f" ((((terms * 32 + CASE type {_CODE} ELSE 31 END) * 4 + trust) * 2 + quarantined) * 2 + pinned)"
    f" * {_STEPS + 1} + CAST(importance * {_STEPS} AS INTEGER)"
)
AT_ONCE = 500  # numbers in one query


@dataclass(slots=True)
class Names:
    """Authors and sessions of one scope, numbered in the order of their coming. They only grow."""

    authors: dict[str, int] = field(default_factory=dict)
    sessions: dict[str, int] = field(default_factory=dict)


def no_facts() -> Catalog:
    return _catalog([], Names())


def read_all(execute: Execute, scope: int, names: Names) -> Catalog:
    """The active facts of a scope."""
    return _linked(_catalog(_rows(execute, scope, "number > ?", [NONE]), names))


def read_after(execute: Execute, scope: int, names: Names, catalog: Catalog) -> Catalog:
    """A catalog with the facts that came after its last."""
    last = int(catalog.numbers[-1]) if catalog.count else NONE
    rows = _rows(execute, scope, "number > ?", [last])
    if not rows:
        return catalog
    new = _catalog(rows, names)
    joined = {
        name: np.concatenate((getattr(catalog, name), getattr(new, name)))
        for name in _ARRAYS
        if name not in _BESIDE
    }
    beside = {
        name: np.concatenate((getattr(catalog, name), np.full(new.count, NONE, np.int32)))
        for name in _BESIDE
    }
    both = Catalog(**joined, **beside, authors=new.authors)
    return _relinked(both, new.session)


def read_again(
    execute: Execute, scope: int, names: Names, catalog: Catalog, numbers: Sequence[int]
) -> tuple[Catalog, Ints, Ints] | None:
    """A catalog in which these facts are as the database has them now, with the local indices of
    those that changed and of those that are no longer active. None where one is active that the
    catalog, in its order, has no place for."""
    found = []
    for start in range(0, len(numbers), AT_ONCE):
        some = list(numbers[start : start + AT_ONCE])
        marks = ", ".join("?" * len(some))
        found += _rows(execute, scope, f"number IN ({marks})", some)
    new = _catalog(found, names)
    places, known = places_of(catalog, new.numbers)
    last = int(catalog.numbers[-1]) if catalog.count else NONE
    if np.any(new.numbers[~known] <= last):
        return None  # those after the last are yet to be read, in their order
    changed = {name: getattr(catalog, name).copy() for name in _ARRAYS}
    touched = [catalog.session[places]]
    for name in set(_ARRAYS) - set(_BESIDE):
        changed[name][places] = getattr(new, name)[known]
    absent = np.setdiff1d(np.array(numbers, np.int64), new.numbers)
    gone, there = places_of(catalog, absent)
    gone = gone[: int(there.sum())]
    touched += [catalog.session[gone], new.session[known]]
    changed["session"][gone] = NONE
    both = Catalog(**changed, authors=new.authors)
    return _relinked(both, np.concatenate(touched)), places, gone


def places_of(catalog: Catalog, numbers: Longs) -> tuple[Ints, Flags]:
    """The local indices of those numbers that the catalog has, and which of them it has."""
    if not catalog.count:
        return np.empty(0, np.int32), np.zeros(len(numbers), np.bool_)
    places = np.minimum(np.searchsorted(catalog.numbers, numbers), catalog.count - 1)
    known = catalog.numbers[places] == numbers
    return places[known].astype(np.int32), known


def size(catalog: Catalog) -> int:
    """In bytes."""
    return sum(getattr(catalog, name).nbytes for name in _ARRAYS)


_BESIDE = ("before", "after")
_ARRAYS = tuple(each.name for each in fields(Catalog) if each.name != "authors")


def _rows(execute: Execute, scope: int, where: str, values: list[int]) -> list[tuple[Any, ...]]:
    return execute(
        f"SELECT {_COLUMNS} FROM facts WHERE scope = ? AND lifecycle = 'active' AND {where}"
        " ORDER BY number",
        (scope, *values),
    )


def _catalog(rows: Sequence[tuple[Any, ...]], names: Names) -> Catalog:
    """Of rows in the order of their numbers; what stands beside each is left open."""
    columns = list(zip(*rows, strict=True)) or [()] * 7
    numbers, said_at, meant, position, author, session, small = columns
    packed = np.array(small, np.int64)
    packed, importance = np.divmod(packed, _STEPS + 1)
    packed, pinned = np.divmod(packed, 2)
    packed, quarantined = np.divmod(packed, 2)
    packed, trust = np.divmod(packed, 4)
    lengths, kind = np.divmod(packed, 32)
    authors, sessions = names.authors, names.sessions
    return Catalog(
        numbers=np.array(numbers, np.int64),
        lengths=lengths.astype(np.int32),
        said_at=np.array(said_at, np.int64),
        meant_from=np.array(meant, np.int64),
        session=np.array(
            [
                NONE if each is None else sessions.setdefault(each, len(sessions))
                for each in session
            ],
            np.int32,
        ),
        position=np.array(position, np.int32),
        author=np.array([authors.setdefault(each, len(authors)) for each in author], np.int32),
        authors=tuple(authors),
        importance=(importance / _STEPS).astype(np.float32),
        type=kind.astype(np.int16),
        trust=trust.astype(np.int8),
        quarantined=quarantined.astype(np.bool_),
        pinned=pinned.astype(np.bool_),
        before=np.full(len(rows), NONE, np.int32),
        after=np.full(len(rows), NONE, np.int32),
    )


def _linked(catalog: Catalog) -> Catalog:
    before, after = neighbours(catalog.session, catalog.position)
    return replace(catalog, before=before, after=after)


def _relinked(catalog: Catalog, sessions: Ints) -> Catalog:
    """With the lines of these sessions, and those that left one, in order again."""
    touched = np.unique(sessions[sessions != NONE])
    alone = (catalog.session == NONE) & ((catalog.before != NONE) | (catalog.after != NONE))
    lines = np.flatnonzero(np.isin(catalog.session, touched) | alone).astype(np.int32)
    if not len(lines):
        return catalog
    links = {}
    inside = neighbours(catalog.session[lines], catalog.position[lines])
    for name, near in zip(_BESIDE, inside, strict=True):
        links[name] = getattr(catalog, name).copy()
        links[name][lines] = np.where(near == NONE, NONE, lines[near])
    return replace(catalog, **links)
