"""What an erasure takes out of the database, inside one transaction.

Of the log, bodies go or lose what was erased; the events themselves stay, without a word of it.
The picture loses the facts, and what is left of it is what the log that is left draws.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from metamem.core.ids import canonical_json
from metamem.service import picture
from metamem.service.access.names import same_name
from metamem.service.calls import CALLED
from metamem.service.database import now_ms
from metamem.service.log import Event
from metamem.service.tables import fact_number
from metamem.service.trees import BEGAN
from metamem.store.engine import Execute, Value

DERIVED = ("merges", "answers", "about")  # links whose source was made of their target
ABOUT_FACTS = ("changed", "moved", "linked", "session")  # kinds of events that speak of others'
DROPPED = 1_000_000  # added to a generation: more than any index follows step by step
AT_ONCE = 500


def texts_of(execute: Execute, scope: int, person: str) -> list[str]:
    """What is about to be erased, for those who look for it elsewhere."""
    found = _doomed(execute, scope, person)
    texts: list[str] = []
    for some, marks in _some(sorted(found)):
        for table, column in (("facts", "number"), ("fact_versions", "fact")):
            rows = execute(f"SELECT text FROM {table} WHERE {column} IN ({marks})", some)
            texts += [text for (text,) in rows]
    return texts


def erase_scope(execute: Execute, scope: int) -> Counter[str]:
    """All of a scope, and what was made of it in others. The scope itself is gone with it."""
    counts = _take_out(execute, _doomed(execute, scope, ""), whole=scope)
    counts += _recalls(execute, scope, "1 = 1", [])
    mine = "IN (SELECT number FROM facts WHERE scope = ?)"
    for table in ("recall_items", "feedback"):
        counts[table] += _deleted(execute, f"{table} WHERE fact {mine}", scope)
    counts["links"] += _deleted(
        execute, f"links WHERE source {mine} OR target {mine}", scope, scope
    )
    counts["versions"] += _deleted(execute, f"fact_versions WHERE fact {mine}", scope)
    for table in ("fact_entities", "postings", "vectors", "facts", "sessions", "calls", "trees"):
        counts[table] += _deleted(execute, f"{table} WHERE scope = ?", scope)
    counts["events"] += _deleted(
        execute, "event_bodies WHERE seq IN (SELECT seq FROM events WHERE scope = ?)", scope
    )
    execute("DELETE FROM jobs WHERE scope = ?", (scope,))
    execute("DELETE FROM catalogs WHERE scope = ?", (scope,))
    execute("DELETE FROM memberships WHERE scope = ?", (scope,))
    execute(
        "UPDATE scopes SET erased_at = ?, owner = NULL, visibility = 'private', settings = '{}',"
        " generation = generation + ? WHERE number = ?",
        (now_ms(), DROPPED, scope),
    )
    return counts


def erase_person(execute: Execute, scope: int, person: str) -> Counter[str]:
    """What one person said in a scope, what was made of that, and the words of their changes of
    what others said, which are again what they were before."""
    counts = _take_out(execute, _doomed(execute, scope, person), person=(scope, person))
    whos = [
        name for (name,) in execute("SELECT DISTINCT who FROM recalls") if same_name(name, person)
    ]
    if whos:
        counts += _recalls(execute, scope, f"who IN ({_marks(whos)})", whos)
    given = "SELECT DISTINCT given_by FROM feedback"
    givers = [name for (name,) in execute(given) if same_name(name, person)]
    for name in givers:
        counts["feedback"] += _deleted(
            execute,
            "feedback WHERE given_by = ? AND fact IN (SELECT number FROM facts WHERE scope = ?)",
            name,
            scope,
        )
    return counts


def _doomed(execute: Execute, scope: int, person: str) -> dict[int, int]:
    """The facts that must go and their scopes: of a scope or of one person in it, and whatever was
    made of them, in that scope or any other."""
    where, values = "scope = ?", [scope]
    if person:
        authors: list[Any] = [
            name
            for (name,) in execute("SELECT DISTINCT author FROM facts WHERE scope = ?", (scope,))
            if same_name(name, person)
        ]
        where, values = f"scope = ? AND author IN ({_marks(authors)})", [scope, *authors]
    rows = execute(f"SELECT number, scope FROM facts WHERE {where}", values)
    found: dict[int, int] = dict(rows)
    if person:
        found |= dict.fromkeys(_once_said_by(execute, scope, person), scope)
    fresh = list(found)
    while fresh:
        made: dict[int, int] = {}
        for some, marks in _some(fresh):
            rows = execute(
                "SELECT f.number, f.scope FROM links l JOIN facts f ON f.number = l.source"
                f" WHERE l.kind IN ({_marks(DERIVED)}) AND l.target IN ({marks})",
                (*DERIVED, *some),
            )
            made |= {number: home for number, home in rows if number not in found}
        found |= made
        fresh = list(made)
    return found


def _once_said_by(execute: Execute, scope: int, person: str) -> Iterator[int]:
    """Facts that have another author by now: hosts correct who said a line."""
    for event in _events(execute, scope):
        body = event.body
        if body is None or event.kind != "changed" or "author" not in body["columns"]:
            continue
        number = picture.number_of(execute, body["fact"])
        ((seq,),) = execute("SELECT event FROM facts WHERE number = ?", (number,))
        brought = _event(execute, seq).body
        assert brought is not None
        first = brought["facts"][number - fact_number(seq, 0)]["author"]
        if same_name(first, person) or same_name(body["columns"]["author"], person):
            yield number


@dataclass(frozen=True, slots=True)
class _Going:
    """What goes, as the log names it."""

    gone: frozenset[str]  # ids of facts
    beside: frozenset[str]  # ids of facts that hang together with them: reasons may quote them


def _take_out(
    execute: Execute,
    doomed: Mapping[int, int],
    *,
    whole: int = 0,
    person: tuple[int, str] = (0, ""),
) -> Counter[str]:
    """Take facts out of the log and the picture of every scope that they or links to them are in,
    but for a scope that goes as a whole, which is seen to apart."""
    homes: dict[int, list[int]] = {person[0]: []} if person[0] else {}
    for number, home in doomed.items():
        homes.setdefault(home, []).append(number)
    beside: set[str] = set()
    for some, marks in _some(list(doomed)):
        for number, fact_id, home in execute(
            "SELECT DISTINCT f.number, f.id, f.scope FROM links l JOIN facts f ON f.number ="
            f" l.source OR f.number = l.target WHERE l.source IN ({marks}) OR l.target IN ({marks})",
            (*some, *some),
        ):
            homes.setdefault(home, [])
            if number not in doomed:
                beside.add(fact_id)
    going = _Going(_ids(execute, list(doomed)), frozenset(beside))
    counts = Counter({"facts": 0})
    for home, numbers in homes.items():
        if home != whole:
            who = person[1] if home == person[0] else ""
            counts += _take_out_of(execute, home, numbers, going, who)
    return counts


def _take_out_of(
    execute: Execute, scope: int, numbers: Sequence[int], going: _Going, person: str
) -> Counter[str]:
    counts = Counter({"facts": len(numbers)})
    sessions = _sessions(execute, numbers)
    brought: dict[int, list[int]] = {}
    for number in numbers:
        ((seq,),) = execute("SELECT event FROM facts WHERE number = ?", (number,))
        brought.setdefault(seq, []).append(number)
    for seq, together in brought.items():
        counts["events"] += _blank_facts(execute, seq, together)
    for some, marks in _some(numbers):
        for table in ("recall_items", "feedback"):
            counts[table] += _deleted(execute, f"{table} WHERE fact IN ({marks})", *some)
    picture.remove_facts(execute, numbers)
    counts += _rewrite_log(execute, scope, going, sessions, person)
    execute("DELETE FROM catalogs WHERE scope = ?", (scope,))
    execute("UPDATE scopes SET generation = generation + ? WHERE number = ?", (DROPPED, scope))
    return counts


@dataclass(slots=True)
class _Rewriting:
    """What the log says of others, while it is gone through."""

    counts: Counter[str]
    touched: set[str]  # ids of facts that must be drawn anew
    empty: frozenset[str]  # sessions of which nothing is left
    untitled: frozenset[str]  # sessions whose title may be words that went
    uncalled: frozenset[str]  # sessions whose calls and files may hold words that went


def _rewrite_log(
    execute: Execute, scope: int, going: _Going, sessions: frozenset[str], person: str
) -> Counter[str]:
    """Go through a scope's events once: drop what speaks of facts that are gone, and the words
    of a person. Then draw anew what that changes."""
    empty = frozenset(each for each in sessions if not _has_facts(execute, scope, each))
    for session in empty:
        execute("DELETE FROM sessions WHERE scope = ? AND id = ?", (scope, session))
    history = _events(execute, scope)
    uncalled = sessions | {
        event.body["session"]
        for event in history
        if event.kind in (CALLED, BEGAN)
        and event.body
        and person
        and same_name(event.actor, person)
    }
    done = _Rewriting(Counter({"sessions": len(empty)}), set(), empty, sessions - empty, uncalled)
    for session in uncalled:
        for table in ("calls", "trees"):
            gone = f"{table} WHERE scope = ? AND session = ?"
            done.counts[table] += _deleted(execute, gone, scope, session)
    about: dict[str, list[Event]] = {}
    for event in history:
        kept = _kept(event, going, person, done)
        if kept != event.body:
            execute("DELETE FROM event_bodies WHERE seq = ?", (event.seq,))
            done.counts["events"] += 1
            if kept is not None:
                body = canonical_json(kept)
                execute("INSERT INTO event_bodies (seq, body) VALUES (?, ?)", (event.seq, body))
        if kept is not None and event.kind in ("changed", "moved"):
            about.setdefault(kept["fact"], []).append(replace(event, body=kept))
        if kept is not None and event.kind == "session" and kept["id"] in done.untitled:
            picture.apply(execute, replace(event, body=kept))
    for fact_id in sorted(done.touched):
        number = picture.number_of(execute, fact_id)
        ((seq,),) = execute("SELECT event FROM facts WHERE number = ?", (number,))
        picture.redraw_fact(execute, number, [_event(execute, seq), *about.get(fact_id, [])])
    return done.counts


def _kept(event: Event, going: _Going, person: str, done: _Rewriting) -> Mapping[str, Any] | None:
    """What stays of an event's body."""
    body = event.body
    assert body is not None
    if event.kind in (CALLED, BEGAN):
        return None if body["session"] in done.uncalled else body
    if event.kind == "session":
        if body["id"] in done.empty:
            return None
        return {**body, "title": "", "outcome": ""} if body["id"] in done.untitled else body
    theirs = bool(person) and same_name(event.actor, person)
    if event.kind == "linked":
        return None if {body["source"], body["target"]} & going.gone else body
    if event.kind not in ABOUT_FACTS:
        return None if theirs else body
    if body["fact"] in going.gone:
        return None
    columns = body.get("columns", {})
    if theirs and "text" in columns and same_name(columns.get("author", person), person):
        done.touched.add(body["fact"])
        return None
    if body.get("reason") and (theirs or body["fact"] in going.beside):
        done.touched.add(body["fact"])
        return {**body, "reason": ""}
    return body


