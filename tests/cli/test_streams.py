"""Where output goes: terminals of other encodings, full disks, and homes that can only be read."""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import program

PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2
NARROW = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def as_anybody():
    """For root: from here on what the bits of a file say holds for it, too."""
    for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


@pytest.fixture
def sealed(home):
    """The home, in which nothing can be written or made."""
    places = [home, *home.rglob("*")]
    for place in places:
        place.chmod(0o555 if place.is_dir() else 0o444)
    yield home
    for place in places:
        place.chmod(0o755 if place.is_dir() else 0o644)


@pytest.mark.parametrize("environment", [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "latin-1"}])
def test_a_terminal_of_another_encoding_gets_the_nearest_letters(home, environment):
    latin = {"env": NARROW | environment, "encoding": "latin-1"}
    said = program("archive", "tree", "--home", home, **latin)
    assert (said.returncode, said.stderr) == (0, "")
    assert "success % on train; (...) raced out" in said.stdout and "?" not in said.stdout
    helped = program("--help", **latin)
    assert (helped.returncode, 'metamem remember "..."' in helped.stdout) == (0, True)


def test_what_is_for_programs_is_utf_8_in_every_terminal(tmp_path):
    latin = {"env": NARROW | {"LC_ALL": "C"}, "encoding": "utf-8", "cwd": tmp_path}
    place = ("--memory", tmp_path / "memory")
    kept = program("remember", "-", *place, input="The keys (Ключи) lie in the drawer.", **latin)
    assert "(Ключи)" in program("export", *place, **latin).stdout, kept


def test_errors_in_another_encoding_are_still_told(home):
    said = program("runs", "show", "“toy”", "--home", home, env=NARROW | {"LC_ALL": "C"})
    assert said.returncode == 2 and said.stderr.startswith("error: no run called")


@pytest.mark.parametrize("extra", [[], ["--json"]])
def test_output_that_no_disk_holds_is_no_bug(home, extra):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "metamem.cli.main", "runs", "--home", str(home), *extra],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
    assert done.returncode == 1
    assert done.stderr.startswith("error: the disk is full: the output could not be written whole")


def test_a_home_that_can_only_be_read_can_be_looked_at(sealed):
    for words in (["runs"], ["archive", "list"], ["reads"], ["runs", "show", "toy-s0-1"]):
        said = program(*words, "--home", sealed, preexec_fn=as_anybody)
        assert (said.returncode, said.stderr) == (0, ""), said.stderr
        assert "toy" in said.stdout
    assert sorted(each.name for each in sealed.iterdir()) == ["archive.db"]


def test_what_would_change_such_a_home_is_refused(sealed):
    undo = ["promotions", "undo", "learned", "--reason", "x"]
    for words in (undo, ["learn", "toy", "--designs", "3"]):
        said = program(*words, "--home", sealed, preexec_fn=as_anybody)
        assert said.returncode in (2, 4) and "Traceback" not in said.stderr
        assert said.stderr.startswith("error: ") and "bug" not in said.stderr


def test_a_copy_of_a_home_in_which_nothing_waits_to_be_written(sealed, tmp_path):
    """Copied while somebody had it open: an empty log lies beside the file."""
    copy = tmp_path / "copy"
    shutil.copytree(sealed, copy)
    copy.chmod(0o755)
    (copy / "archive.db-wal").touch(mode=0o444)
    copy.chmod(0o555)
    said = program("runs", "--home", copy, preexec_fn=as_anybody)
    copy.chmod(0o755)
    assert (said.returncode, "toy-s0-1" in said.stdout) == (0, True), said.stderr


def test_the_package_itself_is_the_program():
    said = subprocess.run(
        [sys.executable, "-m", "metamem", "--version"],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ},
    )
    assert said.stdout.startswith("metamem ")
