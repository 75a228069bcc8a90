"""Whatever is typed wrong gets one clear line, a hint, and exit code 2; never a traceback."""

import os
import subprocess
import sys

import pytest

from metamem.store.sqlite import SqliteArchive
from tests.cli.conftest import program
from tests.report.filled import Filler


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["lern"], "'learn'"),
        (["learn", "toy", "--desgins", "3"], "--desgins"),
        (["learn", "toy", "--designs", "-3"], "--designs"),
        (["learn", "toy", "--designs", "many"], "--designs"),
        (["learn", "toy", "--seconds", "-1"], "--seconds"),
        (["learn", "toy", "--repeats", "0"], "--repeats"),
        (["learn", "toy", "--advice-tokens", "0"], "--advice-tokens"),
        (["learn", "toi"], "did you mean 'toy'"),
        (["learn"], "which domain?"),
        (["learn", "toy", "--agent", "nobody"], "no agent called 'nobody'"),
        (["learn", "toy", "--selector", "alm"], "did you mean 'alma'"),
        (["learn", "toy", "--proposer", "nobody"], "no proposer called"),
        (["learn", "toy", "--data", "/nowhere"], "takes no --data"),
        (["learn", "alfworld", "--data", "/nowhere"], "no ALFWorld games at /nowhere"),
        (["learn", "toy", "--rollout", "thawed"], "known: frozen, streaming"),
        (["learn", "toy", "--tasks-from", "beta"], "known: split, alma"),
        (["learn", "toy", "--run", "../x"], "cannot name a run"),
        (["learn", "toy", "--run", "x" * 101], "cannot name a run"),
        (["learn", "toy", "--run", ""], "an empty name cannot name a run"),
        (["learn", "--run", "unknown"], "no run called 'unknown'"),
        (["evaluate", "no_memory"], "--domain"),
        (["evaluate", "--domain", "toy"], "Missing argument"),
        (["evaluate", "no_memory", "--domain", "tay"], "did you mean 'toy'"),
        (["evaluate", "nothing", "--domain", "toy"], "no design called 'nothing'"),
        (["evaluate", "missing/file.py", "--domain", "toy"], "no design called"),
        (["compare", "no_memory", "--domain", "toy"], "which two designs"),
        (["domains", "show", "nowhere"], "no domain called"),
        (["designs", "show", "nothing"], "no design called"),
        (["runs", "list"], "there is no archive"),
        (["archive", "list"], "there is no archive"),
        (["reads"], "there is no archive"),
        (["promotions"], "there is no archive"),
        (["report", "x"], "there is no archive"),
        (["experience", "absent.json", "--scope", "local/project/x"], "No such file or directory"),
        (["experience", ".", "--scope", "local/project/x"], "Is a directory"),
    ],
)
def test_wrong_input(metamem, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    answer = metamem(*arguments)
    assert answer.code == 2
    assert said in answer.err
    assert answer.err.startswith("error: ") and len(answer.err.splitlines()) <= 2
    assert answer.out == "" and "Traceback" not in answer.err


def test_the_hint_names_the_command_that_was_misused(metamem):
    for arguments, command in (
        (["learn", "--desings", "3"], "metamem learn"),
        (["archive", "shwo"], "metamem archive"),
        (["archive", "show", "--sauce"], "metamem archive show"),
        (["--sauce"], "metamem"),
    ):
        hint = metamem(*arguments).err.splitlines()[1].strip()
        assert hint == f"{command} --help tells what there is"


def test_looking_at_what_is_not_there_makes_nothing(metamem, tmp_path):
    folder = tmp_path / "typo"
    assert metamem("runs", "list", "--home", folder).code == 2
    assert metamem("learn", "--run", "x", "--home", folder).code == 2
    assert not folder.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["runs", "show", "nothing"],
        ["report", "nothing"],
        ["archive", "show", "ffffffff"],
        ["archive", "tree", "nothing"],
        ["archive", "list", "--run", "nothing"],
        ["archive", "diff", "no_memory", "nothing"],
        ["archive", "export", "."],
        ["promotions", "undo", "ffffffff", "--reason", "x"],
        ["promotions", "undo", "no_memory", "--reason", " "],
    ],
)
def test_unknown_names_in_an_archive(metamem, home, arguments):
    answer = metamem(*arguments, "--home", home)
    assert answer.code == 2
    assert answer.err.startswith("error: ") and "Traceback" not in answer.err


def test_an_archive_that_is_none(metamem, tmp_path):
    (tmp_path / "archive.db").write_text("not a database, but long enough to be looked at" * 50)
    answer = metamem("runs", "list", "--home", tmp_path)
    assert answer.code == 3
    assert "is not an archive" in answer.err


def test_a_run_does_not_change_its_settings(metamem, home):
    answer = metamem("learn", "--run", "toy-s0-1", "--seed", "5", "--home", home)
    assert answer.code == 2
    assert "with another seed" in answer.err
    answer = metamem("learn", "alfworld", "--run", "toy-s0-1", "--home", home)
    assert (answer.code, "with another domain" in answer.err) == (2, True)


def test_a_bug_is_called_a_bug(metamem, home, tmp_path):
    with SqliteArchive(home / "archive.db") as archive:
        archive.create_run("odd", {"domain": True})  # no run of ours has such a config
    answer = metamem("runs", "show", "odd", "--home", home)
    assert answer.code == 70
    assert "this is a bug in metamem: " in answer.err and "Traceback" not in answer.err
    answer = metamem("--debug", "runs", "show", "odd", "--home", home)
    assert (answer.code, "Traceback" in answer.err) == (70, True)


def test_a_reader_that_has_seen_enough(tmp_path):
    with SqliteArchive(tmp_path / "archive.db") as archive:
        Filler(archive, "x" * 3000).run()
    command = [sys.executable, "-m", "metamem.cli.main", "archive", "list", "--home", str(tmp_path)]
    for extra in ([], ["--json"]):
        read, write = os.pipe()
        os.close(read)  # whoever was to read has gone
        done = subprocess.run(
            [*command, *extra], stdout=write, stderr=subprocess.PIPE, text=True, timeout=60
        )
        os.close(write)
        assert done.stderr == ""
        assert done.returncode == 1


@pytest.mark.parametrize("closed", ["1>&-", "2>&-", "1>&- 2>&-"])
def test_nobody_listens_at_all(tmp_path, closed):
    program = f'"{sys.executable}" -m metamem.cli.main'
    for words, code in (("archive list", 0), ("archive nothing", 2)):
        SqliteArchive(tmp_path / "archive.db").close()
        line = f"{program} {words} --home {tmp_path} {closed}"
        done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, timeout=60)
        assert (done.returncode, "bug" in done.stdout + done.stderr) == (code, False), done


def test_no_colour_where_nobody_sees_it(tmp_path):
    for env in ({}, {"NO_COLOR": "1"}):
        done = program("runs", "list", "--home", tmp_path, env=env)
        assert done.returncode == 2
        assert "\x1b" not in done.stderr


def test_the_old_name_of_an_option_works_with_a_note(metamem):
    said = metamem("learn", "toy", "--protocol", "beta")
    assert said.code == 2 and "--protocol is called --tasks-from now" in said.err
    both = metamem("learn", "toy", "--protocol", "alma", "--tasks-from", "alma")
    assert both.code == 2 and "give one of them" in both.err
