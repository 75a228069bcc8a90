"""Where the jail cannot be (macOS, WSL 1): all that runs no learned code works, the rest refuses."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from metamem.store.sqlite import SqliteArchive
from tests.cli.conftest import program
from tests.report.filled import RUN, Filler
from tests.test_project import ROOT

NO_JAIL = 5


# Several commands in one process: to start Python is what takes the time.
ONE_AFTER_THE_OTHER = """
import json, sys
from metamem.cli.main import run
print(json.dumps([run(command) for command in json.loads(sys.argv[1])]))
"""


@pytest.fixture(params=["darwin", "wsl1"])
def there(request, tmp_path):
    """The environment of a program that runs as if on another system."""
    folder = tmp_path / "site"
    folder.mkdir()
    shutil.copy(ROOT / "tests" / "elsewhere.py", folder / "sitecustomize.py")
    return {"METAMEM_TEST_SYSTEM": request.param, "PYTHONPATH": str(folder)}


def codes(there, folder, *commands):
    """The exit code of each command, and what was said on stderr."""
    words = json.dumps([[str(word) for word in command] for command in commands])
    said = subprocess.run(
        [sys.executable, "-c", ONE_AFTER_THE_OTHER, words],
        env={**os.environ, **there},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert "Traceback" not in said.stderr and "this is a bug" not in said.stderr, said.stderr
    assert said.returncode == 0, said.stderr
    return json.loads(said.stdout.splitlines()[-1]), said.stderr


def test_what_only_looks_works(there, home, tmp_path):
    with SqliteArchive(home / "archive.db") as archive:
        learned = Filler(archive).learned.id
    commands = [
        ["--help"],
        ["learn", "--help"],
        ["domains"],
        ["designs", "list"],
        ["designs", "show", "no_memory"],
        ["agents"],
        ["models"],
        ["archive", "list", "--home", home],
        ["archive", "show", learned, "--home", home],
        ["archive", "tree", "--home", home],
        ["archive", "diff", "no_memory", learned, "--home", home],
        ["archive", "export", tmp_path / "exported", "--home", home],
        ["runs", "show", RUN, "--home", home],
        ["report", RUN, "--home", home],
        ["promotions", "--home", home],
        ["reads", "--home", home],
    ]
    ended, said = codes(there, tmp_path, *commands)
    assert ended == [0] * len(commands), said


def test_what_runs_learned_code_refuses_and_names_the_recipe(there, tmp_path):
    home = ("--home", tmp_path / "none-yet")
    ended, said = codes(there, tmp_path, ["learn", "toy", "--designs", "1", *home])
    assert ended == [NO_JAIL] and "docs/installing.md" in said
    assert not (tmp_path / "none-yet").exists()  # nothing was begun
    commands = (
        ["evaluate", "no_memory", "--domain", "toy", *home],
        ["compare", "no_memory", "success_retrieval", "--domain", "toy", *home],
    )
    ended, said = codes(there, tmp_path, *commands)
    assert ended == [NO_JAIL, NO_JAIL]
    assert said.count("cannot be run safely here") == said.count("docs/installing.md") == 2


def test_doctor_tells_it(there, tmp_path):
    said = program("doctor", "--json", "--home", tmp_path / "none-yet", env=there)
    found = {finding["what"]: finding for finding in json.loads(said.stdout)["findings"]}
    assert said.returncode == 1
    assert found["jail"]["state"] == "missing" and "docs/installing.md" in found["jail"]["advice"]
    assert found["domain toy"]["state"] == found["agent reader"]["state"] == "ok"
    assert (ROOT / "docs" / "installing.md").is_file()


def test_stored_results_are_compared_without_a_jail(there, tmp_path):
    designs = ("no_memory", "success_retrieval")
    home = ("--domain", "toy", "--home", tmp_path / "home")
    here = program("compare", *designs, *home, "--json")
    assert here.returncode == 0, here.stderr
    elsewhere = program("compare", *designs, *home, "--json", env=there)
    assert json.loads(elsewhere.stdout) == json.loads(here.stdout), elsewhere.stderr
