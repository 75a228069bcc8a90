"""Replies to writes are kept for a day, so that a request that is sent again is not carried out again.

A reply is kept right after the work. Should the process die between the two, the request is carried
out once more: remembering and ingesting know what they have already, feedback counts once, and an
edit leaves one more version. Erasing drops the replies of the tenant, too, and none is kept of a
request during which something was erased. Of the key that a request is known by, a digest alone is
kept: whoever sends one may put anything there.
"""

import hashlib
import json
import re
import threading
import time
from collections.abc import Callable

from metamem.core.access import Caller
from metamem.core.errors import Busy, Conflict, UsageError
from metamem.core.ids import content_id
from metamem.service.database import Database, now_ms

DAY_MS = 24 * 3600 * 1000
TIDY_SECONDS = 600.0
_FORM = re.compile(r"[!-~]{1,200}")

Reply = tuple[int, str]  # status and text


class Replies:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._going: set[tuple[str, str, str]] = set()
        self._tidied = 0.0

    def once(
        self,
        caller: Caller,
        key: str,
        request: bytes,
        work: Callable[[], Reply],
        check: Callable[[], None],
        *,
        has_texts: bool = True,
    ) -> tuple[Reply, bool]:
        """The reply to a request, and whether it is an earlier one. `check` is asked whether the
        caller may still see that one. Replies without texts of facts are kept come what may."""
        if not _FORM.fullmatch(key):
            raise UsageError("an Idempotency-Key is 1 to 200 visible ASCII characters")
        digest = hashlib.sha256(caller.key.encode() + b"\n" + request).hexdigest()
        mark = (caller.tenant, caller.who, _digest(caller, key))
        with self._lock:
            if mark in self._going:
                raise Busy("the same request is being worked on", hint="ask again in a second")
            self._going.add(mark)
        try:
            began, known = now_ms(), self._known(mark, digest)
            if known is not None:
                check()
                return known, True
            reply = work()
            self._keep(mark, digest, reply, began if has_texts else None)
            return reply, False
        finally:
            with self._lock:
                self._going.discard(mark)

    def _known(self, mark: tuple[str, str, str], digest: str) -> Reply | None:
        with self._database.reading() as execute:
            rows = execute(
                "SELECT request, reply FROM replies"
                " WHERE tenant = ? AND who = ? AND key = ? AND at > ?",
                (*mark, now_ms() - DAY_MS),
            )
        for request, reply in rows:
            if request != digest:
                raise Conflict(
                    "this Idempotency-Key was used for another request",
                    hint="use a new key for every request; repeat one only as it was",
                )
            status, text = json.loads(reply)
            return status, text
        return None

    def _keep(
        self, mark: tuple[str, str, str], digest: str, reply: Reply, began: int | None
    ) -> None:
        now = now_ms()
        with self._database.writing() as execute:
            if began is not None and execute(
                "SELECT 1 FROM tombstones WHERE tenant = ? AND at >= ?", (mark[0], began)
            ):
                return  # it may hold what was erased meanwhile
            if time.monotonic() - self._tidied > TIDY_SECONDS:
                execute("DELETE FROM replies WHERE at <= ?", (now - DAY_MS,))
                self._tidied = time.monotonic()
            execute(
                "INSERT INTO replies (tenant, who, key, at, request, reply)"
                " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, who, key) DO UPDATE SET"
                " at = excluded.at, request = excluded.request, reply = excluded.reply",
                (*mark, now, digest, json.dumps(reply)),
            )


def _digest(caller: Caller, key: str) -> str:
    """What stands for a key. Equal keys of others have another, and none is found by guessing one
    key for all."""
    return content_id("idempotency key", caller.tenant, caller.who, key)
