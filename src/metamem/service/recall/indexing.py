"""Making vectors after the write, and both indexes anew where their rules changed.

The job goes through each scope in the order of the facts' numbers. Its cursor is in `jobs`, moved
in the same transaction that brings the vectors, so that it goes on where it stopped, whatever ended
it. One process at a time holds a scope's lease. Facts that came back or were edited lie behind the
cursor: the scope's generation tells that there may be some, and then they are looked for.
"""

import os
from dataclasses import dataclass
from typing import Literal

import numpy as np

from metamem.core.errors import UsageError
from metamem.core.protocols import Embedder
from metamem.core.terms import VERSION
from metamem.service import picture
from metamem.service.database import Database, new_id, now_ms
from metamem.service.recall.embedding import (
    TERMS,
    Identity,
    LocalEmbedder,
    choose,
    in_use,
    set_setting,
    terms_are_current,
)
from metamem.service.recall.vectors import packed
from metamem.store.engine import Execute, Value

EMBED, SWEEP, POST = "embed", "embed-again", "post-anew"
BATCH = 256
LEASE_MS = 30_000

What = Literal["all", "vectors", "terms"]


@dataclass(frozen=True, slots=True)
class Progress:
    """What a pass of the job did."""

    embedded: int
    scopes: int
    waiting: int  # facts whose vectors are still to be made


class Indexer:
    """Makes vectors for facts that have none. Several processes may run one each."""

    def __init__(self, database: Database, embedder: LocalEmbedder) -> None:
        self._database = database
        self._embedder = embedder
        self._me = new_id(f"{os.getpid()}-")
        self.embedded = 0  # since this began
        with database.reading() as execute:
            told = execute("SELECT 1 FROM service_settings WHERE name = ?", (TERMS,))
        if not told:
            with database.writing() as execute:
                set_setting(execute, TERMS, str(VERSION))

    def identity(self) -> Identity | None:
        """The embedder in use, chosen now where none is; None where it is not the one here."""
        embedder = self._embedder.get()
        with self._database.reading() as execute:
            found = in_use(execute)
        if found is None:
            with self._database.writing() as execute:
                found = in_use(execute) or choose(execute, embedder)
        return found if found.fingerprint == embedder.fingerprint else None

    def run(self, most: int | None = None) -> Progress:
        """Make vectors until none is missing or `most` were made. Nothing is done twice."""
        identity = self.identity()
        if identity is None:
            return Progress(0, 0, 0)
        made, touched = 0, 0
        with self._database.reading() as execute:
            scopes = [number for (number,) in execute("SELECT number FROM scopes ORDER BY number")]
        for scope in scopes:
            before = made
            while most is None or made < most:
                some = self._step(scope, identity)
                if not some:
                    break
                made += some
            touched += made > before
        self.embedded += made
        with self._database.reading() as execute:
            return Progress(made, touched, sum(waiting(execute, scope) for scope in scopes))

    def reindex(self, what: What = "all") -> None:
        """Begin anew: with the embedder of this process, and with today's terms.

        Old vectors are no longer used from here on; `run` makes the new ones. The lexical index is
        made anew here, a scope at a time: each is the old one until it is the new one.
        """
        if what not in ("all", "vectors", "terms"):
            raise UsageError(f"no index is called {what!r}", hint="all, vectors or terms")
        if what != "terms":
            embedder = self._embedder.get()
            with self._database.writing() as execute:
                before = in_use(execute)
                if before is None or before.fingerprint != embedder.fingerprint:
                    choose(execute, embedder)
                    execute("DELETE FROM jobs WHERE name IN (?, ?)", (EMBED, SWEEP))
        if what != "vectors":
            self._post_anew()

    def _post_anew(self) -> None:
        """Scopes that have today's terms already are left out: it may have been stopped before."""
        with self._database.reading() as execute:
            if terms_are_current(execute) and not _begun(execute):
                return
            scopes = [number for (number,) in execute("SELECT number FROM scopes ORDER BY number")]
        for scope in scopes:
            with self._database.writing() as execute:
                job = _job(execute, POST, scope)
                if job.position != VERSION:
                    acted = picture.post_anew(execute, scope)
                    _advance(execute, POST, scope, VERSION, acted)
        with self._database.writing() as execute:
            set_setting(execute, TERMS, str(VERSION))
            execute("DELETE FROM jobs WHERE name = ?", (POST,))

    def _step(self, scope: int, identity: Identity) -> int:
        """One batch of one scope; how many vectors it made. Zero: nothing to do, or another does."""
        if not self._due(scope) or not self._leased(scope):
            return 0
        with self._database.reading() as execute:
            ((generation,),) = execute("SELECT generation FROM scopes WHERE number = ?", (scope,))
            cursor, swept = _job(execute, EMBED, scope), _job(execute, SWEEP, scope)
            behind = swept.position != generation
            rows = _without(execute, scope, identity, cursor.position) if behind else []
            sweeping = bool(rows)
            rows = rows or _next(execute, scope, cursor.position)
        vectors = _vectors(self._embedder.get(), [text for _, _, text in rows])
        with self._database.writing() as execute:
            if in_use(execute) != identity or not self._holds(execute, scope):
                return 0
            _keep(execute, scope, identity, rows, vectors)
            if not sweeping:
                last = rows[-1][0] if rows else cursor.position
                _advance(execute, EMBED, scope, last, len(rows))
                if behind:
                    _advance(execute, SWEEP, scope, generation, 0)
        return len(rows)

    def _due(self, scope: int) -> bool:
        with self._database.reading() as execute:
            ((generation,),) = execute("SELECT generation FROM scopes WHERE number = ?", (scope,))
            return _job(execute, SWEEP, scope).position != generation or bool(
                waiting(execute, scope)
            )

    def _leased(self, scope: int) -> bool:
        now = now_ms()
        with self._database.writing() as execute:
            _job(execute, EMBED, scope, make=True)
            return bool(
                execute(
                    "UPDATE jobs SET held_by = ?, held_until = ? WHERE name = ? AND scope = ?"
                    " AND (held_by = ? OR held_until < ?) RETURNING 1",
                    (self._me, now + LEASE_MS, EMBED, scope, self._me, now),
                )
            )

    def _holds(self, execute: Execute, scope: int) -> bool:
        return _job(execute, EMBED, scope).held_by == self._me

    def release(self) -> None:
        """Let others go on at once."""
        with self._database.writing() as execute:
            execute("UPDATE jobs SET held_until = 0 WHERE held_by = ?", (self._me,))


