"""What was exported as JSON lines, read into a scope: every version, link and session of it, once.

The history is told again as events of their own times. A file may come from anybody: its texts go
through the same cleaning as new ones, and nothing of it is trusted more than its source allows.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import islice
from typing import Any

from metamem.core.access import Caller, Scope
from metamem.core.errors import DataError, UsageError
from metamem.core.ids import content_id
from metamem.core.tokens import count_tokens
from metamem.service import log, picture
from metamem.service.calls import CALLED, read_call
from metamem.service.database import Database
from metamem.service.export import FORMAT, SESSION, VERSION, VERSION_FIELDS
from metamem.service.sight import sight
from metamem.service.trees import BEGAN, read_tree
from metamem.service.words import LIFECYCLES, TRUST, Fact, LinkKind, ToolCall, Tree, known_type
from metamem.service.writing.calls import prepare_call
from metamem.service.writing.entities import LONGEST, MOST
from metamem.service.writing.fields import (
    NAME,
    PLACE,
    REASON,
    TITLE,
    Fields,
    identifier,
    known_source,
    moment,
    share,
)
from metamem.service.writing.prepare import digest
from metamem.service.writing.speaking import may_pin, told_by, word
from metamem.service.writing.speaking import title as shown
from metamem.service.writing.trees import prepare_tree
from metamem.service.writing.trust import is_quarantined
from metamem.service.writing.turns import turn_digest
from metamem.service.writing.writer import CheckQuota, no_quota
from metamem.store.engine import Execute

AT_ONCE = 200  # lines of one transaction
_KINDS = ("header", "session", "call", "tree", "fact", "link")
_LINKS = frozenset(LinkKind.__args__)  # type: ignore[attr-defined]


@dataclass(slots=True)
class ReadIn:
    """What became of the lines of an export."""

    stored: int = 0
    known: int = 0
    links: int = 0
    sessions: int = 0
    calls: int = 0
    trees: int = 0
    left_out: int = 0  # links to facts that are not there


def read_export(
    database: Database,
    caller: Caller,
    scope: str,
    lines: Iterable[str],
    check_quota: CheckQuota | None = None,
) -> ReadIn:
    """Read an export into a scope. What it holds already stays as it is.

    All facts of the file come into the one scope, whatever scopes they had.
    """
    done = ReadIn()
    numbered = ((n, line) for n, line in enumerate(lines, start=1) if line.strip())
    parsed = _parsed(numbered, caller)
    _check_header(next(parsed, None))
    while several := list(islice(parsed, AT_ONCE)):
        with database.writing() as execute:
            view = sight(execute, caller, "write", [scope])
            (number,) = view.scopes
            database.alone(execute, f"scope {number}")
            reader = _Reader(execute, number, scope, caller.who, done)
            new = [value for kind, value in several if kind == "fact" and reader.is_new(value)]
            if new:
                (check_quota or no_quota)(execute, caller, number, len(new))
            for kind, value in several:
                reader.read(kind, value)
    return done


def by_scope(lines: Iterable[str]) -> dict[str, list[str]]:
    """The lines of an export for each of its scopes, each with the header, so that every scope can
    be read in by itself."""
    given = [line for line in lines if line.strip()]
    _check_header(next(_parsed(enumerate(given[:1], start=1), None), None))
    found: dict[str, list[str]] = {}
    for number, line in enumerate(given[1:], start=2):
        try:
            scope = str(Scope.parse(json.loads(line)["scope"]))
        except json.JSONDecodeError as error:
            raise DataError(
                f"line {number} is no JSON: the file may have been cut short",
                hint="nothing of it was read",
            ) from error
        except (ValueError, KeyError, TypeError, AttributeError, UsageError) as error:
            raise DataError(
                f"line {number} is not of an export of metamem: it names no scope",
                hint="`metamem export` makes one; --scope reads all of a file into one scope",
            ) from error
        found.setdefault(scope, [given[0]]).append(line)
    return found


def _parsed(
    lines: Iterable[tuple[int, str]], caller: Caller | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """`caller` reads them in; None where only the header is looked at."""
    for number, line in lines:
        try:
            value = json.loads(line)
            kind = value["kind"]
            if kind not in _KINDS:
                raise ValueError("of an unknown kind")
            yield kind, _checked(kind, value, caller)
        except (ValueError, KeyError, TypeError, AttributeError, UsageError) as error:
            why = error.message if isinstance(error, UsageError) else _why(error)
            raise DataError(
                f"line {number} is not of an export of metamem: {why}",
                hint="nothing after it was read",
            ) from error


def _why(error: Exception) -> str:
    """What is wrong with a line, in words of the file and not of the program."""
    if isinstance(error, json.JSONDecodeError):
        return "it is not JSON"
    if isinstance(error, KeyError):
        return f"there is no {error.args[0]!r} in it"
    return str(error) if type(error) is ValueError else "something in it is not what it has to be"


def _check_header(first: tuple[str, dict[str, Any]] | None) -> None:
    if first is None or first[0] != "header" or first[1].get("format") != FORMAT:
        raise DataError("that is no export of metamem", hint="`metamem export` makes one")
    if first[1].get("version") != VERSION:
        raise DataError(
            f"the export has version {first[1].get('version')}, and this metamem reads {VERSION}",
            hint="upgrade metamem",
        )


# --- lines ---


def _checked(kind: str, value: Mapping[str, Any], caller: Caller | None) -> dict[str, Any]:
    """A line with fields that can be kept; errors where it has others."""
    if kind == "header" or caller is None:
        return dict(value)
    if kind == "session":
        return _session(value, caller)
    if kind == "call":
        return _call(value)
    if kind == "tree":
        return _tree(value)
    return _fact(value, caller) if kind == "fact" else _link(value, caller)


def _session(value: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
    clean = Fields()
    title = clean.line(value["title"], TITLE)
    session = {
        "id": identifier(value["id"]),
        "host": clean.line(value["host"], NAME) if shown(caller, value["host"]) else "",
        "title": title if shown(caller, value["title"]) else "",
        "started_at": _time(value["started_at"]),
        "ended_at": moment(value["ended_at"], "ended_at"),
        "outcome": clean.line(value["outcome"], TITLE) if shown(caller, value["outcome"]) else "",
    }
    assert tuple(session) == SESSION
    return session


def _call(value: Mapping[str, Any]) -> dict[str, Any]:
    given = ToolCall(**{field.name: value[field.name] for field in fields(ToolCall)})
    call = prepare_call(given)
    return {
        "session": identifier(value["session"]),
        "call": {**call, "redacted": call["redacted"] or bool(value["redacted"])},
        "rewound": bool(value["rewound"]),
    }


def _tree(value: Mapping[str, Any]) -> dict[str, Any]:
    given = Tree(**{field.name: value[field.name] for field in fields(Tree)})
    return {"session": identifier(value["session"]), "tree": prepare_tree(given)}


def _link(value: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
    if value["link"] not in _LINKS:
        raise ValueError("unknown link")
    return {
        "source": str(value["source"]),
        "target": str(value["target"]),
        "kind": value["link"],
        "weight": share(value["weight"], "weight"),
        "made_by": _who(value["made_by"], caller),
        "at": _time(value["at"]),
    }


def _fact(value: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
    clean = Fields()
    names = {field.name for field in fields(Fact)} - {"told_by"}  # which older ones have not
    fact = {name: value[name] for name in names}
    if value["lifecycle"] not in LIFECYCLES or not value["versions"]:
        raise ValueError("unknown lifecycle")
    fact["id"] = clean.line(value["id"], NAME)
    fact["author"] = clean.line(value["author"], NAME)
    fact["origin"] = clean.line(value["origin"], PLACE)
    fact["session"] = identifier(value["session"])
    fact["entities"] = [name.lower() for name in clean.lines(value["entities"], LONGEST)][:MOST]
    fact["source"] = word(caller, known_source(value["source"]))
    fact["trust"] = min(int(value["trust"]), TRUST[fact["source"]])
    fact["told_by"] = told_by(caller, fact["author"])
    if caller.kind == "owner":
        fact["told_by"] = clean.line(value.get("told_by", ""), NAME)
    others = (value["author"], value["origin"], *value["entities"])
    # What is shown is the last version, whatever the line says beside it.
    quarantined = any(
        is_quarantined(fact["trust"], known_type(each["type"]), each["text"], others)
        for each in (value, value["versions"][-1])
    )
    fact["quarantined"] = bool(value["quarantined"]) or quarantined
    texts = (value["text"], value["versions"][-1]["text"], *others)
    fact["pinned"] = bool(value["pinned"]) and may_pin(caller, fact["trust"], texts)
    fact["position"] = int(value["position"])
    for name in ("said_at", "created_at"):
        fact[name] = _time(value[name])
    for name in ("meant_from", "meant_to"):
        fact[name] = moment(value[name], name)
    fact["versions"] = [_version(version, clean, caller) for version in value["versions"]]
    if fact["versions"][0]["lifecycle"] != "active" or any(not v["text"] for v in fact["versions"]):
        raise ValueError("a fact begins active and says something")
    return fact


def _version(value: Mapping[str, Any], clean: Fields, caller: Caller) -> dict[str, Any]:
    version = {name: value[name] for name in VERSION_FIELDS}
    if value["lifecycle"] not in LIFECYCLES:
        raise ValueError("unknown lifecycle")
    return version | {
        "text": clean.text(value["text"]),
        "type": known_type(value["type"]),
        "importance": share(value["importance"], "importance"),
        "changed_by": _who(value["changed_by"], caller),
        "at": _time(value["at"]),
        "reason": clean.line(value["reason"], REASON),
    }


def _who(given: Any, caller: Caller) -> str:
    """Who did something, as the line says; an agent's key does it all itself."""
    return caller.who if caller.kind == "agent" else Fields().line(given, NAME)


