"""Running designs in the real jail."""

from collections.abc import Iterable

from metamem.core.types import Design, Experience, Query, render_advice
from metamem.designs.jailed import Jail
from metamem.models.hashed_embedder import HashedEmbedder
from tests.designs.samples import EPISODES, QUERIES


async def advice(
    jail: Jail,
    design: Design,
    episodes: Iterable[Experience] = EPISODES,
    queries: Iterable[Query] = QUERIES,
) -> list[str]:
    """What a design says to each query after it has seen the episodes."""
    memory = await jail.open(design, seed=0, embedder=HashedEmbedder())
    try:
        for episode in episodes:
            await memory.update(episode)
        return [render_advice(await memory.retrieve(query)) for query in queries]
    finally:
        await memory.close()
