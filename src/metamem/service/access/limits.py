"""How much one key may do: so many requests a minute, so many facts in all.

Requests are counted in the memory of each process that serves; facts are counted in the database,
inside the transaction that writes them, so that no two writers can go over together.
"""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from metamem.core.access import Caller
from metamem.core.errors import TooMany
from metamem.service.access.scopes import MOST_FACTS
from metamem.store.engine import Execute

MOST_BUCKETS = 10_000


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: float


class RateLimits:
    """A bucket of tokens for each key: it holds a minute's worth and fills steadily."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: dict[str, _Bucket] = {}

    def take(self, key: str, per_minute: int) -> None:
        """Count a request. `TooMany` says how long to wait."""
        if not key or not per_minute:
            return
        now = self._clock()
        with self._lock:
            bucket = self._buckets.setdefault(key, _Bucket(per_minute, now))
            refilled = bucket.tokens + (now - bucket.at) * per_minute / 60
            bucket.tokens, bucket.at = min(float(per_minute), refilled), now
            missing = 1 - bucket.tokens
            if missing <= 0:
                bucket.tokens -= 1
            if len(self._buckets) > MOST_BUCKETS:
                self._drop_idle(now)
        if missing > 0:
            wait = missing * 60 / per_minute
            raise TooMany(
                f"this key allows {per_minute} requests a minute",
                retry_after=wait,
                hint=f"try again in {wait:.1f} s",
            )

    def _drop_idle(self, now: float) -> None:
        """Whoever asked nothing for a minute has a full bucket again, as a new one is."""
        self._buckets = {k: b for k, b in self._buckets.items() if now - b.at < 60}


def check_quota(execute: Execute, caller: Caller, scope: int, new: int) -> None:
    """Inside the transaction that brings `new` facts into a scope: refuse what is over a quota."""
    ((settings,),) = execute("SELECT settings FROM scopes WHERE number = ?", (scope,))
    most = json.loads(settings).get(MOST_FACTS)
    if most is not None:
        ((there,),) = execute("SELECT COUNT(*) FROM facts WHERE scope = ?", (scope,))
        _within(there + new, most, "the scope")
    if not caller.key:
        return
    for facts, allowed in execute(
        "UPDATE api_keys SET facts = facts + ? WHERE id = ? RETURNING facts, most_facts",
        (new, caller.key),
    ):
        if allowed is not None:
            _within(facts, allowed, "this key")


def _within(facts: int, most: int, whose: str) -> None:
    if facts > most:
        raise TooMany(
            f"the quota of {whose} is {most} facts, and this would make {facts}",
            hint="ask a manager for more, or erase what is not needed",
        )
