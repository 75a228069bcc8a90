"""Hashed words and character n-grams: no weights and no package beyond numpy.

It knows spelling, not meaning: shared words and word stems bring texts near, synonyms do not.
"""

import re
import zlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from metamem.core.errors import UsageError

DIMENSIONS = 256
NGRAMS = (3, 4)
NGRAM_SHARE = 0.7  # of a word's weight that its spelling gets, the rest goes to the whole word
_WORD = re.compile(r"\w+")


@lru_cache(maxsize=32768)
def _word_vector(word: str) -> NDArray[np.float32]:
    """A word as signed counts in hashed buckets; longer words weigh more than short ones."""
    marked = f"<{word}>"
    grams = [marked[i : i + n] for n in NGRAMS for i in range(len(marked) - n + 1)]
    vector = np.zeros(DIMENSIONS, dtype=np.float32)
    features = [(f"w {word}", 1.0 - NGRAM_SHARE)]
    features += [(f"g {gram}", NGRAM_SHARE / len(grams) ** 0.5) for gram in grams]
    for feature, weight in features:
        code = zlib.crc32(feature.encode("utf-8", "replace"))
        vector[code % DIMENSIONS] += weight if code & 0x80000000 else -weight
    vector *= np.log1p(len(word))
    return vector


class HashedEmbedder:
    """The sum of a text's word vectors, as a unit row; a text without words gives the zero row."""

    @property
    def fingerprint(self) -> str:
        return f"hashed-1/words+{'+'.join(map(str, NGRAMS))}grams/{DIMENSIONS}"

    @property
    def dimensions(self) -> int:
        return DIMENSIONS

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if isinstance(texts, str):
            raise UsageError("embed takes a list of texts, not one text")
        rows = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in _WORD.findall(text.lower()):
                row += _word_vector(word)
            length = np.sqrt(np.square(row, dtype=np.float64).sum())
            if length > 0:
                row /= length
        return rows
