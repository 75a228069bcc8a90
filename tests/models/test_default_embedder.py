"""Which embedder is active, and what happens where WordLlama cannot be had."""

from metamem.models import default_embedder, describe
from metamem.models.hashed_embedder import HashedEmbedder
from tests.models.test_embedders import run_fresh


def test_wordllama_is_the_default_and_loaded_once() -> None:
    assert default_embedder().fingerprint.startswith("wordllama-")
    assert default_embedder() is default_embedder()
    assert default_embedder().fingerprint in describe()


def test_hashed_is_used_and_said_where_wordllama_is_missing() -> None:
    code = (
        "import sys\n"
        "sys.modules['BLOCKED'] = None\n"  # as if not installed
        "from metamem.models import default_embedder, describe\n"
        "print(describe())\n"
        "print(default_embedder().embed(['a cup']).tobytes().hex())"
    )
    for blocked in ("wordllama", "tokenizers", "safetensors"):
        told, vector = run_fresh(code.replace("BLOCKED", blocked)).splitlines()
        assert told.startswith(HashedEmbedder().fingerprint)
        assert "fallback" in told
        assert blocked in told
        assert vector == HashedEmbedder().embed(["a cup"]).tobytes().hex()
