"""What all tests share."""

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests import quick, skips
from tests.quick import pytest_configure
from tests.skips import pytest_sessionfinish, pytest_terminal_summary

__all__ = ["pytest_configure", "pytest_sessionfinish", "pytest_terminal_summary"]

# A shell that starts the tests in the background has Ctrl-C ignored, and every program they start
# would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes tells what else the machine does.
settings.register_profile("tests", deadline=None)
settings.load_profile("tests")


def pytest_addoption(parser: pytest.Parser) -> None:
    skips.pytest_addoption(parser)
    quick.pytest_addoption(parser)


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Games and test outcomes that are kept for later: here, for this run of the tests alone. What is
    indexed or remembered on this machine is nobody's business here."""
    folder = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        folder = folder.parent  # one for all workers
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("METAMEM_CACHE", str(folder / "cache"))
        patch.setenv("METAMEM_KNOWLEDGE", str(folder / "no-knowledge"))
        patch.setenv("METAMEM_MEMORY", str(folder / "no-memory"))
        yield
