"""A user's home for each test; no daemon outlives it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.foundry.living import Agents


@pytest.fixture
def agents(tmp_path: Path) -> Iterator[Agents]:
    made = Agents(tmp_path)
    yield made
    made.end()