def _time(value: Any) -> int:
    found = moment(value, "a time")
    if found is None:
        raise ValueError("no time")
    return found


# --- into the database ---


class _Reader:
    """Lines on their way into one scope, in one transaction."""

    def __init__(self, execute: Execute, scope: int, name: str, who: str, done: ReadIn) -> None:
        self._execute, self._scope, self._name = execute, scope, name
        self._who, self._done = who, done

    def read(self, kind: str, value: dict[str, Any]) -> None:
        if kind == "session":
            self._read_session(value)
        elif kind == "call":
            self._read_call(value)
        elif kind == "tree":
            self._read_tree(value)
        elif kind == "fact":
            self._read_fact(value)
        elif kind == "link":
            self._read_link(value)

    def is_new(self, fact: Mapping[str, Any]) -> bool:
        return self._there(fact["id"]) is None

    def _read_session(self, session: dict[str, Any]) -> None:
        rows = self._execute(
            f"SELECT {', '.join(SESSION)} FROM sessions WHERE scope = ? AND id = ?",
            (self._scope, session["id"]),
        )
        if not rows:
            self._apply("session", session, self._who, 0)
            self._done.sessions += 1

    def _read_call(self, value: dict[str, Any]) -> None:
        session, call = value["session"], value["call"]
        if read_call(self._execute, self._scope, session, call["id"]) is not None:
            return
        body = {"session": session, "calls": [call], "rewound": []}
        self._apply(CALLED, body, self._who, 0)
        if value["rewound"]:
            marks = {"session": session, "calls": [], "rewound": [call["prompt"]]}
            self._apply(CALLED, marks, self._who, 0)
        self._done.calls += 1

    def _read_tree(self, value: dict[str, Any]) -> None:
        if read_tree(self._execute, self._scope, value["session"]) is None:
            self._apply(BEGAN, value, self._who, 0)
            self._done.trees += 1

    def _read_fact(self, fact: dict[str, Any]) -> None:
        if self._there(fact["id"]) is not None:
            self._done.known += 1
            return
        versions = fact["versions"]
        first = versions[0]
        taken = self._execute("SELECT 1 FROM facts WHERE id = ?", (fact["id"],))
        identifier = self._derived(fact["id"]) if taken else fact["id"]
        body = {name: fact[name] for name in picture.GIVEN if name in fact}
        body |= self._content(fact, first)
        body |= {"id": identifier, "entities": sorted(set(fact["entities"]))}
        self._apply("remembered", {"facts": [body]}, first["changed_by"], fact["created_at"])
        before = first
        for version in versions[1:]:
            self._tell(identifier, fact, before, version)
            before = version
        self._done.stored += 1

    def _tell(
        self, identifier: str, fact: dict[str, Any], before: dict[str, Any], now: dict[str, Any]
    ) -> None:
        """The change from one version to the next, as it happened."""
        if now["lifecycle"] != before["lifecycle"]:
            body = {"fact": identifier, "lifecycle": now["lifecycle"], "reason": now["reason"]}
            self._apply("moved", body, now["changed_by"], now["at"])
            return
        columns = self._content(fact, now)
        body = {"fact": identifier, "columns": columns, "reason": now["reason"]}
        self._apply("changed", body, now["changed_by"], now["at"])

    def _content(self, fact: Mapping[str, Any], version: Mapping[str, Any]) -> dict[str, Any]:
        text = version["text"]
        if version["type"] == "turn":
            made = turn_digest(fact["session"], fact["author"], text)
        else:
            made = digest(text)
        content = {name: version[name] for name in ("text", "type", "importance")}
        return content | {"digest": made, "tokens": count_tokens(text)}

    def _read_link(self, link: dict[str, Any]) -> None:
        source, target = self._there(link["source"]), self._there(link["target"])
        if source is None or target is None:
            self._done.left_out += 1
            return
        rows = self._execute(
            "SELECT 1 FROM links l JOIN facts s ON s.number = l.source JOIN facts t"
            " ON t.number = l.target WHERE s.id = ? AND t.id = ? AND l.kind = ?",
            (source, target, link["kind"]),
        )
        if rows:
            return
        body = {"source": source, "target": target, "kind": link["kind"], "weight": link["weight"]}
        self._apply("linked", body, link["made_by"], link["at"])
        self._done.links += 1

    def _there(self, fact: str) -> str | None:
        """The id under which a fact of the export is in this scope, if it is."""
        rows = self._execute(
            "SELECT id FROM facts WHERE id IN (?, ?) AND scope = ?",
            (fact, self._derived(fact), self._scope),
        )
        return str(rows[0][0]) if rows else None

    def _derived(self, fact: str) -> str:
        """Another id for a fact whose own is taken by another scope of the same database."""
        return f"f{content_id('copy', self._name, fact)[:27]}"

    def _apply(self, kind: str, body: Mapping[str, Any], actor: str, at: int) -> None:
        event = log.append(self._execute, self._scope, kind, actor or self._who, body, at=at)
        picture.apply(self._execute, event)