def _blank_facts(execute: Execute, seq: int, numbers: Sequence[int]) -> int:
    """The event that brought them says nothing of them any more; others keep their places."""
    event = _event(execute, seq)
    assert event.body is not None
    left = [
        None if fact_number(seq, index) in numbers else given
        for index, given in enumerate(event.body["facts"])
    ]
    execute("DELETE FROM event_bodies WHERE seq = ?", (seq,))
    if any(given is not None for given in left):
        body = canonical_json({**event.body, "facts": left})
        execute("INSERT INTO event_bodies (seq, body) VALUES (?, ?)", (seq, body))
    return 1


def _recalls(execute: Execute, scope: int, where: str, values: Sequence[Value]) -> Counter[str]:
    """Questions that were asked of a scope lose their words; those of no other scope go."""
    asked = f"SELECT id FROM recalls WHERE {where} AND id IN ({_ASKED})"
    ids = [number for (number,) in execute(asked, (*values, scope))]
    for some, marks in _some(ids):
        execute(f"UPDATE recalls SET query = '', settings = '{{}}' WHERE id IN ({marks})", some)
        execute(f"UPDATE recall_items SET why = '{{}}' WHERE recall IN ({marks})", some)
        execute(f"UPDATE feedback SET note = '' WHERE recall IN ({marks})", some)
        execute(
            f"DELETE FROM recall_scopes WHERE scope = ? AND recall IN ({marks})", (scope, *some)
        )
        empty = [
            number
            for number in some
            if not execute("SELECT 1 FROM recall_scopes WHERE recall = ?", (number,))
        ]
        for number in empty:
            for table in ("recall_items", "feedback"):
                execute(f"DELETE FROM {table} WHERE recall = ?", (number,))
            execute("DELETE FROM recalls WHERE id = ?", (number,))
    return Counter({"recalls": len(ids)})


