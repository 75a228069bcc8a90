"""Which embedder is active, and what happens where WordLlama cannot be had."""

import re
import tomllib
from pathlib import Path

import pytest

from metamem.core import extras
from metamem.models import default_embedder, describe
from metamem.models.hashed_embedder import HashedEmbedder
from metamem.models.packaged import PackagedFile
from metamem.models.wordllama_embedder import REQUIREMENT, VECTORS, VOCABULARY
from tests.models.test_embedders import run_fresh
from tests.test_project import ROOT


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


@pytest.mark.parametrize("changed", [VECTORS, VOCABULARY], ids=lambda file: file.path)
def test_other_files_than_the_tested_ones_are_an_error_and_no_fallback(
    changed: PackagedFile, tmp_path: Path
) -> None:
    for file in (VECTORS, VOCABULARY):
        copy = tmp_path / "wordllama" / file.path
        copy.parent.mkdir(parents=True)
        content = file.read()
        copy.write_bytes(content[:-1] + b" " if file == changed else content)
    (tmp_path / "wordllama" / "__init__.py").touch()
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from metamem.core.errors import Broken\n"
        "from metamem.models.embedders import open_embedder\n"
        "for name in ('auto', 'wordllama'):\n"
        "    try:\n"
        "        print(open_embedder(name).fingerprint)\n"
        "    except Broken as error:\n"
        "        print(error.message, error.hint, sep='|')\n"
    )
    told = run_fresh(code).splitlines()
    wrong = f"{tmp_path / 'wordllama' / changed.path} is not the file that metamem was tested with"
    hint = f"install it anew: {extras.pip(REQUIREMENT, again=True)}"
    assert told == [f"{wrong}|{hint}"] * 2


def test_the_version_that_is_asked_for_is_the_one_that_was_tested() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert REQUIREMENT in project["dependencies"]
    version = re.search(r"^wordllama==(\S+)", (ROOT / "requirements.lock").read_text(), re.M)
    # What was made with it is on record under this name.
    assert default_embedder().fingerprint == f"wordllama-{version[1]}/l2_supercat/256"
