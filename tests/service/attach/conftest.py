"""A user's home for each test; no daemon outlives it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.attach.living import Life


@pytest.fixture
def life(tmp_path: Path) -> Iterator[Life]:
    made = Life(tmp_path)
    yield made
    made.end()