_ASKED = "SELECT recall FROM recall_scopes WHERE scope = ?"


def _sessions(execute: Execute, numbers: Sequence[int]) -> frozenset[str]:
    found: set[str] = set()
    for some, marks in _some(numbers):
        rows = execute(f"SELECT DISTINCT session FROM facts WHERE number IN ({marks})", some)
        found |= {session for (session,) in rows if session}
    return frozenset(found)


def _has_facts(execute: Execute, scope: int, session: str) -> bool:
    query = "SELECT 1 FROM facts WHERE scope = ? AND session = ? LIMIT 1"
    return bool(execute(query, (scope, session)))


def _ids(execute: Execute, numbers: Sequence[int]) -> frozenset[str]:
    found: set[str] = set()
    for some, marks in _some(numbers):
        rows = execute(f"SELECT id FROM facts WHERE number IN ({marks})", some)
        found |= {fact_id for (fact_id,) in rows}
    return frozenset(found)


_EVENTS = (
    "SELECT e.seq, e.id, e.scope, e.kind, e.actor, e.at, b.body FROM events e"
    " JOIN event_bodies b ON b.seq = e.seq"
)


def _events(execute: Execute, scope: int) -> list[Event]:
    """Those that still have a body, but for those that bring facts: their words are seen to."""
    rows = execute(
        f"{_EVENTS} WHERE e.scope = ? AND e.kind <> 'remembered' ORDER BY e.seq", (scope,)
    )
    return [_of_row(row) for row in rows]


def _event(execute: Execute, seq: int) -> Event:
    (row,) = execute(f"{_EVENTS} WHERE e.seq = ?", (seq,))
    return _of_row(row)


def _of_row(row: tuple[Any, ...]) -> Event:
    seq, event_id, scope, kind, actor, at, body = row
    return Event(seq, event_id, scope, kind, actor, at, json.loads(body))


def _deleted(execute: Execute, what: str, *values: Value) -> int:
    return len(execute(f"DELETE FROM {what} RETURNING 1", values))


def _some(numbers: Sequence[Any]) -> Iterator[tuple[list[Any], str]]:
    for start in range(0, len(numbers), AT_ONCE):
        some = list(numbers[start : start + AT_ONCE])
        yield some, _marks(some)


def _marks(values: Sequence[Any]) -> str:
    return ", ".join("?" * len(values))
