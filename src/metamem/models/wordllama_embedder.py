"""WordLlama: static token vectors, averaged. Small, quick, and shipped inside its package.

The package itself is not imported: its loader looks for the tokenizer in a folder that is not
the shipped one and would then go to the network, and it pulls in an HTTP client. The two files
are read where they lie, so nothing is ever downloaded.
"""

import importlib.util
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metamem.core.errors import ModelUnavailable, UsageError

MODEL = "l2_supercat"
DIMENSIONS = 256
HINT = "pip install 'wordllama>=0.4'"


@lru_cache(maxsize=1)
def _load() -> tuple[Any, NDArray[np.float16], str]:
    """Tokenizer, token vectors and version; one copy for the process."""
    spec = importlib.util.find_spec("wordllama")
    if spec is None or not spec.submodule_search_locations:
        raise ModelUnavailable("the package wordllama is not installed", hint=HINT)
    folder = Path(next(iter(spec.submodule_search_locations)))
    weights = folder / "weights" / f"{MODEL}_{DIMENSIONS}.safetensors"
    vocabulary = folder / "tokenizers" / f"{MODEL}_tokenizer_config.json"
    try:
        from safetensors import safe_open
        from tokenizers import Tokenizer

        with safe_open(str(weights), framework="numpy") as tensors:
            vectors = tensors.get_tensor("embedding.weight")
        return Tokenizer.from_file(str(vocabulary)), vectors, version("wordllama")
    except Exception as error:  # the tokenizer's loader raises nothing narrower
        raise ModelUnavailable(f"WordLlama cannot be loaded: {error}", hint=HINT) from error


class WordLlamaEmbedder:
    """The mean of a text's token vectors, as a unit row; an empty text gives the zero row."""

    def __init__(self) -> None:
        self._tokenizer, self._vectors, self._version = _load()

    @property
    def fingerprint(self) -> str:
        return f"wordllama-{self._version}/{MODEL}/{DIMENSIONS}"

    @property
    def dimensions(self) -> int:
        return DIMENSIONS

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if isinstance(texts, str):
            raise UsageError("embed takes a list of texts, not one text")
        rows = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        # One text at a time: a row never depends on its neighbours (padding), and the
        # tokenizer's thread pool, which does not survive a fork, is never started.
        for row, text in zip(rows, texts, strict=True):
            whole = text.encode("utf-8", "replace").decode("utf-8")  # lone surrogates
            ids = self._tokenizer.encode(whole, add_special_tokens=False).ids
            if ids:
                row[:] = self._vectors[ids].sum(axis=0, dtype=np.float32)
                length = np.sqrt(np.square(row, dtype=np.float64).sum())
                if length > 0:
                    row /= length
        return rows
