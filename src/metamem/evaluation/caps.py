"""A cap on how many of something happen at once, which remembers how many did."""

import asyncio
from types import TracebackType


class Cap:
    """`async with cap:` waits for a place. `peak` is the most that were ever inside."""

    def __init__(self, limit: int) -> None:
        self._places = asyncio.Semaphore(limit)
        self._inside = 0
        self.peak = 0

    async def __aenter__(self) -> None:
        await self._places.acquire()
        self._inside += 1
        self.peak = max(self.peak, self._inside)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._inside -= 1
        self._places.release()
