"""What earlier versions kept of hosts as it was: paths of sources, and ids that may hold a secret.

It is brought into the form of now, once for a memory. A session whose ids held one is read from its beginning
at the next look.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from metamem.core.errors import ScrubDue, UsageError
from metamem.core.secrets import redact
from metamem.service.database import Database
from metamem.service.writing.fields import hidden, identifier, is_hidden, kept_path, told
from metamem.store.engine import Execute

_SETTING = "import_sources"  # how far that is
_WILD = frozenset("*?[")
_DUE, _DONE = "to be scrubbed", "digests, of patterns, too"


def hide_sources(database: Database) -> None:
    with database.reading() as execute:
        state = _state(execute)
    if state not in (_DUE, _DONE):
        with database.writing() as execute:
            state = _state(execute)
            if state not in (_DUE, _DONE):  # no other process has done it meanwhile
                parts = (_places, _items, _sessions, _exclusions)
                secrets = [each(execute) for each in parts]
                state = _DUE if any(secrets) else _DONE
                _set(execute, state)
    if state == _DUE:
        try:
            database.scrub()  # what was there stays in the file else, and in copies of it
        except ScrubDue:
            return  # others read: the next who opens it tries again
        with database.writing() as execute:
            _set(execute, _DONE)


def _state(execute: Execute) -> str:
    rows = execute("SELECT value FROM service_settings WHERE name = ?", (_SETTING,))
    return str(rows[0][0]) if rows else ""


def _set(execute: Execute, state: str) -> None:
    execute(
        "INSERT INTO service_settings (name, value) VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (_SETTING, state),
    )


def _places(execute: Execute) -> bool:
    found = False
    rows = execute("SELECT host, source, state, session FROM import_places")
    for host, source, state, session in rows:
        if is_hidden(source):
            continue
        secret = bool(redact(state).kinds) or any(map(_hides, _strings(json.loads(state or "0"))))
        found |= secret or _tells(source) or identifier(session) != session
        execute(
            "UPDATE import_places SET source = ?, state = ?, session = ? WHERE host = ? AND source = ?",
            (hidden(source), "" if secret else state, identifier(session), host, source),
        )
    return found


def _items(execute: Execute) -> bool:
    found = False
    for source, key in execute("SELECT DISTINCT source, key FROM import_items"):
        if is_hidden(source):
            continue
        found |= _tells(source) or identifier(key) != key
        execute(
            "UPDATE OR REPLACE import_items SET source = ?, key = ? WHERE source = ? AND key = ?",
            (hidden(source), identifier(key), source, key),
        )
    return found


def _sessions(execute: Execute) -> bool:
    found = False
    for host, session in execute("SELECT host, session FROM briefed_sessions"):
        if identifier(session) != session:
            found = True
            execute(
                "UPDATE OR REPLACE briefed_sessions SET session = ? WHERE host = ? AND session = ?",
                (identifier(session), host, session),
            )
    return found


def _exclusions(execute: Execute) -> bool:
    found = False
    for (pattern,) in execute("SELECT pattern FROM import_exclusions"):
        if not _WILD.isdisjoint(pattern):
            continue  # a digest of it would leave nothing out
        kept = kept_pattern(pattern)
        if kept != pattern:
            found = True
            execute(
                "UPDATE OR REPLACE import_exclusions SET pattern = ? WHERE pattern = ?",
                (kept, pattern),
            )
    return found


def kept_pattern(pattern: str) -> str:
    """A pattern as it is kept: itself, or a digest where a secret stands in it."""
    plain = pattern.rstrip("/")
    full = str(Path(plain).expanduser()) if "/" in plain else plain
    if not is_hidden(kept_path(full)):
        return pattern
    if not _WILD.isdisjoint(plain):
        raise UsageError(
            f"{told(pattern)} cannot be kept", hint="a secret stands in it: leave that to a `*`"
        )
    return hidden(full)


def _strings(value: Any) -> Iterator[str]:
    """All texts in what is known of a session: its folder, and ids."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        yield from _strings(list(value.values()))
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)


def _hides(text: str) -> bool:
    return is_hidden(kept_path(text) if text.startswith("/") else identifier(text))


def _tells(path: Any) -> bool:
    return is_hidden(kept_path(str(path)))
