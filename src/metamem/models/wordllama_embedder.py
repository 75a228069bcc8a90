"""WordLlama: static token vectors, averaged. Small, quick, and shipped inside its package.

The package itself is not imported: its loader looks for the tokenizer in a folder that is not
the shipped one and would then go to the network, and it pulls in an HTTP client. The two files
are read where they lie, so nothing is ever downloaded, and their hashes are checked: they decide
results.
"""

from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import version
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metamem.core import extras
from metamem.core.errors import ModelUnavailable, UsageError
from metamem.models.packaged import PackagedFile

MODEL = "l2_supercat"
DIMENSIONS = 256
REQUIREMENT = "wordllama>=0.4.0,<0.4.1"
VECTORS = PackagedFile(
    "wordllama",
    f"weights/{MODEL}_{DIMENSIONS}.safetensors",
    "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
    REQUIREMENT,
)
VOCABULARY = PackagedFile(
    "wordllama",
    f"tokenizers/{MODEL}_tokenizer_config.json",
    "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
    REQUIREMENT,
)


@lru_cache(maxsize=1)
def _load() -> tuple[Any, NDArray[np.float16], str]:
    """Tokenizer, token vectors and version; one copy for the process."""
    vocabulary, weights = VOCABULARY.read(), VECTORS.read()
    try:
        from safetensors.numpy import load
        from tokenizers import Tokenizer

        vectors = load(weights)["embedding.weight"]
        return Tokenizer.from_str(vocabulary.decode()), vectors, version("wordllama")
    except Exception as error:  # the tokenizer's loader raises nothing narrower
        raise ModelUnavailable(
            f"WordLlama cannot be loaded: {error}", hint=extras.pip(REQUIREMENT)
        ) from error


_LONGEST = 64  # letters of a word that is worth keeping


def _tokens(text: str) -> list[int]:
    """The tokens of a text, from words that were seen before where that makes no difference.

    A token has a space at its beginning or nowhere, so that single spaces part a text into words whose
    tokens do not depend on each other. Runs of spaces are tokens of their own, and `<s>` and its
    like mean something else than their letters.
    """
    words = text.split(" ")
    if not text.isascii() or "<" in text or not all(words) or len(max(words, key=len)) > _LONGEST:
        return list(_encoded(text))
    return list(chain.from_iterable(map(_word, words)))


@lru_cache(maxsize=1 << 16)
def _word(text: str) -> tuple[int, ...]:
    return _encoded(text)


def _encoded(text: str) -> tuple[int, ...]:
    whole = text.encode("utf-8", "replace").decode("utf-8")  # lone surrogates
    return tuple(_load()[0].encode(whole, add_special_tokens=False).ids)


class WordLlamaEmbedder:
    """The mean of a text's token vectors, as a unit row; an empty text gives the zero row."""

    def __init__(self) -> None:
        _, self._vectors, self._version = _load()

    @property
    def fingerprint(self) -> str:
        return f"wordllama-{self._version}/{MODEL}/{DIMENSIONS}"

    @property
    def dimensions(self) -> int:
        return DIMENSIONS

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if isinstance(texts, str):
            raise UsageError("embed takes a list of texts, not one text")
        rows = self.sums(texts)
        for row in rows:
            length = np.sqrt(np.square(row, dtype=np.float64).sum())
            if length > 0:
                row /= length
        return rows

    def sums(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The same rows at their full length, which tells how much meaning the tokens carry."""
        rows = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        # One text at a time: a row never depends on its neighbours (padding), and the
        # tokenizer's thread pool, which does not survive a fork, is never started.
        for row, text in zip(rows, texts, strict=True):
            ids = _tokens(text)
            if ids:
                row[:] = self._vectors[ids].sum(axis=0, dtype=np.float32)
        return rows
