"""The picture of the log: what each kind of event does to the facts and their lexical index.

The same functions draw it while events come in and when it is made anew, so that both agree.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

from metamem.core.errors import DataError
from metamem.core.terms import terms
from metamem.service.calls import CALLED, draw_called
from metamem.service.designs.drawing import ASKED, EXPERIENCED, draw_asked, draw_experienced
from metamem.service.log import READ_AT_ONCE, Event, events
from metamem.service.tables import fact_number
from metamem.service.trees import BEGAN, draw_began
from metamem.store.engine import Execute, Value
from metamem.store.sql.base import insert, insert_all

# What an event of kind `remembered` says of each fact, besides its entities.
GIVEN = (
    "id",
    "type",
    "text",
    "digest",
    "author",
    "source",
    "origin",
    "trust",
    "quarantined",
    "said_at",
    "meant_from",
    "meant_to",
    "importance",
    "session",
    "position",
    "tokens",
    "pinned",
    "told_by",
)
SEARCHED = "active"  # the one lifecycle whose facts are in the indexes


def apply(execute: Execute, event: Event) -> None:
    """Bring the picture up to date with one event. Events that were erased leave nothing, but for
    the positions of experiences."""
    if event.kind == EXPERIENCED:
        draw_experienced(execute, event)
        return
    if event.body is None:
        return
    draw = _KINDS.get(event.kind)
    if draw is None:
        raise DataError(
            f"the log holds an event of an unknown kind: {event.kind}", hint="upgrade metamem"
        )
    draw(execute, event, event.body)


def redraw(execute: Execute) -> int:
    """Make all of the picture anew, inside one transaction; how many events it was made of."""
    facts = ("postings", "fact_entities", "links", "fact_versions", "sessions", "facts")
    for table in (*facts, "experiences", "moments", "calls", "trees"):
        execute(f"DELETE FROM {table}")
    count = 0
    for event in events(execute):
        apply(execute, event)
        count += 1
    execute("UPDATE scopes SET generation = generation + 1")
    return count


def post_anew(execute: Execute, scope: int) -> int:
    """Make a scope's lexical index anew, as texts are cut into terms now, inside one transaction;
    how many facts are in it."""
    execute("DELETE FROM postings WHERE scope = ?", (scope,))
    last, count = -1, 0
    while rows := execute(
        "SELECT number, text FROM facts WHERE scope = ? AND lifecycle = ? AND number > ?"
        " ORDER BY number LIMIT ?",
        (scope, SEARCHED, last, READ_AT_ONCE),
    ):
        for number, text in rows:
            counted = terms(text)
            _post(execute, scope, {number: counted})
            execute("UPDATE facts SET terms = ? WHERE number = ?", (counted.total(), number))
        last, count = rows[-1][0], count + len(rows)
    execute("UPDATE scopes SET generation = generation + 1 WHERE number = ?", (scope,))
    return count


def redraw_fact(execute: Execute, number: int, history: Sequence[Event]) -> None:
    """Make one fact anew of the events about it alone, the first of which brought it."""
    first = history[0]
    assert first.body is not None
    alone = [
        given if fact_number(first.seq, index) == number else None
        for index, given in enumerate(first.body["facts"])
    ]
    columns = "source, target, kind, weight, made_by, at"
    links = execute(f"SELECT {columns} FROM links WHERE source = ? OR target = ?", (number, number))
    remove_facts(execute, [number])
    for event in (replace(first, body={"facts": alone}), *history[1:]):
        apply(execute, event)
    for link in links:
        execute(f"INSERT INTO links ({columns}) VALUES (?, ?, ?, ?, ?, ?)", link)


def remove_facts(execute: Execute, numbers: Sequence[int]) -> None:
    """Take facts out of the picture, with all that hangs on them."""
    for number in numbers:
        ((scope,),) = execute("SELECT scope FROM facts WHERE number = ?", (number,))
        _unpost(execute, scope, number)
        execute("DELETE FROM vectors WHERE scope = ? AND fact = ?", (scope, number))
        execute("DELETE FROM links WHERE source = ? OR target = ?", (number, number))
        for table in ("fact_entities", "fact_versions"):
            execute(f"DELETE FROM {table} WHERE fact = ?", (number,))
        execute("DELETE FROM facts WHERE number = ?", (number,))


def number_of(execute: Execute, fact_id: str) -> int:
    ((number,),) = execute("SELECT number FROM facts WHERE id = ?", (fact_id,))
    return int(number)


def _remembered(execute: Execute, event: Event, body: Mapping[str, Any]) -> None:
    rows: list[dict[str, Value]] = []
    counted: dict[int, Mapping[str, int]] = {}
    names: dict[int, Sequence[str]] = {}
    for index, given in enumerate(body["facts"]):
        if given is None:  # erased: the others keep their numbers
            continue
        number = fact_number(event.seq, index)
        found = terms(given["text"])
        columns: dict[str, Value] = {"told_by": ""}  # which older events do not say
        columns |= {name: given[name] for name in GIVEN if name in given}
        columns |= {
            "number": number,
            "scope": event.scope,
            "lifecycle": SEARCHED,
            "version": 1,
            "terms": found.total(),
            "created_at": event.at,
            "changed_at": event.at,
            "changed_by": event.actor,
            "reason": "",
            "event": event.seq,
        }
        rows.append(columns)
        counted[number], names[number] = found, given["entities"]
    if rows:
        order = tuple(rows[0])
        insert_all(execute, "facts", order, [[row[name] for name in order] for row in rows])
        _post(execute, event.scope, counted)
        _name_entities(execute, event.scope, names)


def _changed(execute: Execute, event: Event, body: Mapping[str, Any]) -> None:
    """Another text, type, importance or pin; what it was stays as a version."""
    number = number_of(execute, body["fact"])
    _keep_version(execute, number)
    new: dict[str, Value] = dict(body["columns"])
    ((lifecycle,),) = execute("SELECT lifecycle FROM facts WHERE number = ?", (number,))
    if "text" in new:
        counted = terms(str(new["text"]))
        new["terms"] = counted.total()
        if lifecycle == SEARCHED:
            _unpost(execute, event.scope, number)
            _post(execute, event.scope, {number: counted})
            execute("DELETE FROM vectors WHERE scope = ? AND fact = ?", (event.scope, number))
    if "entities" in body:
        execute("DELETE FROM fact_entities WHERE fact = ?", (number,))
        _name_entities(execute, event.scope, {number: body["entities"]})
    _set(execute, event, number, new)


def _moved(execute: Execute, event: Event, body: Mapping[str, Any]) -> None:
    """Another lifecycle: what is not active is in no index, and comes back to all of them."""
    number = number_of(execute, body["fact"])
    ((before, text),) = execute("SELECT lifecycle, text FROM facts WHERE number = ?", (number,))
    _keep_version(execute, number)
    if before == SEARCHED:
        _unpost(execute, event.scope, number)
        execute("DELETE FROM vectors WHERE scope = ? AND fact = ?", (event.scope, number))
    if body["lifecycle"] == SEARCHED:
        _post(execute, event.scope, {number: terms(text)})
    _set(execute, event, number, {"lifecycle": body["lifecycle"]})


def _linked(execute: Execute, event: Event, body: Mapping[str, Any]) -> None:
    columns = {
        "source": number_of(execute, body["source"]),
        "target": number_of(execute, body["target"]),
        "kind": body["kind"],
        "weight": body["weight"],
        "made_by": event.actor,
        "at": event.at,
    }
    execute(
        "DELETE FROM links WHERE source = ? AND target = ? AND kind = ?",
        (columns["source"], columns["target"], columns["kind"]),
    )
    insert(execute, "links", columns)


def _session(execute: Execute, event: Event, body: Mapping[str, Any]) -> None:
    """A session began, or more is known of it."""
    execute("DELETE FROM sessions WHERE scope = ? AND id = ?", (event.scope, body["id"]))
    insert(execute, "sessions", {"scope": event.scope, **body})


_KINDS: Mapping[str, Callable[[Execute, Event, Mapping[str, Any]], None]] = {
    "remembered": _remembered,
    "changed": _changed,
    "moved": _moved,
    "linked": _linked,
    "session": _session,
    ASKED: draw_asked,
    CALLED: draw_called,
    BEGAN: draw_began,
}


def _post(execute: Execute, scope: int, counted: Mapping[int, Mapping[str, int]]) -> None:
    """Enter facts, by their numbers, in the lexical index, in the order in which it lies."""
    rows = [
        (scope, term, number, count)
        for number, each in counted.items()
        for term, count in each.items()
    ]
    rows.sort(key=itemgetter(1))  # facts of a term stay in the order of their numbers
    insert_all(execute, "postings", ("scope", "term", "fact", "count"), rows)


def _unpost(execute: Execute, scope: int, number: int) -> None:
    """Take a fact out of the lexical index."""
    ((text,),) = execute("SELECT text FROM facts WHERE number = ?", (number,))
    for term in terms(text):
        execute(
            "DELETE FROM postings WHERE scope = ? AND term = ? AND fact = ?", (scope, term, number)
        )


def _name_entities(execute: Execute, scope: int, names: Mapping[int, Sequence[str]]) -> None:
    rows = [(scope, name, number) for number, each in names.items() for name in each]
    insert_all(execute, "fact_entities", ("scope", "entity", "fact"), rows)


def _keep_version(execute: Execute, number: int) -> None:
    execute(
        "INSERT INTO fact_versions (fact, version, text, type, importance, lifecycle, changed_by,"
        " at, reason) SELECT number, version, text, type, importance, lifecycle, changed_by,"
        " changed_at, reason FROM facts WHERE number = ?",
        (number,),
    )


def _set(execute: Execute, event: Event, number: int, columns: Mapping[str, Value]) -> None:
    """Change a fact. Its scope's generation counts such events, one each: whoever holds facts in
    memory sees by it that some are no longer what they were (`recall.changes`)."""
    assert event.body is not None
    known: dict[str, Value] = {
        **columns,
        "changed_at": event.at,
        "changed_by": event.actor,
        "reason": event.body.get("reason", ""),
    }
    sets = ", ".join(f"{name} = ?" for name in known)
    execute(
        f"UPDATE facts SET {sets}, version = version + 1 WHERE number = ?",
        (*known.values(), number),
    )
    execute("UPDATE scopes SET generation = generation + 1 WHERE number = ?", (event.scope,))
