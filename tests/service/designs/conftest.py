from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.designs.parts import Home


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path)
    yield made
    made.close()
