"""What `pip install` of the built wheel gives: all of metamem, and nothing of the checkout."""

import json
import os
import subprocess
import sys
import venv
import zipfile
from email.parser import BytesParser
from importlib.metadata import distribution
from pathlib import Path

import pytest

from metamem.core.extras import EXTRAS
from tests.test_project import ROOT

PACKAGE = ROOT / "src" / "metamem"


def run(*command: object, **options: object) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=250, **options
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    # With the build backend that is installed here: no network, and nothing that was built before.
    offline = ("--no-deps", "--no-build-isolation", "--no-index", "--no-cache-dir")
    run(sys.executable, "-m", "pip", "wheel", "-q", *offline, "-w", folder, ROOT)
    (made,) = folder.glob("metamem-*.whl")
    return made


def test_it_holds_every_file_of_the_package(wheel: Path) -> None:
    ours = {
        f"metamem/{path.relative_to(PACKAGE).as_posix()}"
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert packed == ours
    suffixes = {Path(name).suffix for name in packed}
    assert suffixes >= {".py", ".md", ".toml", ".txt", ".typed"}


def test_its_metadata_name_the_extras_the_license_and_the_program(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        (folder,) = {n.split("/")[0] for n in packed.namelist() if ".dist-info/" in n}
        metadata = BytesParser().parsebytes(packed.read(f"{folder}/METADATA"))
        entries = packed.read(f"{folder}/entry_points.txt").decode()
        assert f"{folder}/licenses/LICENSE" in packed.namelist()
    assert set(EXTRAS) <= set(metadata.get_all("Provides-Extra", []))
    assert any("setuptools<82" in line for line in metadata.get_all("Requires-Dist", []))
    assert "metamem = metamem.cli.main:main" in entries


@pytest.fixture(scope="module")
def program(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of an environment that holds the wheel, and sees the packages that it needs."""
    place = tmp_path_factory.mktemp("installed") / "env"
    venv.create(place, symlinks=True)
    pip = (sys.executable, "-m", "pip", "--python", place / "bin" / "python")
    run(*pip, "install", "-q", "--no-deps", "--no-index", wheel)
    (packages,) = place.glob("lib/python*/site-packages")
    (packages / "others.pth").write_text(f"{distribution('rich').locate_file('')}\n")
    return place / "bin" / "metamem"


@pytest.fixture
def outside(program: Path, tmp_path: Path):
    """Call the installed program from a folder far from the checkout, and none of its variables."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "METAMEM_HOME"))}

    def call(*arguments: object) -> subprocess.CompletedProcess[str]:
        return run(program, *arguments, cwd=tmp_path, env={**kept, "PYTHONNOUSERSITE": "1"})

    where = "import metamem, sys; print(metamem.__file__); print(*sys.path, sep='\\n')"
    said = run(program.with_name("python"), "-c", where, cwd=tmp_path, env=kept).stdout
    assert str(program.parents[1]) in said.splitlines()[0]
    assert str(ROOT / "src") not in said
    return call


def test_it_tells_what_there_is(outside) -> None:
    assert "learn" in outside("--help").stdout
    assert "success_retrieval" in outside("designs").stdout
    assert json.loads(outside("domains", "show", "coding", "--json").stdout)["tasks"]["train"] > 10


@pytest.mark.slow
def test_doctor_finds_everything_in_working_order(outside) -> None:
    said = json.loads(outside("doctor", "--json").stdout)
    assert said["usable"], said


@pytest.mark.slow
def test_it_learns_and_reports(outside, tmp_path: Path) -> None:
    result = json.loads(
        outside("learn", "toy", "--designs", 1, "--no-control", "--quiet", "--json").stdout
    )
    report = Path(result["report"])
    assert report.is_relative_to(tmp_path) or (tmp_path / report).is_file()
    assert "<!doctype html>" in (tmp_path / report).read_text()
    assert "metamem" in outside("handoff", "skill").stdout
