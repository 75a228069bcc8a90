"""Conversations entered as evidence: a session, and its turns as facts that no one has judged.

Each step reads what is known of the session and enters what is new in the same transaction, so that
two processes with the same turns, or one that was killed and comes again, store every turn once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from metamem.core.access import Caller
from metamem.core.errors import UsageError
from metamem.service import changing, facts, log, picture
from metamem.service.database import new_id
from metamem.service.sight import Sight
from metamem.service.words import Session
from metamem.service.writing.correcting import tie
from metamem.service.writing.entities import phrases, with_vocabulary
from metamem.service.writing.fields import NAME, TITLE, Fields, hidden, identifier, moment
from metamem.service.writing.prepare import Prepared, Refused
from metamem.service.writing.speaking import title as shown
from metamem.service.writing.turns import (
    KnownTurn,
    PreparedTurn,
    known_turns,
    matched,
    prepare_turn,
    same,
    turn_digest,
)
from metamem.service.writing.vocabulary import known_names
from metamem.store.engine import Execute

_ROW = ("host", "title", "started_at", "ended_at", "outcome")


@dataclass(frozen=True, slots=True)
class PreparedSession:
    """A session without secrets, its turns as facts."""

    id: str
    host: str
    title: str
    started_at: int | None
    ended_at: int | None
    turns: tuple[PreparedTurn, ...]
    refused: int
    redacted: int  # turns in which there were secrets
    notes: tuple[str, ...]


@dataclass(slots=True)
class Step:
    """What one transaction did."""

    stored: int = 0
    changed: int = 0
    finished: bool = True
    new: list[dict[str, Any]] = field(default_factory=list)


def prepare_session(session: Session, caller: Caller, now: int) -> PreparedSession:
    fields, notes = Fields(), []
    known_as = identifier(session.id)
    if not known_as:
        raise UsageError("a session needs an id", hint="the one that its host gave it")
    if known_as == hidden(session.id):
        notes.append("its id holds a secret, or is too long: a digest stands in its place")
    title = fields.line(session.title, TITLE)
    if not shown(caller, session.title):
        title = ""
        notes.append("its title reads like an instruction to a model and was left out")
    began, ended = moment(session.started_at, "started_at"), moment(session.ended_at, "ended_at")
    if fields.redacted:
        notes.append(f"secrets were taken out of its host or title: {', '.join(fields.kinds)}")
    host = fields.line(session.host, NAME) if shown(caller, session.host) else ""
    turns: list[PreparedTurn] = []
    refused = redacted = 0
    reasons: dict[str, int] = {}
    for turn in session.turns:
        made = prepare_turn(known_as, turn, caller, now if began is None else began)
        if isinstance(made, Refused):
            refused += 1
            reasons[f"not kept: {made.reason}"] = reasons.get(f"not kept: {made.reason}", 0) + 1
            redacted += bool(made.redacted)
            continue
        turns.append(made)
        redacted += bool(made.parts[0].redacted)
        for note in made.notes:
            reasons[note] = reasons.get(note, 0) + 1
    notes += [note if count == 1 else f"{note} ({count} times)" for note, count in reasons.items()]
    return PreparedSession(
        known_as, host, title, began, ended, tuple(turns), refused, redacted, tuple(notes)
    )


@dataclass(frozen=True, slots=True)
class Ingesting:
    """A session on its way into one scope, in one transaction of several."""

    execute: Execute
    view: Sight  # of that scope alone
    caller: Caller
    session: PreparedSession
    now: int

    @property
    def scope(self) -> int:
        (number,) = self.view.scopes
        return number

    def plan(self, most: int) -> Step:
        """Change what is known and is another now; gather what is new, at most so many facts."""
        step, names = Step(), frozenset[str]()
        known, position = self._known()
        pairs = matched(self.session.turns, known)
        fresh = [turn for turn, old in pairs if old is None][:most]
        if fresh:
            said = (phrases(part.text) for turn in fresh for part in turn.parts)
            names = known_names(self.execute, self.scope, said)
        touched: set[str] = set()
        for turn, old in pairs:
            if old is not None and same(turn, old):
                continue
            if turn.key and turn.key in touched:  # given twice: looked at again when it is known
                step.finished = False
                continue
            touched.add(turn.key)
            if len(step.new) + len(turn.parts) > most:
                step.finished = False
                break
            parts: Sequence[Prepared] = turn.parts
            if old is None:
                step.stored += 1
            else:
                step.changed += 1
                self._change(turn, old)
                parts = turn.parts[len(old.facts) :]
            for part in parts:
                step.new.append(_body(replace(part, position=position), names))
                position += 1
        return step

    def enter(self, step: Step) -> None:
        self._enter_session()
        if step.new:
            self._apply("remembered", {"facts": step.new})
            tie(self.execute, self.scope, self.caller, self.session.id, step.new)

    def _known(self) -> tuple[list[KnownTurn], int]:
        """The session's turns that are there, and the place after the last."""
        where = "scope = ? AND session = ? AND type = 'turn'"
        values = (self.scope, self.session.id)
        rows = self.execute(
            f"SELECT id, origin, author, said_at, position, digest, version FROM facts WHERE {where}"
            " ORDER BY position, number",
            values,
        )
        digests = {fact: {digest} for fact, _, _, _, _, digest, _ in rows}
        if any(version > 1 for *_, version in rows):
            # What a person edited is still known by what it was.
            for fact, author, text in self.execute(
                "SELECT f.id, f.author, v.text FROM facts f JOIN fact_versions v ON v.fact ="
                f" f.number WHERE f.{where.replace('AND ', 'AND f.')}",
                values,
            ):
                digests[fact].add(turn_digest(self.session.id, author, text))
        frozen = {fact: frozenset(several) for fact, several in digests.items()}
        last = max((row[4] for row in rows), default=-1)
        return known_turns([row[:4] for row in rows], frozen), last + 1

    def _change(self, turn: PreparedTurn, old: KnownTurn) -> None:
        """A known turn says something else now. What it said stays as a version."""
        by, reason = self.caller.who, "its host gave another text"
        for part, fact_id, before in zip(turn.parts, old.facts, old.digests, strict=False):
            if part.digest not in before:
                _, fact = facts.by_id(self.execute, self.view, fact_id)
                columns = {
                    "text": part.text,
                    "digest": part.digest,
                    "tokens": part.tokens,
                    "author": part.author,
                    "trust": min(part.trust, fact.trust),
                    "source": part.source if part.trust < fact.trust else fact.source,
                    "told_by": part.told_by or fact.told_by,
                    "quarantined": part.quarantined,
                    "meant_from": part.meant_from,
                    "meant_to": part.meant_to,
                }
                changing.changed(
                    self.execute, self.scope, fact, columns, part.entities, by=by, reason=reason
                )
        for fact_id in old.facts[len(turn.parts) :]:
            _, fact = facts.by_id(self.execute, self.view, fact_id)
            if fact.lifecycle == "active":
                changing.moved(self.execute, self.scope, fact, "superseded", by=by, reason=reason)

    def _enter_session(self) -> None:
        """The session's row, where it is new or more is known of it."""
        rows = self.execute(
            f"SELECT {', '.join(_ROW)} FROM sessions WHERE scope = ? AND id = ?",
            (self.scope, self.session.id),
        )
        before: Mapping[str, Any] = dict(zip(_ROW, rows[0], strict=True)) if rows else {}
        given = self.session
        began = given.started_at
        if began is None:
            times = [turn.said_at for turn in given.turns if turn.said_at is not None]
            began = min(times, default=None)
        starts = [one for one in (began, before.get("started_at")) if one is not None]
        ends = [one for one in (given.ended_at, before.get("ended_at")) if one is not None]
        after = {
            "host": given.host or before.get("host", ""),
            "title": given.title or before.get("title", ""),
            "started_at": min(starts, default=self.now),
            "ended_at": max(ends, default=None),
            "outcome": before.get("outcome", ""),
        }
        if after != before:
            self._apply("session", {"id": given.id, **after})

    def _apply(self, kind: str, body: Mapping[str, Any]) -> None:
        event = log.append(self.execute, self.scope, kind, self.caller.who, body)
        picture.apply(self.execute, event)


def _body(part: Prepared, names: frozenset[str]) -> dict[str, Any]:
    body = part.to_body(new_id("f"))
    found = [name for name in phrases(part.text) if name in names]
    body["entities"] = sorted(with_vocabulary(part.entities, found))
    return body
