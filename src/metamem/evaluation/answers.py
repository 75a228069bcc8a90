"""What a frozen memory said once, it would say again: the same question costs one copy of it.

A copy of the same state, with the same luck and the same question, has nothing from which another
answer could come. So the repeats of a task, which all begin alike, share their first answer, and
no question ever reaches a copy that has heard another: what one case asks cannot reach the next,
whatever the design does.
"""

from metamem.core.protocols import CallSite
from metamem.core.types import Query
from metamem.core.waiting import Answer
from metamem.hosting.memory import HostedMemory

LONGEST = 100_000  # characters of an answer that is kept; agents are shown far less


class Answers:
    """Of the memories of one job, by group. A model would answer anew: with one, all are asked."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, Query], Answer] = {}

    async def ask(self, memory: HostedMemory, group: str, query: Query, at: CallSite) -> Answer:
        """The answer, with the seconds that the design took for it when it was asked."""
        if at.model is not None:
            return await memory.answer(query, at)
        found = self._known.get((group, query))
        if found is not None:
            return found
        answer = await memory.answer(query, at)
        if isinstance(answer.advice, str) and len(answer.advice) <= LONGEST:
            self._known[group, query] = answer
        return answer
