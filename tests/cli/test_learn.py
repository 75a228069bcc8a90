"""Learning from the command line, end to end: real jail, real workers, a small real search."""

import json
import shlex
import signal
import subprocess
import sys
import time

import pytest

from metamem.store.sqlite import SqliteArchive
from tests.cli.conftest import program

pytestmark = pytest.mark.slow
LEARN = ("learn", "toy", "--designs", "3", "--seed", "3", "--workers", "2")


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """One run, shared by the tests that only look at it."""
    home = tmp_path_factory.mktemp("learned") / "home"
    done = program(*LEARN, "--no-control", "--home", home)
    assert done.returncode == 0, done.stderr
    return home, done


def test_ends_with_the_table_the_decision_and_what_to_do_next(learned):
    home, done = learned
    for words in ("test: 40 tasks", "shift: 40 tasks", "no_memory", "success_retrieval", "learned"):
        assert words in done.stdout
    assert "oracle" in done.stdout and "The gate: " in done.stdout
    assert "are remembered" in " ".join(done.stdout.split())
    report = home / "reports" / "toy-s3-1.html"
    assert str(report) in done.stdout.replace("\n", "")
    assert report.read_text().startswith("<!doctype html>")
    assert "searching" in done.stderr and "Traceback" not in done.stderr
    code = next(line for line in done.stdout.splitlines() if line.startswith("The code: "))
    shown = program(*shlex.split(code.removeprefix("The code: metamem ")))
    assert "class " in shown.stdout


def test_a_finished_run_is_told_again_without_playing(learned):
    home, _ = learned
    again = program("learn", "--run", "toy-s3-1", "--json", "--quiet", "--home", home)
    assert again.returncode == 0 and again.stderr == ""
    summary = json.loads(again.stdout)
    assert summary["run"] == "toy-s3-1"
    assert [row["name"] for row in summary["tables"]["test"]][-4:] == [
        "learned",
        "learned, no experience",
        "learned, scrambled",
        "oracle",
    ]
    # The same command as before names the same settings, and so is no contradiction.
    same = program(*LEARN, "--no-control", "--run", "toy-s3-1", "--quiet", "--home", home)
    assert same.returncode == 0


def test_designs_are_compared_on_what_was_already_played(learned):
    home, _ = learned
    asked = ("no_memory", "success_retrieval", "--domain", "toy", "--seed", "3", "--home", home)
    found = program("evaluate", *asked, "--repeats", "2", "--json", "--quiet")
    assert found.returncode == 0, found.stderr
    rows = json.loads(found.stdout)
    assert rows[0]["conditions"] == rows[1]["conditions"]
    with SqliteArchive(home / "archive.db") as archive:
        before = len(archive.evaluations())
    compared = program("compare", *asked, "--repeats", "2", "--json", "--quiet")
    comparison = json.loads(compared.stdout)["comparison"]
    assert comparison["gain"] == pytest.approx(rows[0]["mean"] - rows[1]["mean"])
    assert comparison["won"] + comparison["tied"] + comparison["lost"] == 40
    assert {"p_permutation", "p_t", "wilcoxon", "bootstrap_low", "effect_size"} <= comparison.keys()
    shown = program("compare", *asked, "--repeats", "2", "--quiet")
    assert "sign-flip" in shown.stdout and "Wilcoxon" in shown.stdout
    with SqliteArchive(home / "archive.db") as archive:
        assert len(archive.evaluations()) == before


def test_a_look_at_test_is_entered_with_its_purpose(learned):
    home, _ = learned
    asked = ("no_memory", "success_retrieval", "--domain", "toy", "--seed", "3", "--home", home)
    assert program("compare", *asked, "--split", "test", "--repeats", "2").returncode == 0
    reads = json.loads(program("reads", "--json", "--home", home).stdout)
    assert [read["purpose"] for read in reads][-2:] == ["compare", "compare"]


def test_ctrl_c_stops_cleanly_and_tells_how_to_go_on(tmp_path):
    home = tmp_path / "home"
    command = [sys.executable, "-m", "metamem.cli.main", *LEARN, "--home", str(home)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        _wait_for_designs(home)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "stopped; go on with: metamem learn --run toy-s3-1" in err
    assert out == "" and "Traceback" not in err
    (run,) = json.loads(program("runs", "--json", "--home", home).stdout)
    assert run["state"] == "stopped"
    again = program(*LEARN, "--home", home)  # whoever says the same again begins anew, and is told
    assert again.returncode == 0 and "go on with it instead" in " ".join(again.stderr.split())
    assert "metamem learn --run toy-s3-1" in " ".join(again.stderr.split())


def _wait_for_designs(home):
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        if (home / "archive.db").exists():
            with SqliteArchive(home / "archive.db") as archive:
                if any(archive.proposals(run.id) for run in archive.runs()):
                    return
        time.sleep(0.1)
    raise AssertionError("the search never began")
