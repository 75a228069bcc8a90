"""Texts with metadata and vectors, found by distance: all in memory, for one owner."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from metamem.designs.alma.filters import Where, chosen, said
from metamem.designs.alma.runtime import desk

Vector = Sequence[float]
_DEFAULT = ("metadatas", "documents")


class EmbeddingFunction(Protocol):
    def embed_documents(self, texts: list[str]) -> Sequence[Vector]: ...

    def embed_query(self, text: str) -> Vector: ...


@dataclass
class Entry:
    """What is stored under an id. Its vector comes when it is first needed."""

    id: str
    document: str
    metadata: dict[str, Any]
    vector: NDArray[np.float32] | None = None


class Collection:
    """The calls of a Chroma collection that designs make."""

    def __init__(
        self, name: str, embedding: EmbeddingFunction, metadata: Mapping[str, Any] | None = None
    ) -> None:
        self.name = name
        self.metadata = dict(metadata or {})
        self._embedding = embedding
        self._entries: dict[str, Entry] = {}

    def count(self) -> int:
        return len(self._entries)

    def upsert(
        self,
        ids: Sequence[str] | str,
        documents: Sequence[str] | str | None = None,
        metadatas: Sequence[Mapping[str, Any] | None] | None = None,
        embeddings: Sequence[Vector] | None = None,
    ) -> None:
        """Add entries; one whose id is known takes its place."""
        self._put(_listed(ids), documents, metadatas, embeddings)

    def add(
        self,
        ids: Sequence[str] | str,
        documents: Sequence[str] | str | None = None,
        metadatas: Sequence[Mapping[str, Any] | None] | None = None,
        embeddings: Sequence[Vector] | None = None,
    ) -> None:
        """Like `upsert`, but what is there stays as it is."""
        kept = {name: self._entries[name] for name in _listed(ids) if name in self._entries}
        self._put(_listed(ids), documents, metadatas, embeddings)
        self._entries.update(kept)

    def update(
        self,
        ids: Sequence[str] | str,
        documents: Sequence[str] | str | None = None,
        metadatas: Sequence[Mapping[str, Any] | None] | None = None,
        embeddings: Sequence[Vector] | None = None,
    ) -> None:
        """Change what is given of the entries that are there."""
        names = _listed(ids)
        texts = _listed(documents) if documents is not None else [None] * len(names)
        for place, (name, text) in enumerate(zip(names, texts, strict=True)):
            if name not in self._entries:
                continue
            old = self._entries[name]
            told = old.metadata | dict((metadatas and metadatas[place]) or {})
            given = [embeddings[place]] if embeddings is not None else None
            vector = old.vector if text is None or text == old.document else None
            self._put([name], [old.document if text is None else text], [told], given)
            if given is None:
                self._entries[name].vector = vector

    def get(
        self,
        ids: Sequence[str] | str | None = None,
        where: Where | None = None,
        limit: int | None = None,
        offset: int | None = None,
        where_document: Where | None = None,
        include: Sequence[str] = _DEFAULT,
    ) -> dict[str, Any]:
        found = self._chosen(ids, where, where_document)
        start = offset or 0
        return self._told(found[start : None if limit is None else start + limit], include)

    def peek(self, limit: int = 10) -> dict[str, Any]:
        return self.get(limit=limit, include=("embeddings", *_DEFAULT))

    def delete(
        self,
        ids: Sequence[str] | str | None = None,
        where: Where | None = None,
        where_document: Where | None = None,
    ) -> None:
        if ids is None and not where and not where_document:
            raise ValueError("delete() takes ids, where or where_document: which entries?")
        for entry in self._chosen(ids, where, where_document):
            del self._entries[entry.id]

    def query(
        self,
        query_embeddings: Sequence[Vector] | None = None,
        query_texts: Sequence[str] | str | None = None,
        n_results: int = 10,
        where: Where | None = None,
        where_document: Where | None = None,
        include: Sequence[str] = (*_DEFAULT, "distances"),
    ) -> dict[str, Any]:
        """The nearest entries to each of several vectors or texts."""
        if query_embeddings is None:
            if query_texts is None:
                raise ValueError("query() takes query_embeddings or query_texts")
            query_embeddings = [self._embedding.embed_query(t) for t in _listed(query_texts)]
        answers = []
        for vector in query_embeddings:
            near = self.nearest(vector, n_results, where, where_document)
            told = self._told([entry for entry, _ in near], include)
            distances = [distance for _, distance in near] if "distances" in include else None
            answers.append(told | {"distances": distances})
        names = ("ids", "embeddings", "documents", "metadatas", "distances")
        wanted = {"ids", *include}
        return {n: [a[n] for a in answers] if n in wanted else None for n in names}

    def nearest(
        self, vector: Vector, k: int, where: Where | None = None, text: Where | None = None
    ) -> list[tuple[Entry, float]]:
        """At most k entries by distance; equal distances keep the order of insertion."""
        if k <= 0:
            raise ValueError(f"Number of requested results {k}, cannot be negative, or zero.")
        self.flush()
        entries = self._chosen(None, where, text)
        if not entries:
            return []
        distances = self._distances(entries, np.asarray(vector, dtype=np.float32))
        order = np.argsort(distances, kind="stable")[:k]
        return [(entries[place], float(distances[place])) for place in order]

    def flush(self) -> None:
        """Find the vectors that are not there yet, all in one go."""
        new = [entry for entry in self._entries.values() if entry.vector is None]
        if new:
            vectors = self._embedding.embed_documents([entry.document for entry in new])
            for entry, vector in zip(new, vectors, strict=True):
                entry.vector = np.asarray(vector, dtype=np.float32)

    def _put(
        self,
        names: list[str],
        documents: Sequence[str] | str | None,
        metadatas: Sequence[Mapping[str, Any] | None] | None,
        embeddings: Sequence[Vector] | None,
    ) -> None:
        texts = _listed(documents) if documents is not None else [""] * len(names)
        tells = list(metadatas) if metadatas is not None else [None] * len(names)
        if not len(names) == len(texts) == len(tells):
            raise ValueError("there must be as many ids and metadatas as documents")
        if len(set(names)) < len(names):
            raise ValueError("Expected IDs to be unique, found duplicates")
        vectors = [None] * len(names) if embeddings is None else list(map(_row, embeddings))
        fresh = [
            Entry(name, _text(text), _flat(told), vector)
            for name, text, told, vector in zip(names, texts, tells, vectors, strict=True)
        ]
        self._entries.update({entry.id: entry for entry in fresh})
        if embeddings is None:
            desk().put_off(self)

    def _chosen(
        self, ids: Sequence[str] | str | None, where: Where | None, text: Where | None
    ) -> list[Entry]:
        wanted = None if ids is None else set(_listed(ids))
        return [
            entry
            for entry in self._entries.values()
            if (wanted is None or entry.id in wanted)
            and chosen(entry.metadata, where)
            and said(entry.document, text)
        ]

    def _told(self, entries: list[Entry], include: Sequence[str]) -> dict[str, Any]:
        if "embeddings" in include:
            self.flush()
        columns: dict[str, list[Any]] = {
            "embeddings": [entry.vector for entry in entries],
            "documents": [entry.document for entry in entries],
            "metadatas": [dict(entry.metadata) for entry in entries],
        }
        shown = {name: column if name in include else None for name, column in columns.items()}
        return {"ids": [entry.id for entry in entries], **shown}

    def _distances(self, entries: list[Entry], query: NDArray[np.float32]) -> NDArray[np.float64]:
        rows = np.stack([entry.vector for entry in entries if entry.vector is not None])
        space = self.metadata.get("hnsw:space", "l2")
        if space == "l2":
            distances = ((rows - query) ** 2).sum(axis=1)
        elif space == "ip":
            distances = 1 - rows @ query
        elif space == "cosine":
            lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(query)
            distances = 1 - (rows @ query) / np.where(lengths > 0, lengths, 1)
        else:
            raise ValueError(f"there is no space {space!r}: l2, ip or cosine")
        # Rounded, so that the order of equal texts never hangs on the last bit of a sum.
        rounded: NDArray[np.float64] = np.round(distances.astype(np.float64), 6)
        return rounded


def new_ids(count: int) -> list[str]:
    return [str(uuid4()) for _ in range(count)]


def _listed(value: Sequence[str] | str) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _row(vector: Vector) -> NDArray[np.float32]:
    return np.asarray(vector, dtype=np.float32)


def _text(document: Any) -> str:
    if not isinstance(document, str):
        raise ValueError(f"Expected document to be a str, got {document!r}")
    return document


def _flat(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """Metadata as Chroma takes it: text, numbers, truth values, nothing; no lists and no dicts."""
    for key, value in (metadata or {}).items():
        if value is not None and not isinstance(value, str | int | float | bool):
            raise ValueError(
                f"Expected metadata value to be a str, int, float, bool, or None, "
                f"got {value!r} in {key!r}"
            )
    return dict(metadata or {})
