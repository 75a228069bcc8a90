"""What an error says to install brings what is missing, to the Python that runs, and nothing else."""

import shlex
import sys
import tomllib
from pathlib import Path

import pytest

from metamem.core import extras
from metamem.core.errors import NotInstalled
from metamem.models.minilm_embedder import MODEL, VOCABULARY

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
LISTED = PROJECT["optional-dependencies"]


def normal(requirement: str) -> tuple[str, frozenset[str]]:
    """A name and its limits: metadata has them in another order."""
    at = next((n for n, sign in enumerate(requirement) if sign in "<>="), len(requirement))
    return requirement[:at], frozenset(requirement[at:].split(","))


@pytest.mark.parametrize("extra", extras.EXTRAS)
def test_the_command_names_the_packages_that_the_extra_has(extra: str) -> None:
    python, *words = shlex.split(extras.install(extra))
    assert python == sys.executable and words[:3] == ["-m", "pip", "install"]
    assert {normal(word) for word in words[3:]} == {normal(each) for each in LISTED[extra]}
    assert not any(word.partition("[")[0] == "metamem" for word in words)  # another project's name


def test_an_absent_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(extras.EXTRAS, "gymnasium", ("gymnasium", "no_such_package"))  # type: ignore[index]
    with pytest.raises(NotInstalled, match="no_such_package") as caught:
        extras.require("gymnasium")
    assert "the extra gymnasium" in caught.value.message
    assert caught.value.hint == extras.install("gymnasium")


def test_the_files_of_minilm_are_those_that_the_extra_brings() -> None:
    assert {MODEL.requirement, VOCABULARY.requirement} <= set(LISTED["minilm"])
