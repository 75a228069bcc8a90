"""Running designs, in the real jail or in this process."""

import base64
from collections.abc import Iterable
from typing import Any

import numpy as np

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


class Embeds:
    """The host of a design that runs in this process: it embeds, and nothing else."""

    async def ask(self, tool: str, data: Any) -> Any:
        assert tool == "embed"
        rows = np.ascontiguousarray(HashedEmbedder().embed(data["texts"]), dtype="<f4")
        shown = base64.b64encode(rows.tobytes()).decode()
        return {"dimensions": rows.shape[1], "vectors": shown}

    def log(self, message: str) -> None:
        raise AssertionError(message)
