"""A memory opened, taught, copied and asked, in each isolation: run by tests as an ordinary user."""

import asyncio
import sys

from metamem.core.types import Design, Experience, Query
from metamem.designs.jailed import Jail
from tests.designs.embedder import LetterEmbedder

SOURCE = """
from metamem.designs import Memory
class Goals(Memory):
    async def update(self, experience):
        await self.tools.vectors("goals").add(experience.goal)
    async def retrieve(self, query):
        return [hit.text for hit in await self.tools.vectors("goals").search(query.goal, k=1)][0]
"""


async def main(isolation: str) -> None:
    async with Jail(isolation=isolation) as jail:
        memory = await jail.open(Design(SOURCE), seed=1, embedder=LetterEmbedder())
        await memory.update(Experience(goal="find the apple"))
        copy = await memory.fork()
        await copy.update(Experience(goal="zzz"))
        assert await copy.retrieve(Query("zz")) == "zzz"
        assert await memory.retrieve(Query("zz")) == "find the apple"
        print(jail.isolation, "works", "with forks" if jail.sandbox.can_fork else "by snapshots")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
