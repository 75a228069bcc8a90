"""How far each source was read, kept beside the facts, so that a backup has both of one time.

What a host says may hold a secret anywhere, in the name of a folder, too. So sources are known by digests
of their paths, and ids and folders are kept as `identifier` and `kept_path` give them.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from metamem.core.errors import Busy
from metamem.service.database import Database, new_id, now_ms
from metamem.service.importing.hiding import hide_sources
from metamem.service.writing.fields import hidden, is_hidden
from metamem.store.engine import Execute

ERASED = "erased"  # in a state: ids of lines that were kept and then erased
LEASE_MS = 60_000  # after which nobody waits for a reader; for one that died, nobody does at all
_READING: set[str] = set()  # who reads in this process: a full disk keeps others from letting go


@dataclass(frozen=True, slots=True)
class Item:
    """What one piece of a note or an export became."""

    digest: str
    fact: str
    own: bool  # it was not there before


class Places:
    def __init__(self, database: Database) -> None:
        self._database = database
        hide_sources(database)

    @contextmanager
    def reading(self, host: str, source: str) -> Iterator[dict[str, Any] | None]:
        """The state of a source, while nobody else reads it. `Busy` where somebody does."""
        holder, source = f"{os.getpid()}/{new_id('r')}", hidden(source)
        _READING.add(holder)
        try:
            with self._held(host, source, holder) as state:
                yield state
        finally:
            _READING.discard(holder)

    @contextmanager
    def _held(self, host: str, source: str, holder: str) -> Iterator[dict[str, Any] | None]:
        now = now_ms()
        with self._database.writing() as execute:
            execute(
                "INSERT INTO import_places (host, source, state, session, scope, at, held_by,"
                " held_until) VALUES (?, ?, '', '', '', 0, '', 0)"
                " ON CONFLICT (host, source) DO NOTHING",
                (host, source),
            )
            ((state, held_by, held_until),) = execute(
                "SELECT state, held_by, held_until FROM import_places"
                " WHERE host = ? AND source = ?",
                (host, source),
            )
            if held_until > now and _lives(held_by):
                raise Busy("another process reads it at the moment")
            execute(
                "UPDATE import_places SET held_by = ?, held_until = ?"
                " WHERE host = ? AND source = ?",
                (holder, now + LEASE_MS, host, source),
            )
        try:
            yield json.loads(state) if state else None
        finally:
            with self._database.writing() as execute:
                execute(
                    "UPDATE import_places SET held_by = '', held_until = 0"
                    " WHERE host = ? AND source = ? AND held_by = ?",
                    (host, source, holder),
                )

    def move(self, host: str, source: str, state: dict[str, Any], session: str, scope: str) -> None:
        """All that was read is kept: the next look begins here. What is marked as erased stays so, also what
        was while this look went on."""
        with self._database.writing() as execute:
            key = (host, hidden(source))
            rows = execute("SELECT state FROM import_places WHERE host = ? AND source = ?", key)
            before = json.loads(rows[0][0]) if rows and rows[0][0] else {}
            if gone := {*state.get(ERASED, ()), *before.get(ERASED, ())}:
                state = {**state, ERASED: sorted(gone)}
            execute(
                "UPDATE import_places SET state = ?, session = ?, scope = ?, at = ?"
                " WHERE host = ? AND source = ?",
                (json.dumps(state), session, scope, now_ms(), *key),
            )

    def scope(self, host: str, source: str) -> str:
        """Where a source was kept; empty where nothing of it was."""
        with self._database.reading() as execute:
            rows = execute(
                "SELECT scope FROM import_places WHERE host = ? AND source = ?",
                (host, hidden(source)),
            )
        return str(rows[0][0]) if rows else ""

    def folders(self) -> list[str]:
        """Folders that sessions were in, but for those whose names hold a secret."""
        with self._database.reading() as execute:
            rows = execute("SELECT state FROM import_places WHERE state <> ''")
        found = {
            json.loads(state).get("reader", {}).get("thread", {}).get("folder") for (state,) in rows
        }
        return sorted(folder for folder in found if folder and not is_hidden(folder))

    # --- pieces of notes ---------------------------------------------------------------------

    def items(self, source: str, scope: str) -> dict[str, Item]:
        with self._database.reading() as execute:
            rows = execute(
                "SELECT key, digest, fact, own FROM import_items WHERE source = ? AND scope = ?",
                (hidden(source), scope),
            )
        return {str(key): Item(digest, fact, bool(own)) for key, digest, fact, own in rows}

    def set_item(self, source: str, scope: str, key: str, item: Item) -> None:
        with self._database.writing() as execute:
            execute(
                "INSERT INTO import_items (source, scope, key, digest, fact, own, at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (source, scope, key) DO UPDATE SET"
                " digest = excluded.digest, fact = excluded.fact, own = excluded.own,"
                " at = excluded.at",
                (hidden(source), scope, key, item.digest, item.fact, int(item.own), now_ms()),
            )

    def drop_item(self, source: str, scope: str, key: str) -> None:
        with self._database.writing() as execute:
            execute(
                "DELETE FROM import_items WHERE source = ? AND scope = ? AND key = ?",
                (hidden(source), scope, key),
            )

    # --- what is left out --------------------------------------------------------------------

    def exclude(self, patterns: Sequence[str]) -> None:
        """Remember what is never to be read; patterns as `kept_pattern` gives them."""
        with self._database.writing() as execute:
            for pattern in patterns:
                execute(
                    "INSERT INTO import_exclusions (pattern, at) VALUES (?, ?)"
                    " ON CONFLICT (pattern) DO NOTHING",
                    (pattern, now_ms()),
                )

    def include(self, pattern: str) -> bool:
        with self._database.writing() as execute:
            gone = execute(
                "DELETE FROM import_exclusions WHERE pattern = ? RETURNING 1", (pattern,)
            )
        return bool(gone)

    def exclusions(self) -> list[str]:
        with self._database.reading() as execute:
            rows = execute("SELECT pattern FROM import_exclusions ORDER BY pattern")
        return [str(pattern) for (pattern,) in rows]

    # --- briefings ---------------------------------------------------------------------------

    def briefed(self, host: str, session: str) -> bool:
        """Whether a session was given a briefing, or was kept before: then it needs none."""
        with self._database.reading() as execute:
            return bool(
                execute(
                    "SELECT 1 FROM briefed_sessions WHERE host = ? AND session = ? UNION"
                    " SELECT 1 FROM import_places WHERE host = ? AND session = ?",
                    (host, session, host, session),
                )
            )

    def note_briefed(self, host: str, session: str) -> None:
        with self._database.writing() as execute:
            execute(
                "INSERT INTO briefed_sessions (host, session, at) VALUES (?, ?, ?)"
                " ON CONFLICT (host, session) DO UPDATE SET at = excluded.at",
                (host, session, now_ms()),
            )


def _lives(holder: str) -> bool:
    """Whether the process that holds something is still there, and at it. All of them are on this
    machine: they read its files."""
    try:
        process = int(holder.partition("/")[0])
        if process == os.getpid():
            return holder in _READING
        os.kill(process, 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:
        return True
    try:
        # One that has ended is listed until whoever started it has asked how.
        about = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return True  # systems that do not tell
    return about.rpartition(")")[2].split()[0] not in ("Z", "X")


def _mark_erased(execute: Execute, scope: int) -> None:
    rows = execute(
        "SELECT p.host, p.source, p.state FROM import_places p JOIN scopes s"
        " ON p.scope = s.tenant || '/' || s.kind || '/' || s.name OR (p.scope = '' AND EXISTS"
        " (SELECT 1 FROM sessions t WHERE t.scope = s.number AND t.id = p.session))"  # left out since then
        " WHERE s.number = ? AND p.state <> ''",
        (scope,),
    )
    for host, source, text in rows:
        state = json.loads(text)
        state[ERASED] = sorted({*state.get(ERASED, ()), *standing(state)})
        execute(
            "UPDATE import_places SET state = ? WHERE host = ? AND source = ?",
            (json.dumps(state), host, source),
        )


def standing(state: Mapping[str, Any]) -> list[str]:
    """The ids of all lines of a session that stand after a look, also of those that were read before."""
    kept = state["reader"]["thread"]["kept"] if "reader" in state else state["kept"]
    return [str(line) for line, _ in kept]


def excluded(folder: str, patterns: Sequence[str]) -> bool:
    """Whether a folder, or one that it is in, is left out. Patterns are paths or have wildcards;
    one without a slash means a folder's own name."""
    if not folder:
        return False
    path = Path(folder)
    for each in (path, *path.parents):
        for pattern in patterns:
            if is_hidden(pattern):
                if pattern in (hidden(str(each)), hidden(each.name)):
                    return True
                continue
            plain = pattern.rstrip("/")
            name = str(each) if "/" in plain else each.name
            if plain and fnmatchcase(
                name, str(Path(plain).expanduser()) if "/" in plain else plain
            ):
                return True
    return False


def erase_items(execute: Execute, scope: int, person: str) -> dict[str, int]:
    """What is known of pieces of an erased scope: digests of texts. Of a person's they stay, so that
    reading their source again does not bring back what was erased. Where sessions of the scope were read,
    the ids of their lines stay, so that these do not come back with the next hook, whatever it makes of them."""
    if person:
        return {}
    _mark_erased(execute, scope)
    gone = execute(
        "DELETE FROM import_items WHERE scope = (SELECT tenant || '/' || kind || '/' || name"
        " FROM scopes WHERE number = ?) RETURNING 1",
        (scope,),
    )
    return {"import_items": len(gone)}
