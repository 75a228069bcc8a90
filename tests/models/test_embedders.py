"""Both embedders keep the same contract; WordLlama also knows paraphrases."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from metamem.core import registry
from metamem.core.errors import UsageError
from metamem.core.protocols import Embedder
from metamem.models.hashed_embedder import HashedEmbedder
from metamem.models.wordllama_embedder import WordLlamaEmbedder, _load

EMBEDDERS = [WordLlamaEmbedder(), HashedEmbedder()]
TEXTS = ["put a clean cup on the shelf", "put two books in the box", "Grüße, 世界 🌍", "ok"]

each_embedder = pytest.mark.parametrize(
    "embedder", EMBEDDERS, ids=lambda e: e.fingerprint.split("-")[0]
)


def run_fresh(code: str, hash_seed: str = "0") -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        env={"PYTHONHASHSEED": hash_seed, "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@each_embedder
class TestContract:
    def test_rows_are_unit_float32(self, embedder: Embedder) -> None:
        rows = embedder.embed(TEXTS)
        assert rows.shape == (len(TEXTS), embedder.dimensions) == (len(TEXTS), 256)
        assert rows.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)

    def test_a_batch_equals_its_texts_one_by_one(self, embedder: Embedder) -> None:
        rows = embedder.embed(TEXTS)
        for row, text in zip(rows, TEXTS, strict=True):
            np.testing.assert_array_equal(row, embedder.embed([text])[0])

    def test_nothing_to_embed(self, embedder: Embedder) -> None:
        assert embedder.embed([]).shape == (0, 256)
        assert not embedder.embed([""]).any()

    def test_one_bare_text_is_refused(self, embedder: Embedder) -> None:
        with pytest.raises(UsageError, match="list of texts"):
            embedder.embed("not a list")

    def test_shared_words_bring_texts_nearer(self, embedder: Embedder) -> None:
        query, near, far = embedder.embed(
            [
                "the printer in the hall jams on thick paper",
                "thick paper jams the printer",
                "rain is expected on the coast tomorrow",
            ]
        )
        assert query @ near > query @ far + 0.3

    def test_same_vectors_in_a_fresh_process_under_another_hash_seed(
        self, embedder: Embedder
    ) -> None:
        kind = type(embedder)
        code = (
            f"from {kind.__module__} import {kind.__name__} as E\n"
            f"print(E().embed({TEXTS!r}).tobytes().hex())"
        )
        assert run_fresh(code, "1").strip() == embedder.embed(TEXTS).tobytes().hex()


@pytest.mark.parametrize("name", ["wordllama", "hashed"])
def test_registered_by_name_with_a_telling_fingerprint(name: str) -> None:
    embedder = registry.create("embedders", name)
    assert embedder.fingerprint.startswith(name)
    assert embedder.fingerprint.endswith("/256")


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.characters(), max_size=60))
def test_any_text_gives_a_unit_or_a_zero_row(text: str) -> None:
    for embedder in EMBEDDERS:
        length = float(np.linalg.norm(embedder.embed([text])[0]))
        assert length == 0.0 or abs(length - 1.0) < 1e-5


def test_lone_surrogates_are_embedded_not_raised() -> None:
    for embedder in EMBEDDERS:
        assert np.isfinite(embedder.embed(["broken \ud800 text"])).all()


PARAPHRASES = [
    ("how do I reset my password", "I forgot my login credentials"),
    ("the car would not start this morning", "my vehicle's engine failed today"),
    ("she is a physician at the hospital", "the doctor works in a clinic"),
    ("heat the soup on the stove", "warm up some food in the kitchen"),
    ("stocks fell sharply on Monday", "the market lost value this week"),
]


def test_wordllama_finds_the_paraphrase_among_the_others() -> None:
    left = WordLlamaEmbedder().embed([a for a, _ in PARAPHRASES])
    right = WordLlamaEmbedder().embed([b for _, b in PARAPHRASES])
    assert (left @ right.T).argmax(axis=1).tolist() == list(range(len(PARAPHRASES)))


WORDLIKE = st.text(st.sampled_from("aehnotz 019.,;'()<>/s\n\t_▁é"), max_size=40)


@settings(max_examples=500)
@given(WORDLIKE)
@example("one two  three")
@example("</s> one")
@example("a" * 100 + " b")
def test_wordllama_reads_word_by_word_what_it_reads_as_a_whole(text: str) -> None:
    tokenizer, vectors, _ = _load()
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    whole = vectors[ids].sum(axis=0, dtype=np.float32) if ids else np.zeros(256, np.float32)
    assert np.array_equal(WordLlamaEmbedder().sums([text])[0], whole)


def test_wordllama_loads_without_its_package_or_an_http_client() -> None:
    code = (
        "import sys, metamem.models as m\n"
        "assert 'numpy' not in sys.modules\n"  # importing the package alone loads nothing
        "m.default_embedder().embed(['x'])\n"
        "print([n for n in ('wordllama', 'requests', 'pydantic') if n in sys.modules])"
    )
    assert run_fresh(code).strip() == "[]"
