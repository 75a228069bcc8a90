"""Which embedder the kept vectors are of. It is written down, and only `reindex` changes it.

Vectors of two embedders have nothing to do with one another. So a process whose embedder is
another than the one written down compares nothing, and says so, until the vectors are made anew.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock, Thread

import numpy as np

from metamem.core.errors import ModelUnavailable, UsageError
from metamem.core.protocols import Embedder
from metamem.core.terms import VERSION
from metamem.models.api_embedder import ApiEmbedder
from metamem.models.embedders import open_embedder
from metamem.models.hashed_embedder import HashedEmbedder
from metamem.models.wordllama_embedder import WordLlamaEmbedder
from metamem.service.recall.catalog import Floats
from metamem.service.recall.reading import WordVectors
from metamem.store.engine import Execute

EMBEDDER, TERMS = "embedder", "terms"  # settings of the database


@dataclass(frozen=True, slots=True)
class Identity:
    """An embedder, as the database knows it."""

    number: int
    fingerprint: str
    dimensions: int


class LocalEmbedder:
    """An embedder of this machine by its name; loaded when it is first needed, or before."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._lock = Lock()
        self._found: Embedder | None = None

    def load_soon(self) -> None:
        """Begin to load it while something else is done."""
        if self._found is None:
            Thread(target=self.get, name="metamem-embedder", daemon=True).start()

    def get(self) -> Embedder:
        with self._lock:
            if self._found is None:
                found = open_embedder(self.name)
                if isinstance(found, ApiEmbedder):
                    raise UsageError(
                        f"{self.name!r} is behind an API: every text would leave this machine",
                        hint="choose an embedder that runs here: auto, wordllama, hashed, minilm",
                    )
                self._found = found
            return self._found

    def one(self, text: str) -> Floats:
        return np.asarray(self.get().embed([text])[0], np.float32)


def word_vectors() -> WordVectors:
    """Vectors of words, whichever embedder compares whole texts: the ranker learned on WordLlama's.
    Where those weights are not installed, words that are spelled alike are taken to be alike."""
    try:
        return WordLlamaEmbedder()
    except ModelUnavailable:
        return _Spelling()


class _Spelling(HashedEmbedder):
    def sums(self, texts: Sequence[str]) -> Floats:
        return self.embed(texts)


def in_use(execute: Execute) -> Identity | None:
    """The embedder whose vectors the database holds or is being given."""
    rows = execute(
        "SELECT number, fingerprint, dimensions FROM embedders JOIN service_settings"
        " ON value = fingerprint WHERE name = ?",
        (EMBEDDER,),
    )
    return Identity(*rows[0]) if rows else None


def choose(execute: Execute, embedder: Embedder) -> Identity:
    """Write down that vectors are made by this embedder from now on."""
    given = (embedder.fingerprint, embedder.dimensions)
    execute(
        "INSERT INTO embedders (fingerprint, dimensions) VALUES (?, ?)"
        " ON CONFLICT (fingerprint) DO NOTHING",
        given,
    )
    set_setting(execute, EMBEDDER, embedder.fingerprint)
    ((number,),) = execute(
        "SELECT number FROM embedders WHERE fingerprint = ?", (embedder.fingerprint,)
    )
    return Identity(number, *given)


def terms_are_current(execute: Execute) -> bool:
    """Whether the lexical index was made by the rules that questions are cut with."""
    rows = execute("SELECT value FROM service_settings WHERE name = ?", (TERMS,))
    return not rows or rows[0][0] == str(VERSION)


def set_setting(execute: Execute, name: str, value: str) -> None:
    execute(
        "INSERT INTO service_settings (name, value) VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (name, value),
    )
