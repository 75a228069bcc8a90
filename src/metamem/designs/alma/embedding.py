"""ALMA's `Embedding` helper. The embedder is the host's, whatever model is named."""

import asyncio
from collections.abc import Sequence

import numpy as np  # here and not where it is used: every fork of a memory would load it again

from metamem.designs.alma.runtime import desk

Vector = list[float]


class Embedding:
    """Vectors of texts, one or many, awaited or not; and how alike they are."""

    def __init__(
        self, model: str = "text-embedding-3-small", retries: int = 3, retry_delay: float = 1.0
    ) -> None:
        self.model, self.retries, self.retry_delay = model, retries, retry_delay

    def __call__(self, texts: Sequence[str]) -> list[Vector]:
        vectors: list[Vector] = desk().embed(list(texts)).tolist()
        return vectors

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        return self(texts)

    def embed_query(self, text: str) -> Vector:
        return self([text])[0]

    async def get_embedding(self, text: str) -> Vector:
        return self([text])[0]

    async def get_batch_embeddings(self, texts: Sequence[str]) -> list[Vector]:
        return self(texts)

    @staticmethod
    async def compute_similarity(
        emb1: Sequence[float], emb2: Sequence[float], metric: str = "cosine"
    ) -> float:
        """The cosine of two vectors; 0 where one of them is all zeros."""
        if metric != "cosine":
            raise ValueError(f"Unsupported similarity metric: {metric}")
        one, other = np.asarray(emb1, dtype=np.float64), np.asarray(emb2, dtype=np.float64)
        lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
        return float(one @ other) / lengths if lengths else 0.0

    @staticmethod
    async def compute_one_to_group_similarity(
        emb: Sequence[float], group_emb: Sequence[Sequence[float]], metric: str = "cosine"
    ) -> list[float]:
        return await asyncio.gather(
            *(Embedding.compute_similarity(emb, other, metric) for other in group_emb)
        )
