"""Skips are told, and under `make test` only known ones pass; a broken package is never a skip."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.skips import allowed
from tests.test_project import ROOT

CONFTEST = (
    "from tests.skips import pytest_addoption, pytest_sessionfinish, pytest_terminal_summary\n"
)
IN_TEST = """
import pytest

@pytest.mark.parametrize("n", range(3))
def test_one(n):
    if n:
        pytest.skip("no data in /some/folder")
"""
WHOLE_FILE = """
import pytest
pytest.skip("no such engine", allow_module_level=True)
"""
WELL = "def test_well():\n    pass\n"


def outcome(folder: Path, *options: str, **files: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in a project of its own, with the plug-in under test."""
    for name, text in {"conftest": CONFTEST, "test_well": WELL, **files}.items():
        (folder / f"{name}.py").write_text(text)
    path = os.pathsep.join([str(ROOT), str(folder / "packages")])
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_only_allowed_reasons_pass(tmp_path: Path, workers: tuple[str, ...]) -> None:
    listed = tmp_path / "allowed.txt"
    listed.write_text("# why\nno data in *\nno such engine\n")
    files = {"test_some": IN_TEST, "test_file": WHOLE_FILE}
    option = ("--allowed-skips", str(listed))
    said = outcome(tmp_path, *workers, *option, **files)
    assert said.returncode == 0, said.stdout
    assert "    2  no data in /some/folder" in said.stdout
    assert "    1  no such engine" in said.stdout
    listed.write_text("no data in *\n")
    said = outcome(tmp_path, *workers, *option, **files)
    assert said.returncode == 1
    assert "NOT ALLOWED  no such engine" in said.stdout
    assert "NOT ALLOWED  no data" not in said.stdout


def test_without_the_list_skips_are_only_told(tmp_path: Path) -> None:
    said = outcome(tmp_path, test_some=IN_TEST)
    assert said.returncode == 0 and "no data in /some/folder" in said.stdout


def test_a_failure_stays_a_failure(tmp_path: Path) -> None:
    listed = tmp_path / "allowed.txt"
    listed.write_text("*\n")
    bad = "def test_bad():\n    assert 0\n"
    assert outcome(tmp_path, "--allowed-skips", str(listed), test_bad=bad).returncode == 1


NEEDING = "from tests.extras import needs\nneeds('an_engine')\ndef test_it():\n    pass\n"


def test_a_package_that_is_absent_is_a_skip_and_one_that_is_broken_is_not(tmp_path: Path) -> None:
    said = outcome(tmp_path, test_needing=NEEDING)
    assert said.returncode == 0 and "the package an_engine is not installed" in said.stdout
    installed = tmp_path / "packages"
    (installed / "an_engine-1.0.dist-info").mkdir(parents=True)
    (installed / "an_engine-1.0.dist-info" / "METADATA").write_text("Name: an_engine\nVersion: 1\n")
    (installed / "an_engine.py").write_text("import gone_from_here\n")
    said = outcome(tmp_path, test_needing=NEEDING)
    assert said.returncode != 0 and "gone_from_here" in said.stdout
    (installed / "an_engine.py").write_text("")
    assert outcome(tmp_path, test_needing=NEEDING).returncode == 0


def test_make_test_holds_to_a_list_that_gives_its_reasons() -> None:
    name = "tests/allowed_skips.txt"
    assert f"--allowed-skips {name}" in (ROOT / "Makefile").read_text()
    paragraphs = (ROOT / name).read_text().strip().split("\n\n")
    assert all(paragraph.startswith("# ") for paragraph in paragraphs)
    assert "*" not in allowed(ROOT / name)


def test_no_test_skips_for_a_package_in_any_other_way() -> None:
    files = (ROOT / "tests").rglob("*.py")
    assert [
        f for f in files if "pytest.importorskip" in f.read_text() and f != Path(__file__)
    ] == []
