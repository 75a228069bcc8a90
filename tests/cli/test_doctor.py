"""`metamem doctor` tries what it reports on, and what is broken does not break it."""

import json
import os
import sqlite3
import tomllib
from pathlib import Path

import pytest

from metamem import __version__
from metamem.cli import doctor
from metamem.cli.attempt import Trial
from metamem.cli.trials import run
from metamem.core.errors import DataError, StoreError
from metamem.core.extras import EXTRAS
from metamem.core.progress import Silent
from metamem.store import check_file
from metamem.store.experiments import EXPERIMENTS
from metamem.store.schema import upgrade
from metamem.store.sqlite import SqliteArchive, SqliteEngine
from tests.cli.conftest import program
from tests.store.versions import earlier
from tests.test_project import ROOT

SICK = "tests.cli.sick"


def findings(said):
    return {finding["what"]: finding for finding in json.loads(said.stdout)["findings"]}


def tried(*names, seconds=60.0):
    return run([Trial("domain", f"{SICK}:{name}") for name in names], Silent(), seconds)


@pytest.fixture(scope="module")
def healthy(tmp_path_factory):
    """What doctor says of this machine, once for all tests that look at it."""
    home = tmp_path_factory.mktemp("healthy") / "home"
    said = program("doctor", "--json", "--home", home, cwd=home.parent)
    assert not home.exists()  # it only looks
    return said


def test_everything_is_tried(healthy):
    found = findings(healthy)
    assert healthy.returncode == (0 if json.loads(healthy.stdout)["usable"] else 1), healthy.stdout
    assert found["metamem"]["found"] == __version__
    assert {"Python", "cores", "disk", "archive", "embedder", "jail"} <= found.keys()
    for what in ("domain toy", "domain alfworld", "domain dialogue", "agent reader", "agent llm"):
        assert found[what]["state"] == "ok", found[what]


def test_a_home_that_cannot_be_made_is_a_finding(tmp_path):
    file = tmp_path / "file"
    file.write_text("x")
    for home in (file, file / "below"):
        found = doctor.disk(home)
        assert (found.state, found.found) == ("broken", f"{file} is no folder")
        assert "--home" in found.advice


def test_a_home_that_cannot_be_written_to_is_a_finding(tmp_path, monkeypatch):
    assert doctor.disk(tmp_path / "new").state in ("ok", "note")
    monkeypatch.setattr(os, "access", lambda *_: False)  # the tests may run as root, who may all
    found = doctor.disk(tmp_path / "new")
    assert (found.state, found.found) == ("broken", f"{tmp_path} cannot be written to")


def test_every_extra_of_the_project_is_looked_at(healthy):
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(EXTRAS) == set(declared["optional-dependencies"]) - {"dev", "build"}
    found = findings(healthy)
    for extra in EXTRAS:
        assert f"domain {extra}" in found or f"extra {extra}" in found


def test_worlds_that_die_hang_or_fail_are_findings(tmp_path):
    dying, failing, wanting, chatty = tried("Dying", "Failing", "Wanting", "Chatty")
    assert dying.state == failing.state == "broken" and dying.advice and failing.advice
    assert "exit code 3" in dying.found and "famous last words" in dying.found
    assert "RuntimeError: no world today" in failing.found
    assert (wanting.state, wanting.advice) == ("note", "name it with --data")
    assert chatty.state == "ok"
    (hanging,) = tried("Hanging", seconds=3.0)
    assert hanging.state == "broken" and "does not answer" in hanging.found


@pytest.fixture
def broken_minihack(tmp_path):
    """A place where MiniHack is installed, and its engine does not load."""
    for package in ("nle", "minihack"):
        (tmp_path / "packages" / package).mkdir(parents=True)
        (tmp_path / "packages" / package / "__init__.py").write_text("import gone_from_here\n")
    return {"PYTHONPATH": os.pathsep.join([str(tmp_path / "packages"), str(ROOT)])}


def test_a_package_that_does_not_import_is_broken_not_absent(broken_minihack, tmp_path):
    said = program("doctor", "--json", "--home", tmp_path / "home", env=broken_minihack)
    found = findings(said)["domain minihack"]
    assert said.returncode == 1 and found["state"] == "broken"
    assert "No module named 'gone_from_here'" in found["found"]
    assert "pip install" in found["advice"] and "minihack>=" in found["advice"]


def test_learning_with_a_broken_engine_says_what_does_not_import(broken_minihack, tmp_path):
    said = program(
        *("learn", "minihack", "--designs", "1", "--quiet"),
        *("--home", tmp_path / "home"),
        env=broken_minihack,
    )
    assert said.returncode == 1
    assert "No module named 'gone_from_here'" in said.stderr
    assert "pip install" in said.stderr and "minihack>=" in said.stderr
    assert "it died" not in said.stderr and "Traceback" not in said.stderr


# --- the archive ------------------------------------------------------------------------------


def listed(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_a_sound_archive_is_read_and_left_as_it_was(home):
    before = listed(home)
    assert "schema version" in str(check_file(home / "archive.db"))
    assert listed(home) == before


def test_an_archive_in_use_is_sound_too(home):
    with SqliteArchive(home / "archive.db") as archive:
        archive.put_blob("x", b"new")
        assert "schema version" in str(check_file(home / "archive.db"))


def test_an_old_archive_is_not_brought_forward(tmp_path):
    engine = SqliteEngine(tmp_path / "archive.db")
    upgrade(engine, [earlier(EXPERIMENTS, 1)])
    engine.close()
    before = listed(tmp_path)
    assert "schema version 1, brought to" in str(check_file(tmp_path / "archive.db"))
    assert listed(tmp_path) == before


def spoilt_pages(path: Path) -> None:
    content = bytearray(path.read_bytes())
    for page in range(4096, len(content), 4096):
        content[page : page + 512] = b"\xa5" * 512
    path.write_bytes(content)


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: 4096 * 3])


def not_a_database(path: Path) -> None:
    path.write_bytes(b"this is no database\n" * 500)


def of_something_else(path: Path) -> None:
    path.unlink()
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE recipes (name TEXT)")
    database.close()


def too_new(path: Path) -> None:
    database = sqlite3.connect(path)
    database.execute("INSERT INTO component_versions VALUES ('experiments', 99)")
    database.commit()
    database.close()


@pytest.mark.parametrize("spoil", [spoilt_pages, cut_short, not_a_database, of_something_else])
def test_a_damaged_archive_is_found(home, spoil):
    path = home / "archive.db"
    spoil(path)
    before = listed(home)
    with pytest.raises((DataError, StoreError)) as found:
        check_file(path)
    assert str(path) in found.value.message and found.value.hint
    assert listed(home) == before


def test_an_archive_of_a_newer_version_is_told_apart_from_a_damaged_one(home):
    too_new(home / "archive.db")
    assert check_file(home / "archive.db").is_newer
    found = findings(program("doctor", "--json", "--home", home))["archive"]
    assert found["state"] == "broken" and "upgrade" in found["advice"]


def test_doctor_reports_a_damaged_archive(home):
    spoilt_pages(home / "archive.db")
    said = program("doctor", "--json", "--home", home)
    found = findings(said)["archive"]
    assert (said.returncode, found["state"], found["advice"]) == (1, "broken", "restore a backup")
