"""Models by role. What is here runs offline; nothing is loaded before it is asked for."""

from functools import lru_cache
from typing import TYPE_CHECKING

from metamem.core.errors import ModelUnavailable

if TYPE_CHECKING:
    from metamem.models.embedding_cache import CachedEmbedder


@lru_cache(maxsize=1)
def _chosen() -> "tuple[CachedEmbedder, str]":
    """The embedder in use and why it is this one. Loaded once for the process."""
    from metamem.models.embedding_cache import CachedEmbedder
    from metamem.models.hashed_embedder import HashedEmbedder
    from metamem.models.wordllama_embedder import WordLlamaEmbedder

    try:
        return CachedEmbedder(WordLlamaEmbedder()), "the packaged WordLlama weights load"
    except ModelUnavailable as error:
        return CachedEmbedder(HashedEmbedder()), f"fallback, as {error.message}"


def default_embedder() -> "CachedEmbedder":
    """WordLlama where its packaged weights load, else hashed n-grams; cached by text.

    The two give different vectors: the fingerprint tells which one a result was made with. Files
    that load but are not the tested ones are an error (`Broken`).
    """
    return _chosen()[0]


def describe() -> str:
    """Which embedder is active and why, in one line."""
    embedder, reason = _chosen()
    return f"{embedder.fingerprint} ({embedder.dimensions} dimensions): {reason}"
