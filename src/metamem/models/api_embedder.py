"""A model behind an API, as a worker has it: the host asks, records and pays."""

from collections.abc import Sequence

from metamem.core.errors import ModelUnavailable
from metamem.models.embedding import EmbedAt, Rows
from metamem.models.embedding_cache import RowCache, in_order

CACHED = 4096  # texts: about 25 MB of 1536-dimensional rows


class ApiEmbedder:
    """Has no key and no connection, only the way to the host; remembers the last texts."""

    def __init__(self, fingerprint: str, ask: EmbedAt | None = None) -> None:
        self.fingerprint = fingerprint
        self._ask = ask
        self._cache = RowCache(CACHED)

    async def embed_texts(self, texts: Sequence[str], design: str) -> Rows:
        """A unit (or zero) row for each text, embedded on behalf of a design."""
        if self._ask is None:
            raise ModelUnavailable(f"there is no way to {self.fingerprint} from here")
        rows = self._cache.known(texts)
        missing = [text for text in dict.fromkeys(texts) if text not in rows]
        if missing or not texts:
            made = await self._ask(missing, design)
            if not texts:
                return made
            self._cache.keep(missing, made)
            rows |= dict(zip(missing, made, strict=True))
        return in_order(texts, rows)
