"""What a process holds in memory of the scopes that it recalls from: columns, posting lists, vectors.

All of it is read from the database when it is asked for, and follows what others write there: new
facts are read as a tail, facts that were changed or left are looked up by the events that say so.
`scopes.generation` counts such events; where the count does not come out (an erasure, a picture
made anew), the scope is read from the start. What a scope takes is counted in bytes, and the scopes
that were not asked for longest are dropped.

A caller gets what was there at one moment, as arrays that nobody changes under it. They may hold a
fact that is gone by now: whoever shows one reads it from the database in its own transaction.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from threading import Lock

import numpy as np

from metamem.service.recall import snapshots
from metamem.service.recall.catalog import Catalog, Flags, Ints, Posting
from metamem.service.recall.changes import Moment, changed_facts, moment_of
from metamem.service.recall.columns import (
    Names,
    no_facts,
    places_of,
    read_after,
    read_again,
    read_all,
    size,
)
from metamem.service.recall.embedding import Identity
from metamem.service.recall.narrowing import part_of
from metamem.service.recall.vectors import Vectors, unpacked
from metamem.store.engine import Execute

MOST_BYTES = 512 * 1024 * 1024
AT_ONCE = 20_000  # facts up to which vectors are read while somebody waits
SEVERAL = 500  # missing vectors up to which each is asked for by its number
MANY_GONE = 0.1  # of a scope's facts: then it is read from the start
EMPTY = Posting(np.empty(0, np.int32), np.empty(0, np.int32))


@dataclass(frozen=True, slots=True)
class Look:
    """A scope at one moment: its facts, where the terms that were asked for occur, and vectors."""

    scope: int
    catalog: Catalog
    gone: Ints  # facts of the catalog that are no longer active
    postings: Mapping[str, Posting]
    vectors: Vectors | None  # None: not read yet, or none are kept
    waiting: int | None  # facts whose vectors are still to be made; None: not known here

    def posting(self, term: str) -> Posting:
        return self.postings.get(term, EMPTY)


class Index:
    """Scopes in memory. Safe for many threads; other processes may write meanwhile."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._scopes: OrderedDict[int, _Scope] = OrderedDict()
        self._lock = Lock()

    def look(
        self, execute: Execute, scope: int, terms: Iterable[str], identity: Identity | None
    ) -> Look:
        """A scope as it is now. Without an identity of an embedder, vectors are left out."""
        held = self._held(scope)
        with held.lock:
            moment = moment_of(execute, scope)
            held.follow(execute, moment)
            postings = {term: held.posting(execute, moment, term) for term in terms}
            vectors = held.nearby(execute, identity) if identity else None
            waiting = None if vectors is None else held.waiting
            look = Look(scope, held.catalog, held.gone_places, postings, vectors, waiting)
        self._drop_oldest(scope)
        return look

    def warm(self, execute: Execute, scope: int, identity: Identity) -> None:
        """Read a large scope's vectors, letting others recall meanwhile."""
        rows = execute(
            "SELECT fact, vector FROM vectors WHERE scope = ? AND embedder = ? ORDER BY fact",
            (scope, identity.number),
        )
        held = self._held(scope)
        with held.lock:
            held.follow(execute, moment_of(execute, scope))
            held.take(identity, rows)
        self._drop_oldest(scope)

    def snapshot(self, scope: int) -> tuple[Moment, Catalog, Names] | None:
        """What a new process could begin with, if the scope is in memory."""
        with self._lock:
            held = self._scopes.get(scope)
        if held is None:
            return None
        with held.lock:
            return held.snapshot()

    @property
    def bytes(self) -> int:
        with self._lock:
            return sum(held.size for held in self._scopes.values())

    def drop(self) -> None:
        """Hold nothing any more."""
        with self._lock:
            self._scopes.clear()

    def _held(self, scope: int) -> "_Scope":
        with self._lock:
            held = self._scopes.setdefault(scope, _Scope(scope))
            self._scopes.move_to_end(scope)
            return held

    def _drop_oldest(self, but: int) -> None:
        with self._lock:
            total = sum(held.size for held in self._scopes.values())
            for scope in list(self._scopes):
                if total <= self._most_bytes:
                    return
                if scope != but:
                    total -= self._scopes.pop(scope).size


