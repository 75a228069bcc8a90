"""All that is kept, as text: losslessly as JSON lines, or readably as Markdown.

JSON lines begin with a header. Then come sessions, calls of tools, the trees that sessions began
with, facts with every version of them, and links. What was exported can be read into another service, or into the same one again, which then changes nothing.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

from metamem.core.access import Caller
from metamem.core.errors import UsageError
from metamem.service import facts
from metamem.service.calls import read_calls
from metamem.service.database import Database, now_ms
from metamem.service.sight import Sight, sight
from metamem.service.trees import read_tree
from metamem.service.words import TYPES, Fact, Tree
from metamem.store.engine import Execute

FORMAT, VERSION = "metamem memory export", 1
FORMS = ("jsonl", "markdown")
FOR_PEOPLE = "<!-- metamem export --form markdown: for people; metamem import reads JSON lines -->"
PAGE = 500  # facts that are read at once
SESSION = ("id", "host", "title", "started_at", "ended_at", "outcome")
VERSION_FIELDS = (
    "version",
    "text",
    "type",
    "importance",
    "lifecycle",
    "changed_by",
    "at",
    "reason",
)


def exported(
    database: Database, caller: Caller, scopes: Sequence[str] = (), form: str = "jsonl"
) -> Iterator[str]:
    """What the caller may read of some scopes, or of all, in pieces that end with a line."""
    if form not in FORMS:
        raise UsageError(
            f"no form of an export is called {form!r}", hint=f"known: {', '.join(FORMS)}"
        )
    with database.reading() as execute:
        view = sight(execute, caller, "read", scopes)  # told at once, not with the first piece
    parts = _json_lines if form == "jsonl" else _markdown
    return parts(database, view)


# --- JSON lines ---


def _json_lines(database: Database, view: Sight) -> Iterator[str]:
    header = {
        "kind": "header",
        "format": FORMAT,
        "version": VERSION,
        "at": now_ms(),
        "scopes": [str(scope) for scope in view.scopes.values()],
    }
    yield _line(header)
    for number, scope in view.scopes.items():
        with database.reading() as execute:
            rows = execute(
                f"SELECT {', '.join(SESSION)} FROM sessions WHERE scope = ? ORDER BY id", (number,)
            )
        for row in rows:
            yield _line(
                {"kind": "session", "scope": str(scope), **dict(zip(SESSION, row, strict=True))}
            )
    for number, scope in view.scopes.items():
        for session, call in _calls(database, number):
            yield _line({"kind": "call", "scope": str(scope), "session": session, **call})
    for number, scope in view.scopes.items():
        for session, tree in _trees(database, number):
            yield _line({"kind": "tree", "scope": str(scope), "session": session, **asdict(tree)})
    for page in _pages(database, view):
        for fact, versions, _ in page:
            yield _line({"kind": "fact", **fact.to_json(), "versions": versions})
    for page in _pages(database, view):
        for fact, _, links in page:
            for link in links:
                yield _line({"kind": "link", "scope": fact.scope, "source": fact.id, **link})


def _calls(database: Database, scope: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """What agents did with their tools, session by session."""
    with database.reading() as execute:
        rows = execute("SELECT DISTINCT session FROM calls WHERE scope = ? ORDER BY 1", (scope,))
    for (session,) in rows:
        with database.reading() as execute:
            calls = read_calls(execute, scope, session)
        for call in calls.values():
            yield session, call


def _trees(database: Database, scope: int) -> Iterator[tuple[str, Tree]]:
    """The files that sessions began with."""
    with database.reading() as execute:
        rows = execute("SELECT session FROM trees WHERE scope = ? ORDER BY 1", (scope,))
    for (session,) in rows:
        with database.reading() as execute:
            tree = read_tree(execute, scope, session)
        if tree is not None:
            yield session, tree


Row = tuple[Fact, list[dict[str, Any]], list[dict[str, Any]]]


def _pages(database: Database, view: Sight) -> Iterator[list[Row]]:
    """Facts with their versions and the links that they make, in the order of their coming.

    A page is one moment of the database; no moment is held while somebody slowly reads.
    """
    after = -1
    where, values = view.within("scope")
    while True:
        with database.reading() as execute:
            rows = execute(
                f"SELECT number FROM facts WHERE {where} AND number > ? ORDER BY number LIMIT ?",
                (*values, after, PAGE),
            )
            numbers = [number for (number,) in rows]
            found = facts.by_number(execute, view, numbers)
            versions, links = _versions(execute, numbers), _links(execute, view, numbers)
            page = [(found[n], versions.get(n, []), links.get(n, [])) for n in numbers]
        if not numbers:
            return
        yield page
        after = numbers[-1]


def _versions(execute: Execute, numbers: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
    """What each fact was, from its first version to the one that it is now."""
    if not numbers:
        return {}
    marks = ", ".join("?" * len(numbers))
    rows = execute(
        "SELECT fact, version, text, type, importance, lifecycle, changed_by, at, reason"
        f" FROM fact_versions WHERE fact IN ({marks}) UNION ALL"
        " SELECT number, version, text, type, importance, lifecycle, changed_by, changed_at, reason"
        f" FROM facts WHERE number IN ({marks}) ORDER BY 1, 2",
        (*numbers, *numbers),
    )
    found: dict[int, list[dict[str, Any]]] = {}
    for number, *row in rows:
        found.setdefault(number, []).append(dict(zip(VERSION_FIELDS, row, strict=True)))
    return found


def _links(
    execute: Execute, view: Sight, numbers: Sequence[int]
) -> dict[int, list[dict[str, Any]]]:
    """What each fact says of others that may be seen as well."""
    if not numbers:
        return {}
    marks = ", ".join("?" * len(numbers))
    where, values = view.within("t.scope")
    rows = execute(
        "SELECT l.source, t.id, l.kind, l.weight, l.made_by, l.at FROM links l JOIN facts t"
        f" ON t.number = l.target WHERE l.source IN ({marks}) AND {where} ORDER BY l.source, t.number",
        (*numbers, *values),
    )
    found: dict[int, list[dict[str, Any]]] = {}
    for source, target, kind, weight, made_by, at in rows:
        link = {"target": target, "link": kind, "weight": weight, "made_by": made_by, "at": at}
        found.setdefault(source, []).append(link)
    return found


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"


# --- Markdown ---


def _markdown(database: Database, view: Sight) -> Iterator[str]:
    """Active facts by scope, type and day; then the conversations."""
    yield f"# Memory\n\n{FOR_PEOPLE}\n"
    for number, scope in view.scopes.items():
        yield f"\n## {scope}\n"
        for type_ in TYPES:
            if type_ != "turn":
                yield from _of_type(database, Sight({number: scope}), type_)
        yield from _conversations(database, Sight({number: scope}))


def _of_type(database: Database, view: Sight, type_: str) -> Iterator[str]:
    day = ""
    condition = "type = ? AND lifecycle = 'active'"
    for fact in _ordered(database, view, condition, (type_,), ("said_at", "number")):
        if not day:
            yield f"\n### {type_}\n"
        if (said := _day(fact.said_at)) != day:
            day = said
            yield f"\n#### {day}\n\n"
        notes = [fact.said_by]
        notes += ["pinned"] if fact.pinned else []
        notes += ["reads like an instruction"] if fact.quarantined else []
        yield f"- {_indented(fact.text)} ({', '.join(notes)}; `{fact.id}`)\n"


def _conversations(database: Database, view: Sight) -> Iterator[str]:
    session = None
    titles: dict[str, tuple[str, int]] = {}
    (scope,) = view.scopes
    condition = "type = 'turn' AND lifecycle = 'active'"
    for fact in _ordered(database, view, condition, (), ("session", "position", "number")):
        if session is None:
            yield "\n### conversations\n"
            with database.reading() as execute:
                for name, title, began in execute(
                    "SELECT id, title, started_at FROM sessions WHERE scope = ?", (scope,)
                ):
                    titles[name] = (title, began)
        if fact.session != session:
            session = fact.session
            title, began = titles.get(session, ("", fact.said_at))
            yield f"\n#### {_day(began)} {_heading(title or session)}\n\n"
        yield f"- **{_heading(fact.said_by)}**: {_indented(fact.text)}\n"


def _ordered(
    database: Database, view: Sight, condition: str, given: Sequence[str], order: Sequence[str]
) -> Iterator[Fact]:
    """Facts that fulfil a condition, sorted by some columns of which the last is their number."""
    where, values = view.within("scope")
    columns = ", ".join(order)
    last: tuple[Any, ...] = ()
    while True:
        further, marks = "", ", ".join("?" * len(order))
        if last:
            further = f" AND ({columns}) > ({marks})"
        with database.reading() as execute:
            rows = execute(
                f"SELECT {columns} FROM facts WHERE {where} AND {condition}{further}"
                f" ORDER BY {columns} LIMIT ?",
                (*values, *given, *last, PAGE),
            )
            found = facts.by_number(execute, view, [row[-1] for row in rows])
        for row in rows:
            if row[-1] in found:
                yield found[row[-1]]
        if len(rows) < PAGE:
            return
        last = rows[-1]


def _day(at: int) -> str:
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at)).date().isoformat()


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


def _heading(text: str) -> str:
    return " ".join(text.replace("*", "\\*").replace("#", "\\#").split())
