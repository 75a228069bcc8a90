"""Served designs for threads that are not their event loop's: those that answer requests, and the
command line. Each verb is handed over to the loop, and waited for."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, Protocol, TypeVar

from metamem.core.access import Caller
from metamem.core.errors import UnknownName
from metamem.core.types import Experience, Query
from metamem.service.designs.served import ServedDesigns
from metamem.service.designs.words import Advised, Against, Experienced, Standing, Trial

T = TypeVar("T")


class Served(Protocol):
    """What callers can do with served designs."""

    def advise(self, caller: Caller, scope: str, query: Query, session: str) -> Advised: ...

    def experience(
        self, caller: Caller, scope: str, lived: Experience, moment: str, useful: Sequence[str]
    ) -> Experienced: ...

    def standing(self, caller: Caller, scope: str) -> Standing: ...

    def compare(
        self, caller: Caller, scope: str, design: str, share: float, against: Against
    ) -> Trial: ...

    def end_comparison(self, caller: Caller, scope: str) -> bool: ...


class FromThreads:
    """`Served`, by designs that were opened in a loop. Made in that loop, used in any thread but
    its own."""

    def __init__(self, served: ServedDesigns) -> None:
        self.served, self._loop = served, asyncio.get_running_loop()

    def advise(self, caller: Caller, scope: str, query: Query, session: str) -> Advised:
        return self._wait(self.served.advise(caller, scope, query, session=session))

    def experience(
        self, caller: Caller, scope: str, lived: Experience, moment: str, useful: Sequence[str]
    ) -> Experienced:
        told = self.served.experience(caller, scope, lived, moment=moment, useful=useful)
        return self._wait(told)

    def standing(self, caller: Caller, scope: str) -> Standing:
        return self._wait(self.served.standing(caller, scope))

    def compare(
        self, caller: Caller, scope: str, design: str, share: float, against: Against
    ) -> Trial:
        return self._wait(self._compare(caller, scope, design, share, against))

    def end_comparison(self, caller: Caller, scope: str) -> bool:
        return self._wait(self.served.end_comparison(caller, scope))

    async def _compare(
        self, caller: Caller, scope: str, design: str, share: float, against: Against
    ) -> Trial:
        try:
            found = await self.served.find(design)
        except UnknownName:  # one that was named for the scope is in no archive
            found = design
        return await self.served.compare(caller, scope, found, share=share, against=against)

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()
