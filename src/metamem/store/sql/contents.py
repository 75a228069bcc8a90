"""Collected episodes and recorded content."""

from collections.abc import Sequence

from metamem.core.types import Episode
from metamem.store.codec import pack, same_packed, unpack
from metamem.store.sql.base import Part, insert_once, refuse_erased


class Contents(Part):
    def put_collection(self, collection_id: str, episodes: Sequence[Episode]) -> bool:
        what = f"the collection {collection_id!r}"
        packed = pack(episodes, what)
        with self._engine.writing() as execute:
            refuse_erased(execute, "collection", collection_id)
            return insert_once(
                execute,
                "collections",
                {"id": collection_id},
                {"episodes": packed},
                what,
                same_packed,
            )

    def collection(self, collection_id: str) -> list[Episode] | None:
        with self._engine.reading() as execute:
            refuse_erased(execute, "collection", collection_id)
            found = execute("SELECT episodes FROM collections WHERE id = ?", (collection_id,))
        return unpack(found[0][0], f"the collection {collection_id!r}") if found else None

    def collections(self) -> list[str]:
        with self._engine.reading() as execute:
            return [found for (found,) in execute("SELECT id FROM collections ORDER BY seq")]

    def put_blob(self, blob_id: str, content: bytes) -> bool:
        what = f"the blob {blob_id!r}"
        with self._engine.writing() as execute:
            refuse_erased(execute, "blob", blob_id)
            return insert_once(execute, "blobs", {"id": blob_id}, {"content": content}, what)

    def blob(self, blob_id: str) -> bytes | None:
        with self._engine.reading() as execute:
            refuse_erased(execute, "blob", blob_id)
            found = execute("SELECT content FROM blobs WHERE id = ?", (blob_id,))
        return bytes(found[0][0]) if found else None
