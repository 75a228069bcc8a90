"""What was shown to whom, and whether it was of use.

Recording never makes a recall wait: entries go to a queue of bounded length, and a thread writes
them in batches. Where the queue is full its oldest entries are dropped, and counted. Being shown is
no evidence of anything; only feedback is. Whoever gives it again changes their mind: the latest
word of each person on each fact of a recall counts.
"""

import json
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Condition, Lock, Thread
from typing import Any

from metamem.core.access import Caller
from metamem.core.errors import StoreError, UnknownName, UsageError
from metamem.core.ids import canonical_json
from metamem.service import facts
from metamem.service.database import Database, now_ms
from metamem.service.sight import Sight, sight
from metamem.service.words import VERDICTS
from metamem.service.writing.fields import told
from metamem.store.engine import Execute
from metamem.store.sql.base import insert

QUEUE = 2000  # recalls that wait to be written
SOON = 0.2  # seconds in which further recalls join a batch


@dataclass(frozen=True, slots=True)
class ShownItem:
    """A fact of an answer. `propensity` is how likely it was to be shown: 1, as nothing is chosen
    by chance yet."""

    fact: int
    rank: int
    score: float
    why: Mapping[str, Any]
    shown: bool = True
    propensity: float = 1.0


@dataclass(frozen=True, slots=True)
class Shown:
    """One answer, as it is kept."""

    id: str
    tenant: str
    who: str
    at: int
    kind: str  # recall or briefing
    query: str
    settings: Mapping[str, Any]
    scopes: tuple[int, ...]
    items: tuple[ShownItem, ...]


class Recorder:
    """Keeps what was shown, behind the back of whoever asked."""

    def __init__(self, database: Database, most: int = QUEUE) -> None:
        self._database = database
        self._most = most
        self._queue: deque[Shown] = deque()
        self._news = Condition()
        self._writing = Lock()
        self._thread: Thread | None = None
        self._closed = False
        self.dropped = 0
        self.recorded = 0

    def record(self, shown: Shown) -> None:
        with self._news:
            if len(self._queue) >= self._most:
                self._queue.popleft()
                self.dropped += 1
            self._queue.append(shown)
            if self._thread is None and not self._closed:
                self._thread = Thread(target=self._work, name="metamem-recorder", daemon=True)
                self._thread.start()
            self._news.notify_all()

    def flush(self) -> None:
        """Write all that waits, now."""
        with self._writing:
            with self._news:
                batch = list(self._queue)
                self._queue.clear()
            if not batch:
                return
            try:
                with self._database.writing() as execute:
                    for shown in batch:
                        _enter(execute, shown)
            except BaseException:
                self._put_back(batch)
                raise
            self.recorded += len(batch)

    def close(self) -> None:
        with self._news:
            self._closed = True
            self._news.notify_all()
        if self._thread is not None:
            self._thread.join()
        self.flush()

    def _put_back(self, batch: list[Shown]) -> None:
        with self._news:
            self._queue.extendleft(reversed(batch))
            while len(self._queue) > self._most:
                self._queue.popleft()
                self.dropped += 1

    def _work(self) -> None:
        while True:
            with self._news:
                while not self._queue and not self._closed:
                    self._news.wait()
                if not self._closed:
                    self._news.wait_for(lambda: self._closed, SOON)
                if self._closed:
                    return
            try:
                self.flush()
            except StoreError:  # a writer that is held for long: they wait, as far as there is room
                continue


def give_feedback(
    execute: Execute, caller: Caller, recall: str, fact: str, verdict: str, note: str
) -> None:
    """Enter whether a fact that a recall showed was of use. A fact is named by its id, or its end or start."""
    if verdict not in VERDICTS:
        raise UsageError(
            f"no verdict is called {told(verdict)}", hint=f"known: {', '.join(VERDICTS)}"
        )
    view = sight(execute, caller, "read")
    _check_seen(execute, view, caller, recall)
    number = _shown_fact(execute, view, recall, fact)
    execute(
        "INSERT INTO feedback (recall, fact, verdict, given_by, at, note) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (recall, fact, given_by) DO UPDATE SET verdict = excluded.verdict,"
        " at = excluded.at, note = excluded.note",
        (recall, number, verdict, caller.who, now_ms(), note),
    )


def why_recall(execute: Execute, caller: Caller, recall: str) -> dict[str, Any]:
    """A recall with the terms of each score, for whoever asked, or manages one of its scopes: others
    are not told what somebody asked. Facts and scopes that the caller may not see are not in it."""
    view = sight(execute, caller, "read")
    who, at, kind, query, settings = _told_recall(execute, view, caller, recall)
    rows = execute(
        "SELECT fact, rank, score, propensity, shown, why FROM recall_items WHERE recall = ?"
        " ORDER BY rank",
        (recall,),
    )
    known = facts.by_number(execute, view, [row[0] for row in rows])
    verdicts: dict[int, dict[str, str]] = {}
    for number, given_by, verdict in execute(
        "SELECT fact, given_by, verdict FROM feedback WHERE recall = ? ORDER BY seq", (recall,)
    ):
        verdicts.setdefault(number, {})[given_by] = verdict
    return {
        "recall": recall,
        "kind": kind,
        "who": who,
        "at": at,
        "query": query,
        "settings": _seen_settings(json.loads(settings), view),
        "items": [
            {
                "fact": known[number].id,
                "text": known[number].text,
                "lifecycle": known[number].lifecycle,
                "rank": rank,
                "score": score,
                "propensity": propensity,
                "shown": bool(shown),
                "why": json.loads(why),
                "feedback": verdicts.get(number, {}),
            }
            for number, rank, score, propensity, shown, why in rows
            if number in known
        ],
    }