class _Scope:
    """One scope in memory. Its methods are called with its lock held."""

    def __init__(self, scope: int) -> None:
        self.scope = scope
        self.lock = Lock()
        self.vectors: Vectors | None = None
        self.catalog = no_facts()
        self.gone_places: Ints = np.empty(0, np.int32)
        self.size = 0  # in bytes
        self.waiting = 0  # vectors that were missing when they were last looked at
        self._identity: Identity | None = None
        self._moment: Moment | None = None
        self._names = Names()
        self._gone: Flags = np.zeros(0, np.bool_)  # a flag for each fact of the catalog
        self._postings: dict[str, tuple[Posting, int]] = {}  # and the number up to which it goes
        self._posting_bytes = 0

    def follow(self, execute: Execute, now: Moment) -> None:
        """Be as the database is in this transaction, unless another was later already."""
        before = self._moment
        if before is not None and before.seq >= now.seq and before.generation >= now.generation:
            return
        if before is None:
            before = self._begin(execute, now)
        if before is None or not self._follow_changes(execute, before, now):
            self._read_all(execute)
        else:
            self.catalog = read_after(execute, self.scope, self._names, self.catalog)
            self._gone = _longer(self._gone, self.catalog.count)
        self._moment = now
        self._measure()

    def posting(self, execute: Execute, now: Moment, term: str) -> Posting:
        known, covered = self._postings.get(term, (EMPTY, -1))
        if covered >= now.last:
            return self._present(known)
        rows = execute(
            "SELECT fact, count FROM postings WHERE scope = ? AND term = ? AND fact > ?"
            " ORDER BY fact",
            (self.scope, term, covered),
        )
        if rows:
            facts, counts = (np.array(column, np.int64) for column in zip(*rows, strict=True))
            places, there = places_of(self.catalog, facts)
            known = Posting(
                np.concatenate((known.where, places)),
                np.concatenate((known.counts, counts[there].astype(np.int32))),
            )
        if now == self._moment:  # an older transaction must not leave what later ones build on
            self._postings[term] = known, now.last
            self._posting_bytes += 8 * len(rows)
            self._measure()
        return self._present(known)

    def nearby(self, execute: Execute, identity: Identity) -> Vectors | None:
        """The vectors, brought up to date, or None where reading them would take long."""
        if self.vectors is None or self._identity != identity:
            if self.catalog.count > AT_ONCE:
                self.vectors = None
                return None
            self.take(identity, [])
        assert self.vectors is not None
        self.vectors.grow(self.catalog.count)
        missing = self.vectors.missing()
        missing = missing[~self._gone[missing]]
        self.waiting = len(missing)
        if missing.size:
            self.waiting -= self._fill(self._arrived(execute, identity, missing))
            self._measure()
        return self.vectors

    def take(self, identity: Identity, rows: list[tuple[int, bytes]]) -> None:
        """Begin anew with vectors of one embedder."""
        self.vectors = Vectors(identity.fingerprint, identity.dimensions)
        self._identity = identity
        self.vectors.grow(self.catalog.count)
        self._fill(rows)
        self._measure()

    def _arrived(
        self, execute: Execute, identity: Identity, missing: Ints
    ) -> list[tuple[int, bytes]]:
        numbers = [int(number) for number in self.catalog.numbers[missing]]
        if len(numbers) <= SEVERAL:
            where, values = f"fact IN ({', '.join('?' * len(numbers))})", numbers
        else:  # they come in order, so that few of those after the first are there already
            where, values = "fact >= ?", numbers[:1]
        return execute(
            f"SELECT fact, vector FROM vectors WHERE scope = ? AND embedder = ? AND {where}"
            " ORDER BY fact",
            (self.scope, identity.number, *values),
        )

    def _fill(self, rows: list[tuple[int, bytes]]) -> int:
        """How many were filled in."""
        assert self.vectors is not None
        if not rows:
            return 0
        places, there = places_of(self.catalog, np.array([row[0] for row in rows], np.int64))
        scales, levels = unpacked([row[1] for row in rows], self.vectors.dimensions)
        self.vectors.fill(places, scales[there], levels[there])
        return len(places)

    def snapshot(self) -> tuple[Moment, Catalog, Names] | None:
        """What a new process can begin with."""
        if self._moment is None:
            return None
        catalog = self.catalog
        if self.gone_places.size:
            catalog = part_of(catalog, np.flatnonzero(~self._gone).astype(np.int32))
        return self._moment, catalog, self._names

    def _begin(self, execute: Execute, now: Moment) -> Moment | None:
        """Begin with a snapshot, where there is one."""
        found = snapshots.read(execute, self.scope, now)
        if found is None:
            return None
        moment, catalog, names = found
        self._begin_with(catalog, names)
        return moment

    def _read_all(self, execute: Execute) -> None:
        names = Names()
        self._begin_with(read_all(execute, self.scope, names), names)

    def _begin_with(self, catalog: Catalog, names: Names) -> None:
        self.catalog, self._names = catalog, names
        self._gone = np.zeros(self.catalog.count, np.bool_)
        self.gone_places = np.empty(0, np.int32)
        self._postings, self._posting_bytes = {}, 0
        self.vectors = None

    def _follow_changes(self, execute: Execute, before: Moment, now: Moment) -> bool:
        """Take over changes of facts that are here already; False where that cannot be done."""
        if before.generation == now.generation:
            return True
        numbers = changed_facts(execute, self.scope, before, now)
        if numbers is None:
            return False
        again = read_again(execute, self.scope, self._names, self.catalog, numbers)
        if again is None:
            return False
        self.catalog, changed, gone = again
        flags = self._gone.copy()
        flags[changed], flags[gone] = False, True
        if flags.sum() > MANY_GONE * len(flags):
            return False
        self._gone, self.gone_places = flags, np.flatnonzero(flags).astype(np.int32)
        if len(changed):
            self._postings, self._posting_bytes = {}, 0
        if self.vectors is not None:
            self.vectors.grow(self.catalog.count)
            self.vectors.forget(np.concatenate((changed, gone)))
        return True

    def _present(self, posting: Posting) -> Posting:
        """Without facts that are gone."""
        if not self.gone_places.size or not posting.where.size:
            return posting
        stays = ~self._gone[posting.where]
        return posting if stays.all() else Posting(posting.where[stays], posting.counts[stays])

    def _measure(self) -> None:
        vectors = 0 if self.vectors is None else self.vectors.size
        self.size = size(self.catalog) + self._posting_bytes + vectors


def _longer(flags: Flags, count: int) -> Flags:
    """A copy with room for facts that came since."""
    longer = np.zeros(count, np.bool_)
    longer[: len(flags)] = flags
    return longer
