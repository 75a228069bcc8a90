from collections.abc import Iterator
from pathlib import Path

import pytest

from metamem.foundry.failures.tables import FAILURES
from metamem.service.database import Database


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "memory.db", also=[FAILURES])
    yield database
    database.close()
