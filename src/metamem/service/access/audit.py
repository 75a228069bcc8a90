"""The audit log: who did what, when, to which scope, and whether they were let. Never content.

It only grows, and the database refuses to change it. Writes enter it in their own transaction
where they can. Reads and refusals are entered by a thread in the background, in batches: a process
that dies can lose the reads of its last half second, and no more.
"""

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from metamem.core.access import Caller, Scope
from metamem.core.errors import MetamemError, UsageError
from metamem.core.secrets import redact
from metamem.service.access.keys import note_used
from metamem.service.database import Database, now_ms
from metamem.store.engine import Execute
from metamem.store.sql.base import insert

Outcome = Literal["granted", "denied", "limited", "refused", "failed"]
EVERY_SECONDS = 0.5
MOST_WAITING = 10_000  # then whoever adds another writes them
MOST_LISTED = 1000
REFUSALS_MS = 60_000
_NAMED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}")  # ids and names
UNREADABLE = "?"  # what was asked for was no id and no name: it could be anybody's words


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that somebody did, or was not let do."""

    at: int
    tenant: str
    who: str
    key: str
    verb: str
    scope: str  # several are separated by spaces; * for all that the caller may use
    target: str  # an id or a name
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Numbered:
    seq: int
    entry: Entry


def entry(caller: Caller, verb: str, scopes: Sequence[str], target: str, outcome: Outcome) -> Entry:
    """What the audit keeps of a call: names and ids, and nothing that is neither."""
    named = " ".join(map(_scope, scopes[:20])) if scopes else "*"
    shown = target if not target or _is_name(target) else UNREADABLE
    return Entry(now_ms(), caller.tenant, caller.who, caller.key, verb, named, shown, outcome)


def write(execute: Execute, added: Entry) -> None:
    """Inside the transaction of what it is about."""
    insert(execute, "audit", {name: getattr(added, name) for name in Entry.__slots__})


def read(execute: Execute, tenant: str, *, after: int = 0, limit: int = 100) -> list[Numbered]:
    """A page of a tenant's audit, oldest first."""
    if not 1 <= limit <= MOST_LISTED:
        raise UsageError(f"a page holds 1 to {MOST_LISTED} entries, not {limit}")
    rows = execute(
        "SELECT seq, at, tenant, who, key, verb, scope, target, outcome FROM audit"
        " WHERE tenant = ? AND seq > ? ORDER BY seq LIMIT ?",
        (tenant, after, limit),
    )
    return [Numbered(seq, Entry(*columns)) for seq, *columns in rows]


class Recorder:
    """Writes entries in batches, on a thread of its own."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._writing = threading.Lock()  # so that batches keep their order
        self._entries: list[Entry] = []
        self._used: dict[str, int] = {}
        self._refusals: dict[str, int] = {}
        self._woken = threading.Event()
        self._closed = False
        self._thread: threading.Thread | None = None
        self.trouble: MetamemError | None = None  # why the last batch waits still

    def add(self, added: Entry) -> None:
        with self._lock:
            self._entries.append(added)
            full = len(self._entries) >= MOST_WAITING
            self._start()
        if full:
            self.flush()

    @property
    def waiting(self) -> int:
        return len(self._entries)

    def used(self, key: str, at: int) -> None:
        with self._lock:
            self._used[key] = at
            self._start()

    def refused(self, tenant: str, who: str, key: str) -> None:
        """Somebody tried a key that does not open. Told once a minute for each: trying it again
        and again must not fill the log."""
        now = now_ms()
        with self._lock:
            last = self._refusals.get(key)
            if last is not None and now - last < REFUSALS_MS:
                return
            self._refusals[key] = now
        self.add(Entry(now, tenant, who, key, "authenticate", "*", "", "denied"))

    def flush(self) -> None:
        """Write what waits. Where that fails, it goes on waiting."""
        with self._writing:
            with self._lock:
                entries, self._entries = self._entries, []
                used, self._used = self._used, {}
            if not entries and not used:
                return
            try:
                with self._database.writing() as execute:
                    for added in entries:
                        write(execute, added)
                    for key, at in used.items():
                        note_used(execute, key, at)
            except BaseException:
                with self._lock:
                    self._entries[:0] = entries
                    self._used = used | self._used
                raise

    def close(self) -> None:
        self._closed = True
        self._woken.set()
        if self._thread is not None:
            self._thread.join()
        self.flush()

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="audit", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while not self._closed:
            self._woken.wait(EVERY_SECONDS)
            try:
                self.flush()
                self.trouble = None
            except MetamemError as error:  # the database is busy: the batch waits for the next turn
                self.trouble = error


def _is_name(text: str) -> bool:
    """A secret may look like an id."""
    return _NAMED.fullmatch(text) is not None and not redact(text).kinds


def _scope(text: str) -> str:
    try:
        scope = Scope.parse(text)
    except UsageError:
        return UNREADABLE
    return UNREADABLE if redact(scope.label).kinds else str(scope)
