"""What a frozen memory said once, it would say again: the same question costs one copy of it.

A copy of the same state, with the same luck and the same question, has nothing from which another
answer could come. So the repeats of a task, which all begin alike, share their first answer, and
no question ever reaches a copy that has heard another: what one case asks cannot reach the next,
whatever the design does.
"""

from typing import Any

from metamem.core.protocols import CallSite
from metamem.core.types import Query
from metamem.hosting.memory import HostedMemory

LONGEST = 100_000  # characters of an answer that is kept; agents are shown far less


class Answers:
    """Of the memories of one job, by group. A model would answer anew: with one, all are asked."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, Query], tuple[str, float]] = {}

    async def ask(
        self, memory: HostedMemory, group: str, query: Query, at: CallSite
    ) -> tuple[Any, float]:
        """The advice, and the seconds that the design took for it when it was asked."""
        if at.model is not None:
            return await memory.timed_retrieve(query, at)
        found = self._known.get((group, query))
        if found is not None:
            return found
        advice, seconds = await memory.timed_retrieve(query, at)
        if isinstance(advice, str) and len(advice) <= LONGEST:
            self._known[group, query] = advice, seconds
        return advice, seconds