def why_fact(execute: Execute, caller: Caller, name: str) -> dict[str, Any]:
    """Where a fact comes from, what it was, what it hangs together with, and what came of it."""
    view = sight(execute, caller, "read")
    try:
        number, fact = facts.by_id(execute, view, name)
    except UnknownName:
        raise UnknownName(
            f"there is no recall, briefing or fact {told(name)}",
            hint="the id of an answer is part of it; `metamem list` shows facts",
        ) from None
    return {
        "fact": fact.to_json(),
        "event": _source(execute, number),
        "versions": [
            {
                "version": each.version,
                "lifecycle": each.lifecycle,
                "changed_by": each.changed_by,
                "at": each.at,
                "reason": each.reason,
                "text": each.text,
            }
            for each in facts.history(execute, view, fact.id)
        ],
        "links": facts.linked(execute, view, fact.id),
        "use": _use(execute, number),
    }


def _enter(execute: Execute, shown: Shown) -> None:
    """What was erased since is not written: nothing of it may come back."""
    scopes = _those(execute, "scopes WHERE erased_at IS NULL AND", shown.scopes)
    if not scopes:
        return
    there = _those(execute, "facts WHERE", [item.fact for item in shown.items])
    insert(
        execute,
        "recalls",
        {
            "id": shown.id,
            "tenant": shown.tenant,
            "who": shown.who,
            "at": shown.at,
            "kind": shown.kind,
            "query": shown.query,
            "settings": canonical_json(shown.settings),
        },
    )
    for scope in scopes:
        insert(execute, "recall_scopes", {"recall": shown.id, "scope": scope})
    for item in shown.items:
        if item.fact not in there:
            continue
        insert(
            execute,
            "recall_items",
            {
                "recall": shown.id,
                "fact": item.fact,
                "rank": item.rank,
                "score": item.score,
                "propensity": item.propensity,
                "shown": item.shown,
                "why": canonical_json(item.why),
            },
        )


def _those(execute: Execute, source: str, numbers: Sequence[int]) -> list[int]:
    marks = ", ".join("?" * len(numbers))
    rows = execute(f"SELECT number FROM {source} number IN ({marks})", numbers) if numbers else []
    return [number for (number,) in rows]


_Row = tuple[str, int, str, str, str]  # who, at, kind, query, settings


def _recall(execute: Execute, caller: Caller, recall: str) -> tuple[_Row | None, set[int]]:
    """A recall of the caller's tenant, and the scopes in which it looked."""
    rows = execute(
        "SELECT who, at, kind, query, settings FROM recalls WHERE id = ? AND tenant = ?",
        (recall, caller.tenant),
    )
    scopes = execute("SELECT scope FROM recall_scopes WHERE recall = ?", (recall,))
    found = [(who, at, kind, query, settings) for who, at, kind, query, settings in rows]
    return (found[0] if found else None), {number for (number,) in scopes}


def _check_seen(execute: Execute, view: Sight, caller: Caller, recall: str) -> None:
    """That it is a recall that the caller made, or one of scopes that the caller may all read."""
    row, scopes = _recall(execute, caller, recall)
    if row is None or not (row[0] == caller.who or (scopes and scopes <= view.scopes.keys())):
        raise _unknown(recall)


def _told_recall(execute: Execute, view: Sight, caller: Caller, recall: str) -> _Row:
    """A recall that the caller made, or one in a scope that the caller may read and manages."""
    row, scopes = _recall(execute, caller, recall)
    managed = sight(execute, caller, "manage").scopes.keys() & view.scopes.keys()
    if row is None or not (row[0] == caller.who or scopes & managed):
        raise _unknown(recall)
    return row


def _unknown(recall: str) -> UnknownName:
    return UnknownName(f"there is no recall {told(recall)}", hint="its id is part of the answer")


def _seen_settings(settings: dict[str, Any], view: Sight) -> dict[str, Any]:
    if "scopes" not in settings:
        return settings
    seen = set(map(str, view.scopes.values()))
    return settings | {"scopes": [name for name in settings["scopes"] if name in seen]}


def _shown_fact(execute: Execute, view: Sight, recall: str, name: str) -> int:
    rows = execute("SELECT fact FROM recall_items WHERE recall = ?", (recall,))
    known = facts.by_number(execute, view, [number for (number,) in rows])
    found = [number for number, fact in known.items() if facts.is_part(name, fact.id)]
    if len(found) != 1:
        raise UnknownName(
            f"{recall} showed no fact {told(name)}", hint="`why` lists what it showed"
        )
    return found[0]


def _source(execute: Execute, number: int) -> dict[str, Any]:
    ((event_id, kind, actor, at),) = execute(
        "SELECT e.id, e.kind, e.actor, e.at FROM events e JOIN facts f ON f.event = e.seq"
        " WHERE f.number = ?",
        (number,),
    )
    return {"id": event_id, "kind": kind, "actor": actor, "at": at}


def _use(execute: Execute, number: int) -> dict[str, Any]:
    ((shown, last),) = execute(
        "SELECT COUNT(*), MAX(r.at) FROM recall_items i JOIN recalls r ON r.id = i.recall"
        " WHERE i.fact = ? AND i.shown = 1",
        (number,),
    )
    verdicts: Sequence[tuple[str, int]] = execute(
        "SELECT verdict, COUNT(*) FROM feedback WHERE fact = ? GROUP BY verdict", (number,)
    )
    return {"shown": shown, "last_shown_at": last} | dict.fromkeys(VERDICTS, 0) | dict(verdicts)
