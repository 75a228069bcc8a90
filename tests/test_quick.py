"""`make quick` leaves out what starts processes, needs engines or is slow, without a list of tests."""

from pathlib import Path

import pytest
from hypothesis import settings

from tests.test_skips import outcome

CONFTEST = "from tests.quick import pytest_addoption, pytest_configure\n"
PROCESSES = """
import asyncio, os, subprocess
import pytest

def start(file):
    try:
        subprocess.run(["touch", file])
    except Exception:
        pass  # what is tested may catch a good deal

@pytest.fixture
def started(tmp_path):
    start(tmp_path / "x")

def test_itself():
    start("itself")

def test_by_a_fixture(started):
    raise AssertionError("not reached")

def test_by_a_thread():
    asyncio.run(asyncio.to_thread(start, "thread"))

def test_by_asyncio():
    async def go():
        await asyncio.create_subprocess_exec("touch", "asyncio")
    asyncio.run(go())

def test_forks():
    if not os.fork():
        os._exit(0)
"""
SLOW = """
import pytest

@pytest.mark.slow
def test_slow():
    raise AssertionError("not reached")
"""
ENGINE = """
from tests.extras import needs
needs("pytest")
raise AssertionError("not reached")
"""


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_it_leaves_out_what_is_not_quick(tmp_path: Path, workers: tuple[str, ...]) -> None:
    files = {"conftest": CONFTEST, "test_starts": PROCESSES, "test_s": SLOW, "test_e": ENGINE}
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow\n")
    said = outcome(tmp_path, *workers, "--quick", "-rs", **files)
    assert said.returncode == 0, said.stdout
    assert "1 passed, 7 skipped" in said.stdout, said.stdout
    assert not {"itself", "thread", "asyncio"} & {path.name for path in tmp_path.iterdir()}
    assert "starts a process" in said.stdout and "is slow" in said.stdout


def test_no_property_is_held_to_a_time() -> None:
    """On a busy machine any example may take longer than a fifth of a second."""
    assert settings().deadline is None
