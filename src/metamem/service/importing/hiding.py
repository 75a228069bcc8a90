"""What earlier versions kept of hosts as it was: paths of sources, and ids that may hold a secret.

It is brought into the form of now, once for a memory. A session whose ids held one is read from its beginning
at the next look.
"""

from typing import Any

from metamem.core.errors import ScrubDue
from metamem.core.secrets import redact
from metamem.service.database import Database
from metamem.service.writing.fields import hidden, identifier, is_hidden, kept_path
from metamem.store.engine import Execute

_SETTING = "import_sources"  # how far that is
_DUE, _DONE = "to be scrubbed", "digests"


def hide_sources(database: Database) -> None:
    with database.reading() as execute:
        state = _state(execute)
    if state == "":
        with database.writing() as execute:
            state = _state(execute)
            if state == "":  # no other process has done it meanwhile
                secrets = _places(execute) | _items(execute) | _sessions(execute)
                state = _DUE if secrets else _DONE
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
        told = bool(redact(state).kinds)
        found |= told or _tells(source) or identifier(session) != session
        execute(
            "UPDATE import_places SET source = ?, state = ?, session = ? WHERE host = ? AND source = ?",
            (hidden(source), "" if told else state, identifier(session), host, source),
        )
    return found


def _items(execute: Execute) -> bool:
    found = False
    for source, key in execute("SELECT DISTINCT source, key FROM import_items"):
        if is_hidden(source):
            continue
        found |= _tells(source) or identifier(key) != key
        execute(
            "UPDATE import_items SET source = ?, key = ? WHERE source = ? AND key = ?",
            (hidden(source), identifier(key), source, key),
        )
    return found


def _sessions(execute: Execute) -> bool:
    found = False
    for host, session in execute("SELECT host, session FROM briefed_sessions"):
        if identifier(session) != session:
            found = True
            execute(
                "UPDATE briefed_sessions SET session = ? WHERE host = ? AND session = ?",
                (identifier(session), host, session),
            )
    return found


def _tells(path: Any) -> bool:
    return is_hidden(kept_path(str(path)))
