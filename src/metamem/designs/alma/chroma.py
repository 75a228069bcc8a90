"""ALMA's vector store: the calls of langchain's `Chroma`, over a collection in memory.

Each object has a collection of its own. In the original all that are made as ALMA's manual says
share one, so layers find each other's texts; no design can have meant that.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from metamem.designs.alma.collection import Collection, EmbeddingFunction, Entry, new_ids
from metamem.designs.alma.documents import Document
from metamem.designs.alma.embedding import Embedding
from metamem.designs.alma.filters import Where

_FEW = 4
_POOL = 20  # of which the most various are taken

Scored = list[tuple[Document, float]]


class Chroma:
    """A collection, as langchain offers it. There are no folders: a persist directory is ignored."""

    def __init__(
        self,
        collection_name: str = "langchain",
        embedding_function: EmbeddingFunction | None = None,
        persist_directory: str | None = None,
        client_settings: Any = None,
        collection_metadata: Mapping[str, Any] | None = None,
        client: Any = None,
        relevance_score_fn: Callable[[float], float] | None = None,
        create_collection_if_not_exists: bool | None = True,
    ) -> None:
        self._embedding_function = embedding_function or Embedding()
        self._relevance = relevance_score_fn
        self._collection = Collection(
            collection_name, self._embedding_function, collection_metadata
        )

    @classmethod
    def from_texts(
        cls,
        texts: Sequence[str],
        embedding: EmbeddingFunction | None = None,
        metadatas: Sequence[Mapping[str, Any]] | None = None,
        ids: Sequence[str] | None = None,
        **settings: Any,
    ) -> Self:
        store = cls(embedding_function=embedding, **settings)
        store.add_texts(texts, metadatas, ids)
        return store

    @classmethod
    def from_documents(
        cls,
        documents: Sequence[Document],
        embedding: EmbeddingFunction | None = None,
        ids: Sequence[str] | None = None,
        **settings: Any,
    ) -> Self:
        store = cls(embedding_function=embedding, **settings)
        store.add_documents(documents, ids)
        return store

    @property
    def embeddings(self) -> EmbeddingFunction:
        return self._embedding_function

    # --- what goes in

    def add_texts(
        self,
        texts: Sequence[str],
        metadatas: Sequence[Mapping[str, Any] | None] | None = None,
        ids: Sequence[str] | None = None,
    ) -> list[str]:
        """The ids of the texts; a text whose id is known takes its place."""
        texts = list(texts)
        names = new_ids(len(texts)) if ids is None else list(ids)
        told = list(metadatas or [])
        told += [None] * (len(texts) - len(told))
        self._collection.upsert(names, texts, told)
        return names

    def add_documents(
        self, documents: Sequence[Document], ids: Sequence[str] | None = None
    ) -> list[str]:
        if ids is None:
            ids = [d.id or new_ids(1)[0] for d in documents]
        return self.add_texts(
            [d.page_content for d in documents], [d.metadata for d in documents], ids
        )

    def update_document(self, document_id: str, document: Document) -> None:
        self.update_documents([document_id], [document])

    def update_documents(self, ids: Sequence[str], documents: Sequence[Document]) -> None:
        texts = [d.page_content for d in documents]
        self._collection.update(ids, texts, [d.metadata for d in documents])

    def delete(self, ids: Sequence[str] | None = None, **how: Any) -> None:
        self._collection.delete(ids, **how)

    def delete_collection(self) -> None:
        self.reset_collection()

    def reset_collection(self) -> None:
        old = self._collection
        self._collection = Collection(old.name, self._embedding_function, old.metadata)

    # --- what comes out

    def get(
        self,
        ids: Sequence[str] | str | None = None,
        where: Where | None = None,
        limit: int | None = None,
        offset: int | None = None,
        where_document: Where | None = None,
        include: Sequence[str] | None = None,
    ) -> dict[str, Any]:
        shown = {"include": include} if include is not None else {}
        return self._collection.get(ids, where, limit, offset, where_document, **shown)

    def get_by_ids(self, ids: Sequence[str]) -> list[Document]:
        found = self._collection.get(ids)
        columns = (found["documents"], found["metadatas"], found["ids"])
        return [Document(*row) for row in zip(*columns, strict=True)]

    def similarity_search(
        self,
        query: str,
        k: int = _FEW,
        filter: Where | None = None,
        where_document: Where | None = None,
    ) -> list[Document]:
        return [d for d, _ in self.similarity_search_with_score(query, k, filter, where_document)]

    def similarity_search_with_score(
        self,
        query: str,
        k: int = _FEW,
        filter: Where | None = None,
        where_document: Where | None = None,
    ) -> Scored:
        """Documents with their distance: the less, the nearer."""
        vector = self._embedding_function.embed_query(query)
        return self.similarity_search_by_vector_with_relevance_scores(
            vector, k, filter, where_document
        )

    def similarity_search_with_relevance_scores(
        self, query: str, k: int = _FEW, score_threshold: float | None = None, **how: Any
    ) -> Scored:
        """Documents with a score that is at most 1: the more, the nearer."""
        near = self.similarity_search_with_score(query, k, **how)
        scored = [(document, self._relevant(distance)) for document, distance in near]
        return [(d, s) for d, s in scored if score_threshold is None or s >= score_threshold]

    def similarity_search_by_vector(
        self, embedding: Sequence[float], k: int = _FEW, filter: Where | None = None
    ) -> list[Document]:
        near = self.similarity_search_by_vector_with_relevance_scores(embedding, k, filter)
        return [document for document, _ in near]

    def similarity_search_by_vector_with_relevance_scores(
        self,
        embedding: Sequence[float],
        k: int = _FEW,
        filter: Where | None = None,
        where_document: Where | None = None,
    ) -> Scored:
        near = self._collection.nearest(embedding, k, filter, where_document)
        return [(_document(entry), distance) for entry, distance in near]

    def max_marginal_relevance_search(
        self,
        query: str,
        k: int = _FEW,
        fetch_k: int = _POOL,
        lambda_mult: float = 0.5,
        filter: Where | None = None,
    ) -> list[Document]:
        """Documents that are near the query and far from each other."""
        vector = np.asarray(self._embedding_function.embed_query(query))
        pool = [entry for entry, _ in self._collection.nearest(vector.tolist(), fetch_k, filter)]
        taken: list[Entry] = []
        while pool and len(taken) < k:
            gains = [
                lambda_mult * _cosine(entry.vector, vector)
                - (1 - lambda_mult)
                * max((_cosine(entry.vector, other.vector) for other in taken), default=0.0)
                for entry in pool
            ]
            taken.append(pool.pop(int(np.argmax(gains))))
        return [_document(entry) for entry in taken]

    def as_retriever(
        self, search_type: str = "similarity", search_kwargs: Mapping[str, Any] | None = None
    ) -> "Retriever":
        return Retriever(self, search_type, dict(search_kwargs or {}))

    # --- the same, to be awaited

    async def aadd_texts(self, *given: Any, **named: Any) -> list[str]:
        return self.add_texts(*given, **named)

    async def aadd_documents(self, *given: Any, **named: Any) -> list[str]:
        return self.add_documents(*given, **named)

    async def adelete(self, *given: Any, **named: Any) -> None:
        self.delete(*given, **named)

    async def aget_by_ids(self, ids: Sequence[str]) -> list[Document]:
        return self.get_by_ids(ids)

    async def asimilarity_search(self, *given: Any, **named: Any) -> list[Document]:
        return self.similarity_search(*given, **named)

    async def asimilarity_search_with_score(self, *given: Any, **named: Any) -> Scored:
        return self.similarity_search_with_score(*given, **named)

    async def asimilarity_search_with_relevance_scores(self, *given: Any, **named: Any) -> Scored:
        return self.similarity_search_with_relevance_scores(*given, **named)

    async def amax_marginal_relevance_search(self, *given: Any, **named: Any) -> list[Document]:
        return self.max_marginal_relevance_search(*given, **named)

    def _relevant(self, distance: float) -> float:
        if self._relevance is not None:
            return self._relevance(distance)
        space = self._collection.metadata.get("hnsw:space", "l2")
        return 1 - distance / math.sqrt(2) if space == "l2" else 1 - distance


class Retriever:
    """A search with its settings."""

    def __init__(self, store: Chroma, search_type: str, settings: dict[str, Any]) -> None:
        searches = ("similarity", "similarity_score_threshold", "mmr")
        if search_type not in searches:
            raise ValueError(f"search_type must be one of {searches}, not {search_type!r}")
        self.vectorstore, self.search_type, self.search_kwargs = store, search_type, settings

    def invoke(self, query: str) -> list[Document]:
        if self.search_type == "mmr":
            return self.vectorstore.max_marginal_relevance_search(query, **self.search_kwargs)
        if self.search_type == "similarity":
            return self.vectorstore.similarity_search(query, **self.search_kwargs)
        scored = self.vectorstore.similarity_search_with_relevance_scores(
            query, **self.search_kwargs
        )
        return [document for document, _ in scored]

    def get_relevant_documents(self, query: str) -> list[Document]:
        return self.invoke(query)

    async def ainvoke(self, query: str) -> list[Document]:
        return self.invoke(query)

    async def aget_relevant_documents(self, query: str) -> list[Document]:
        return self.invoke(query)


def _document(entry: Entry) -> Document:
    return Document(entry.document, dict(entry.metadata), entry.id)


def _cosine(one: Any, other: Any) -> float:
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(np.dot(one, other)) / lengths if lengths else 0.0
