"""Promises about the project's own files."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_locks_pin_versions_and_hashes_and_name_no_address(lock):
    text = (ROOT / lock).read_text()
    assert not re.search(r"https?://|file:|--(extra-)?index", text)
    pinned = re.findall(r"^[a-z0-9._-]+==\S+ \\$", text, re.MULTILINE | re.IGNORECASE)
    assert len(pinned) > 20
    assert text.count("--hash=sha256:") >= len(pinned)


def test_every_page_the_readme_links_to_is_there():
    for link in re.findall(r"\]\((docs/[^)]+)\)", (ROOT / "README.md").read_text()):
        assert (ROOT / link).is_file(), link


def test_the_ci_runs_the_readme_test_command():
    assert "make test" in (ROOT / ".ci" / "run").read_text()
    assert "make test" in (ROOT / "README.md").read_text()
