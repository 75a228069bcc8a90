"""One server for all tests that leave it as it is."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.extras import needs
from tests.web.serving import Served, serving


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    needs("fastapi")
    with serving(Path(tmp_path_factory.mktemp("served")) / "memory") as made:
        yield made
