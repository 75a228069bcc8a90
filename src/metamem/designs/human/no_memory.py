"""Nothing is remembered: the floor that every other design must beat.

Stores: nothing.
Retrieves: nothing, ever.
Forgets: everything, at once.
"""

from metamem.designs import Experience, Memory, Query


class NoMemory(Memory):
    """Remembers nothing."""

    async def retrieve(self, query: Query) -> str:
        return ""

    async def update(self, experience: Experience) -> None:
        return None
