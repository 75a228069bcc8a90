"""Where each coding agent keeps its sessions, and how to read what is new in one."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from metamem.core.documents import read_json
from metamem.core.errors import DataError, UnknownName
from metamem.service.importing import claude, codex, gemini, opencode
from metamem.service.importing.lines import PACKED, Place, tail, whole
from metamem.service.importing.thread import Thread
from metamem.service.importing.transcript import Record, Transcript, moment
from metamem.service.writing.fields import identifier, is_hidden

HOSTS = (claude.HOST, codex.HOST, gemini.HOST, opencode.HOST)
ENDING = 200_000  # bytes at the end of a file in which its last record is looked for
PEEKED = 60  # records that are read to see whose session a file is


class Reader(Protocol):
    """Goes through the records of a file of some host."""

    thread: Thread

    def feed(self, record: Record) -> None: ...

    def state(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Source:
    """One session where its host keeps it."""

    host: str
    path: Path
    session: str = ""  # where several share a file
    folder: str = ""  # where the host said so, as hooks do

    @property
    def key(self) -> str:
        return f"{self.path}#{self.session}" if self.host == opencode.HOST else str(self.path)


@dataclass(frozen=True, slots=True)
class Peek:
    """What a look from outside tells of a source."""

    source: Source
    folder: str
    bytes: int
    first: int | None
    last: int  # when something was said in it last, or it last changed


@dataclass(frozen=True, slots=True)
class Look:
    """What is new in a source, and what the next look has to know."""

    transcript: Transcript
    state: dict[str, Any]


def known_host(host: str) -> str:
    if host not in HOSTS:
        raise UnknownName(f"no host is called {host!r}", hint=f"known: {', '.join(HOSTS)}")
    return host


def sources(host: str, environment: Mapping[str, str] = os.environ) -> Iterator[Source]:
    """All sessions that a host keeps on this machine."""
    if known_host(host) == opencode.HOST:
        file = opencode.home(environment) / opencode.FILE
        if file.is_file():
            for row in opencode.sessions(file):
                yield Source(host, file, row.id)
        return
    module = {claude.HOST: claude, codex.HOST: codex, gemini.HOST: gemini}[host]
    for path in module.files(environment):
        yield Source(host, path)


def peek(source: Source, known: Sequence[str] = ()) -> Peek:
    """Whose session a source is and from when, without reading it all."""
    if source.host == opencode.HOST:
        row = _row(source)
        return Peek(source, row.folder, 0, None, row.updated)
    about = source.path.stat()
    reader, changed = _reader(source.host, None), about.st_mtime_ns // 1_000_000
    if source.path.suffix == ".json":
        return Peek(source, gemini.folder_of(source.path, known), about.st_size, None, changed)
    for record in islice(whole(source.path).records(), PEEKED):
        reader.feed(record)
    thread = reader.thread
    folder = thread.folder or _folder(source, known)
    last = _said_last(source.path) or changed
    return Peek(source, folder, about.st_size, thread.started_at, last)


def _said_last(path: Path) -> int | None:
    """When the last record of a file was written, by what it says itself: files are copied and restored."""
    if path.suffix == PACKED:
        return None
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - ENDING))
        lines = file.read().split(b"\n")
    for line in reversed(lines):
        with suppress(ValueError):
            read = read_json(line)
            if isinstance(read, dict) and (at := moment(read.get("timestamp"))):
                return at
    return None


def look(source: Source, state: Mapping[str, Any] | None, known: Sequence[str] = ()) -> Look:
    """What is new in a source since a state."""
    if source.host == opencode.HOST:
        transcript, after = opencode.read(source.path, _row(source), state)
        return Look(transcript, after)
    if source.path.suffix == ".json":
        return _look_old(source, state, known)
    if state is not None and is_hidden(state["reader"]["thread"]["folder"]):
        state = None  # only its beginning says which folder that is
    try:
        return _look(source, state, known)
    except claude.Unknown:
        return _look(source, None, known)


def _look(source: Source, state: Mapping[str, Any] | None, known: Sequence[str]) -> Look:
    new = tail(source.path, Place.from_json(state["place"]) if state else None)
    reader = _reader(source.host, None if new.restarted or state is None else state["reader"])
    for record in new.records():
        reader.feed(record)
    thread = reader.thread
    thread.folder = thread.folder or _folder(source, known)
    thread.session = thread.session or identifier(source.path.name.split(".")[0])
    if state is None or new.restarted:
        thread.folder = source.folder or thread.folder
    after = {"place": new.place.to_json(), "reader": reader.state()}
    return Look(thread.taken(new.damaged), after)


def _look_old(source: Source, state: Mapping[str, Any] | None, known: Sequence[str]) -> Look:
    """A session in one JSON document, which is written anew whenever it changes."""
    try:
        raw = source.path.read_bytes()
    except OSError as error:
        raise DataError(f"{source.path} cannot be read: {error.strerror}") from None
    digest = blake2b(raw, digest_size=16).hexdigest()
    reader = gemini.Reader()
    if state is not None and state["digest"] == digest:
        reader.thread.resume(state["reader"]["thread"])
        if is_hidden(reader.thread.folder):
            reader.thread.folder = source.folder or _folder(source, known)
        return Look(reader.thread.taken(0), dict(state))
    try:
        read = read_json(raw)
    except ValueError:
        raise DataError(f"{source.path} is no JSON document, or is not whole") from None
    if not isinstance(read, dict):
        raise DataError(f"{source.path} is no session")
    reader.feed_old(read)
    thread = reader.thread
    thread.folder = source.folder or thread.folder or _folder(source, known)
    taken = thread.taken(0)
    if state is not None:
        before = [line for line, _ in state["reader"]["thread"]["kept"]]
        now = {line for line, _ in thread.kept}
        taken = replace(taken, rewound=tuple(line for line in before if line not in now))
    return Look(taken, {"digest": digest, "reader": reader.state()})


def _reader(host: str, state: Mapping[str, Any] | None) -> Reader:
    if host == claude.HOST:
        return claude.Reader(state)
    if host == codex.HOST:
        return codex.Reader(state)
    return gemini.Reader(state)


def _folder(source: Source, known: Sequence[str]) -> str:
    return gemini.folder_of(source.path, known) if source.host == gemini.HOST else ""


def _row(source: Source) -> opencode.SessionRow:
    for row in opencode.sessions(source.path):
        if row.id == source.session:
            return row
    raise DataError(f"opencode has no session {source.session!r}")
