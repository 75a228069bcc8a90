"""Sessions of opencode, in its SQLite file. They are read as they stand; nothing is locked or changed.

A session that was reverted keeps its messages, and names the first one that no longer counts.
Compaction is a part of that kind, followed by an answer that is marked as a summary.
"""

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metamem.core.documents import read_json
from metamem.core.errors import DataError
from metamem.service.importing.thread import Thread
from metamem.service.importing.transcript import (
    Call,
    Line,
    Transcript,
    id_of,
    mapping,
    moment,
    said,
    string,
)
from metamem.service.writing.fields import identifier

HOST = "opencode"
FILE = "opencode.db"


def home(environment: Mapping[str, str] = os.environ) -> Path:
    given = environment.get("XDG_DATA_HOME")
    return (Path(given) if given else Path.home() / ".local" / "share") / "opencode"


@dataclass(frozen=True, slots=True)
class SessionRow:
    id: str
    folder: str
    title: str
    parent: str
    revert: str  # the first message that was taken back
    updated: int


def sessions(file: Path) -> list[SessionRow]:
    with closing(_opened(file)) as database:
        rows = _rows(
            database,
            "SELECT id, directory, title, parent_id, revert, time_updated FROM session"
            " ORDER BY time_created, id",
        )
    return [
        SessionRow(
            str(one), string(folder), string(title), string(parent), _revert(revert), int(updated)
        )
        for one, folder, title, parent, revert, updated in rows
    ]


def read(
    file: Path, session: SessionRow, state: Mapping[str, Any] | None
) -> tuple[Transcript, dict[str, Any]]:
    """What is new in a session, and what the next look has to know."""
    own, parent, revert = map(identifier, (session.id, session.parent, session.revert))
    thread = Thread(HOST, own, session.folder, session.title, parent)
    since = -1
    # What was taken back and then was not comes again, so all of it is read again.
    if state is not None and state["revert"] in ("", revert):
        thread.resume_order([(str(line), bool(user)) for line, user in state["kept"]])
        since = int(state["since"])
    damaged = 0
    with closing(_opened(file)) as database:
        messages = {}
        for one, at, data in _rows(
            database,
            "SELECT id, time_created, data FROM message WHERE session_id = ?"
            " ORDER BY time_created, id",
            session.id,
        ):
            known = _document(data)
            damaged += known is None
            messages[str(one)] = (int(at), known or {})
        parts = _rows(
            database,
            "SELECT p.id, p.message_id, p.time_updated, p.data FROM part p"
            " JOIN message m ON m.id = p.message_id WHERE p.session_id = ? AND p.time_updated >= ?"
            " ORDER BY m.time_created, m.id, p.id",
            session.id,
            since,
        )
    newest = since
    for one, message, updated, data in parts:
        part = _document(data)
        if part is None:
            damaged += 1
            continue
        newest = max(newest, int(updated))
        at, about = messages.get(str(message), (None, {}))
        _part(thread, str(one), str(message), part, about, at)
    if session.revert:
        lost = {identifier(one) for one in messages if one >= session.revert}
        gone = [
            n
            for n, (line, _) in enumerate(thread.kept)
            if line.partition("/")[0] in lost or (revert == session.revert and line >= revert)
        ]
        if gone:
            thread.cut(gone[0])
    taken = thread.taken(damaged)
    kept_now = [[line, int(is_user)] for line, is_user in thread.kept]
    return taken, {"kept": kept_now, "since": newest, "revert": revert}


def _part(
    thread: Thread,
    one: str,
    message: str,
    part: Mapping[str, Any],
    about: Mapping[str, Any],
    at: int | None,
) -> None:
    kind, role = part.get("type"), about.get("role")
    agent = thread.session if thread.parent else ""
    if kind == "compaction":
        thread.compactions += 1
    elif kind == "text" and not part.get("synthetic") and not part.get("ignored"):
        if about.get("summary") is True and role == "assistant":
            return  # what is left of a conversation that was compacted
        when = moment(mapping(part.get("time")).get("start")) or at
        is_user = role == "user" and not agent
        # Ids of messages and parts grow with time, so that a line's id tells its place, too.
        text, line = said(string(part.get("text"))), f"{identifier(message)}/{identifier(one)}"
        thread.say(Line(line, "user" if is_user else "agent", text, when, agent))
    elif kind == "tool" and string(part.get("callID")):
        state = mapping(part.get("state"))
        time = mapping(state.get("time"))
        status, begun, ended = (
            state.get("status"),
            moment(time.get("start")),
            moment(time.get("end")),
        )
        failed = {"completed": False, "error": True}.get(string(status))
        took = ended - begun if ended is not None and begun is not None else None
        error = string(state.get("error"))
        code = mapping(state.get("metadata")).get("exit")
        result = None if failed is None else string(state.get("output")) or error
        thread.call(
            Call(
                id_of(part["callID"]),
                string(part.get("tool")),
                mapping(state.get("input")),
                result,
                error if failed else "",
                failed,
                begun or at,
                took,
                thread.prompt,
                identifier(message),
                agent,
                code if isinstance(code, int) else None,
            )
        )


def _opened(file: Path) -> sqlite3.Connection:
    if not file.is_file():
        raise DataError(f"there is no file {file}")
    try:
        return sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=5)
    except sqlite3.Error as error:
        raise DataError(f"opencode's database cannot be opened: {error}") from None


def _rows(database: sqlite3.Connection, query: str, *values: Any) -> Iterator[tuple[Any, ...]]:
    try:
        return iter(database.execute(query, values).fetchall())
    except sqlite3.Error as error:
        raise DataError(
            f"opencode's database cannot be read: {error}",
            hint="versions before 1.2 kept files instead of a database; those are not read",
        ) from None


def _document(data: Any) -> dict[str, Any] | None:
    try:
        read = read_json(data)
    except (TypeError, ValueError):
        return None
    return read if isinstance(read, dict) else None


def _revert(data: Any) -> str:
    return string(mapping(_document(data) or {}).get("messageID"))