@dataclass(frozen=True, slots=True)
class _Job:
    position: int
    held_by: str


def waiting(execute: Execute, scope: int) -> int:
    """Facts of a scope that the job has not come to."""
    ((count,),) = execute(
        "SELECT COUNT(*) FROM facts WHERE scope = ? AND lifecycle = 'active' AND number > ?",
        (scope, _job(execute, EMBED, scope).position),
    )
    return int(count)


def _job(execute: Execute, name: str, scope: int, *, make: bool = False) -> _Job:
    if make:
        execute(
            "INSERT INTO jobs (name, scope, position, held_by, held_until, ran, acted, at)"
            " VALUES (?, ?, 0, '', 0, 0, 0, ?) ON CONFLICT (name, scope) DO NOTHING",
            (name, scope, now_ms()),
        )
    rows = execute("SELECT position, held_by FROM jobs WHERE name = ? AND scope = ?", (name, scope))
    return _Job(*rows[0]) if rows else _Job(0, "")


def _advance(execute: Execute, name: str, scope: int, position: int, acted: int) -> None:
    _job(execute, name, scope, make=True)
    execute(
        "UPDATE jobs SET position = ?, ran = ran + 1, acted = acted + ?, at = ?"
        " WHERE name = ? AND scope = ?",
        (position, acted, now_ms(), name, scope),
    )


def _begun(execute: Execute) -> bool:
    return bool(execute("SELECT 1 FROM jobs WHERE name = ?", (POST,)))


def _next(execute: Execute, scope: int, after: int) -> list[tuple[int, int, str]]:
    return [
        (number, version, text)
        for number, version, text in execute(
            "SELECT number, version, text FROM facts WHERE scope = ? AND lifecycle = 'active'"
            " AND number > ? ORDER BY number LIMIT ?",
            (scope, after, BATCH),
        )
    ]


def _without(
    execute: Execute, scope: int, identity: Identity, upto: int
) -> list[tuple[int, int, str]]:
    """Facts that the cursor has passed and that have no vector of this embedder."""
    return [
        (number, version, text)
        for number, version, text in execute(
            "SELECT f.number, f.version, f.text FROM facts f LEFT JOIN vectors v"
            " ON v.scope = f.scope AND v.fact = f.number AND v.embedder = ?"
            " WHERE f.scope = ? AND f.lifecycle = 'active' AND f.number <= ? AND v.fact IS NULL"
            " ORDER BY f.number LIMIT ?",
            (identity.number, scope, upto, BATCH),
        )
    ]


def _vectors(embedder: Embedder, texts: list[str]) -> list[bytes]:
    return packed(np.asarray(embedder.embed(texts), np.float32)) if texts else []


def _keep(
    execute: Execute,
    scope: int,
    identity: Identity,
    rows: list[tuple[int, int, str]],
    vectors: list[bytes],
) -> None:
    """Enter vectors of facts that are still what they were when their texts were read."""
    numbers: list[Value] = [number for number, _, _ in rows]
    marks = ", ".join("?" * len(numbers))
    now = dict(
        execute(
            f"SELECT number, version FROM facts WHERE number IN ({marks}) AND scope = ?"
            " AND lifecycle = 'active'",
            (*numbers, scope),
        )
    )
    values: list[Value] = []
    for (number, version, _), vector in zip(rows, vectors, strict=True):
        if now.get(number) == version:
            values += (scope, number, identity.number, vector)
    if values:
        marks = ", ".join(["(?, ?, ?, ?)"] * (len(values) // 4))
        execute(
            f"INSERT INTO vectors (scope, fact, embedder, vector) VALUES {marks}"
            " ON CONFLICT (scope, fact) DO UPDATE SET embedder = excluded.embedder,"
            " vector = excluded.vector",
            values,
        )
