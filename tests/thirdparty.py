"""Third-party data for tests: read where it lies, never copied into the project."""

import os
from pathlib import Path

import pytest


def third_party(name: str) -> Path:
    """The path of a third-party file, or a skip that says what is missing."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("METAMEM_DATA", beside))
    path = folder / name
    if not path.exists():
        pytest.skip(f"third-party data {name} is not in {folder} (set METAMEM_DATA to its folder)")
    return path
