from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.foundry.tools.shop import Shop, opened


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    """A project without a past."""
    with opened(tmp_path, sessions=0) as made:
        yield made


@pytest.fixture
def lived(tmp_path: Path) -> Iterator[Shop]:
    """A project in which the same was done forty times."""
    with opened(tmp_path) as made:
        yield made
