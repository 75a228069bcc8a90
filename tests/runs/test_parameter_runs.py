"""Runs that learn parameters, whoever proposes: killed, spoilt, or with nothing to find."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

import metamem
from metamem.api import open_home
from metamem.core.errors import EngineFault, UsageError
from metamem.core.space import Choice, Float, Int
from metamem.evaluation.jobs import Spec
from tests.runs import tinkering

INLINE = Spec("inline")
HERE = "tests.runs.tinkering"
RIDGE = f"{HERE}:Ridge"
SMALL = {"designs": 30, "control": False, "explain": False, "confirm_seeds": 1, "final_repeats": 1}


def learn(home, domain=RIDGE, **settings):
    return metamem.learn(domain, home=home, executor=INLINE, run="r", **{**SMALL, **settings})


def contents(home):
    """The journal of a run to the last digit, and what was decided."""
    with open_home(home) as archive:
        proposals = [
            (p.ordinal, p.design_id, p.parents, p.operator, p.note, p.status, p.reason, p.estimate)
            for p in archive.proposals("r")
        ]
        return proposals, archive.run("r").summary["decision"]


def warnings(result):
    return " ".join(result.summary.search.warnings)


PROGRAM = f"""
import sys, metamem
from metamem.evaluation.jobs import Spec
metamem.learn("{RIDGE}", home=sys.argv[1], run="r", executor=Spec("inline"), proposer=Spec("adaptive"),
              **{SMALL})
"""


@pytest.mark.slow
def test_what_operators_learned_outlives_kill_9(tmp_path):
    """Step widths, temperature and credit are in every note and in every value: all are the same."""
    learn(tmp_path / "undisturbed", proposer=Spec("adaptive"))
    luck, home = random.Random(1), tmp_path / "killed"
    command = [sys.executable, "-c", PROGRAM, str(home)]
    for share in (0.2, 0.5, 0.8):
        process = subprocess.Popen(command, start_new_session=True)
        while process.poll() is None and _proposed(home) < share * SMALL["designs"]:
            time.sleep(luck.uniform(0.0, 0.02))
        assert process.poll() is None, "it ended before it was killed"
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert subprocess.run(command, check=False).returncode == 0
    assert contents(home) == contents(tmp_path / "undisturbed")


def _proposed(home):
    if not (home / "archive.db").is_file():
        return 0
    with open_home(home) as archive:
        return len(archive.proposals("r"))


def test_scores_that_are_no_numbers_end_the_run_and_lose_nothing(tmp_path, monkeypatch):
    with pytest.raises(EngineFault, match=r"spoilt, task .*: a score of nan"):
        learn(tmp_path, f"{HERE}:Spoilt")
    with open_home(tmp_path) as archive:
        assert archive.run("r").state == "failed"
        assert archive.proposals("r")[0].operator == "human"
    monkeypatch.setattr(tinkering.Spoilt, "mended", True)
    learn(tmp_path, f"{HERE}:Spoilt")
    learn(tmp_path / "other", f"{HERE}:Spoilt")
    assert contents(tmp_path) == contents(tmp_path / "other")


def test_a_domain_without_tasks_is_refused(tmp_path):
    with pytest.raises(UsageError, match="barren has too few tasks"):
        learn(tmp_path, f"{HERE}:Barren")


def test_a_space_of_a_single_point_is_none():
    with pytest.raises(UsageError, match="from 3 to 3 is no range"):
        Int(3, 3, 3)
    with pytest.raises(UsageError, match=r"from 1\.0 to 1\.0 is no range"):
        Float(1.0, 1.0, 1.0)
    with pytest.raises(UsageError, match="two options or more"):
        Choice(("one",), "one")


@pytest.mark.parametrize("name", ["gaussian", "annealing", "crossover", "adaptive"])
def test_a_space_that_is_used_up_ends_the_search(tmp_path, name):
    found = learn(tmp_path, f"{HERE}:Switch", proposer=Spec(name), designs=6)
    counts = found.summary.search
    assert (counts.accepted, found.promoted) == (1, False)
    assert counts.duplicate == counts.proposed - 1


def test_an_operator_that_only_copies_is_told_of(tmp_path):
    operators = ["gaussian", f"{HERE}:Copies"]
    found = learn(tmp_path, proposer=Spec("adaptive", {"operators": operators}), designs=12)
    assert f"the operator {HERE}:Copies made nothing new that worked in" in warnings(found)
    assert "the operator gaussian" not in warnings(found)


def test_a_proposer_that_only_copies_is_told_of(tmp_path):
    found = learn(tmp_path, proposer=Spec(f"{HERE}:Copies"), designs=2)
    assert "the search never searched" in warnings(found)


def test_an_operator_that_is_never_asked_is_told_of(tmp_path):
    found = learn(tmp_path, proposer=Spec(f"{HERE}:Onesided"), designs=20)
    assert "the operator other was never asked in 20 proposals" in warnings(found)
    found = metamem.learn(RIDGE, home=tmp_path, executor=INLINE, **SMALL)
    assert "never asked" not in warnings(found)
