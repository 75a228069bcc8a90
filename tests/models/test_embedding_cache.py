"""The cache changes how often a text is embedded and nothing else."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.core.errors import UsageError
from metamem.models.embedding_cache import CachedEmbedder
from metamem.models.hashed_embedder import HashedEmbedder

plain = HashedEmbedder()
words = st.sampled_from(["a cup", "a shelf", "two books", "", "a box", "the lamp"])


@given(st.lists(st.lists(words, max_size=5), max_size=8), st.integers(1, 4))
def test_equal_results_for_any_sequence_of_batches(batches: list[list[str]], size: int) -> None:
    cached = CachedEmbedder(plain, size=size)
    for batch in batches:
        np.testing.assert_array_equal(cached.embed(batch), plain.embed(batch))


def test_repeats_are_hits_and_the_least_recent_text_leaves() -> None:
    cached = CachedEmbedder(plain, size=2)
    cached.embed(["a", "b", "a"])
    assert (cached.hits, cached.misses) == (0, 2)  # the second "a" was in flight, not cached
    cached.embed(["a", "c"])  # now "b" is the oldest
    cached.embed(["a", "c"])
    assert (cached.hits, cached.misses) == (3, 3)
    cached.embed(["b"])
    assert cached.misses == 4


def test_changing_a_result_does_not_change_the_cache() -> None:
    cached = CachedEmbedder(plain)
    cached.embed(["a cup"])[:] = 0
    cached.embed(["a cup"])[:] = 0
    np.testing.assert_array_equal(cached.embed(["a cup"]), plain.embed(["a cup"]))


def test_threads_share_it_safely() -> None:
    cached = CachedEmbedder(plain, size=8)
    texts = [f"text number {i}" for i in range(40)]
    expected = plain.embed(texts)
    wrong: list[int] = []

    def read(offset: int) -> None:
        for i in range(len(texts) * 5):
            place = (i * 7 + offset) % len(texts)
            if not np.array_equal(cached.embed([texts[place]])[0], expected[place]):
                wrong.append(place)

    threads = [threading.Thread(target=read, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_same_name_and_size_checked() -> None:
    assert CachedEmbedder(plain).fingerprint == plain.fingerprint
    with pytest.raises(UsageError, match="at least one"):
        CachedEmbedder(plain, size=0)
