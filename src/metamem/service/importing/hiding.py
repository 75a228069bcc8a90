"""What earlier versions kept of hosts as it was: paths of sources, and ids that may hold a secret.

It is brought into the form of now, once for a memory. A session whose ids held one is read from its beginning
at the next look.
"""

from typing import Any

from metamem.core.secrets import redact
from metamem.service.database import Database
from metamem.service.writing.fields import hidden, identifier, is_hidden, kept_path
from metamem.store.engine import Execute

_DONE = "import_sources"  # the setting that says that it is done


def hide_sources(database: Database) -> None:
    with database.reading() as execute:
        if _is_done(execute):
            return
    with database.writing() as execute:
        if _is_done(execute):
            return
        secrets = _places(execute) | _items(execute) | _sessions(execute)
        execute("INSERT INTO service_settings (name, value) VALUES (?, 'digests')", (_DONE,))
    if secrets:
        database.scrub()  # what was there stays in the file else


def _is_done(execute: Execute) -> bool:
    return bool(execute("SELECT 1 FROM service_settings WHERE name = ?", (_DONE,)))


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
