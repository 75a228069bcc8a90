"""What a frozen memory said once, it would say again: the same question costs one copy of it.

A copy of the same state, with the same luck and the same question, has nothing from which another
answer could come; and what it did not read of a question cannot have made a difference. So the
repeats of a task, which all begin alike, share their first answer, a design that reads only the
goal is asked once for each goal however often an episode asks, and no question ever reaches a copy
that has heard another: what one case asks cannot reach the next, whatever the design does.
"""

from collections.abc import Iterable
from typing import Any

from metamem.core.protocols import CallSite
from metamem.core.types import Query
from metamem.core.waiting import Answer
from metamem.hosting.memory import HostedMemory

LONGEST = 100_000  # characters of an answer that is kept; agents are shown far less

Parts = tuple[str, ...]


class Answers:
    """Of the memories of one job, by group. A model would answer anew: with one, all are asked."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, Parts], dict[tuple[Any, ...], Answer]] = {}
        self._read: dict[str, list[Parts]] = {}  # by group, the parts that answers rest on

    async def ask(self, memory: HostedMemory, group: str, query: Query, at: CallSite) -> Answer:
        """The answer, with the seconds that the design took for it when it was asked."""
        if at.model is not None:
            return await memory.answer(query, at)
        found = self._found(group, query)
        if found is not None:
            return found
        answer = await memory.answer(query, at)
        if isinstance(answer.advice, str) and len(answer.advice) <= LONGEST:
            self._keep(group, query, answer)
        return answer

    def _found(self, group: str, query: Query) -> Answer | None:
        for parts in self._read.get(group, ()):
            answer = self._known[group, parts].get(_values(query, parts))
            if answer is not None:
                return answer
        return None

    def _keep(self, group: str, query: Query, answer: Answer) -> None:
        parts = tuple(sorted(answer.read))
        read = self._read.setdefault(group, [])
        if parts not in read:
            read.append(parts)
        self._known.setdefault((group, parts), {})[_values(query, parts)] = answer


def _values(query: Query, parts: Iterable[str]) -> tuple[Any, ...]:
    return tuple(getattr(query, part) for part in parts)
