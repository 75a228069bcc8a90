"""The command line, run in this process or as a program of its own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass

import pytest

from metamem.cli.main import run
from metamem.store.sqlite import SqliteArchive
from tests.report.filled import Filler


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def metamem(capsys, monkeypatch):
    """Call the program: `metamem("runs", "list")`."""
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("METAMEM_HOME", raising=False)
    monkeypatch.setenv("METAMEM_DEBUG", "")

    def call(*arguments):
        capsys.readouterr()
        code = run([str(a) for a in arguments])
        said = capsys.readouterr()
        return Said(code, said.out, said.err)

    return call


@pytest.fixture
def home(tmp_path):
    """A folder with a finished run in its archive."""
    folder = tmp_path / "home"
    folder.mkdir()
    with SqliteArchive(folder / "archive.db") as archive:
        Filler(archive).run()
    return folder


def program(*arguments, **options):
    """The program as its own process."""
    environment = {**os.environ, "COLUMNS": "100"} | options.pop("env", {})
    return subprocess.run(
        [sys.executable, "-m", "metamem.cli.main", *map(str, arguments)],
        capture_output=True,
        timeout=120,
        env=environment,
        **{"text": True} | options,
    )
