"""A log that lives in the test, shared by several memories, from which lines can be erased."""

import asyncio
import hashlib
from collections.abc import AsyncIterator

from metamem.core.errors import UsageError
from metamem.core.ids import canonical_json
from metamem.core.types import Experience


def line(goal: str) -> str:
    return canonical_json(Experience(goal=goal).to_json())


class SharedLog:
    def __init__(self, *goals: str) -> None:
        self.lines: list[str | None] = [line(goal) for goal in goals]

    async def append(self, line: str) -> int:
        await asyncio.sleep(0)  # others have their turn, as with a log that is far away
        self.lines.append(line)
        position = len(self.lines) - 1
        await asyncio.sleep(0)
        return position

    async def read(self, start: int = 0) -> AsyncIterator[tuple[int, str | None]]:
        while start < len(self.lines):
            await asyncio.sleep(0)
            yield start, self.lines[start]
            start += 1

    async def length(self) -> int:
        return len(self.lines)

    async def digest(self, position: int) -> str:
        if position > len(self.lines):
            raise UsageError("beyond the end")
        return hashlib.sha256(repr(self.lines[:position]).encode()).hexdigest()

    def erase(self, position: int) -> None:
        self.lines[position] = None
