"""A whole run on the toy domain: learning, repeating, stopping, resuming."""

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

import metamem
from metamem.api import open_home
from metamem.core.errors import Busy, StoreError, UsageError
from metamem.core.progress import Silent
from metamem.evaluation.inline import InlineExecutor
from metamem.evaluation.jobs import Spec
from metamem.runs.config import LearnConfig
from metamem.runs.learn import learn
from metamem.runs.opening import Stage
from metamem.runs.summary import VERSION, Summary
from metamem.store.archive import state_now

INLINE = Spec("inline")
SMALL = {
    "designs": 8,
    "batch": 4,
    "confirm": 3,
    "confirm_seeds": 1,
    "shortlist": 2,
    "final_repeats": 1,
}


def contents(home, run):
    """All that must not depend on how a run was played: journals, rows, decision, tables."""
    with open_home(home) as archive:
        journals = [archive.proposals(name) for name in (run, f"{run}/control")]
        used = {p.evaluation_id for journal in journals for p in journal} - {None}
        rows = {e: archive.evaluation(e).rows for e in used}
        decisions = [(p.subject.id, p.decision, p.reason) for p in archive.promotions(run)]
        tables = {
            split: [{k: v for k, v in row.items() if k not in ("seconds", "retrieve_ms")}
                    for row in table]
            for split, table in archive.run(run).summary["tables"].items()
        }  # fmt: skip
    return journals, rows, decisions, tables


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    home = tmp_path_factory.mktemp("undisturbed")
    result = metamem.learn("toy", home=home, run="toy", executor=INLINE, seed=5, **SMALL)
    return home, result


def test_a_run_ends_with_a_decision_and_a_table(undisturbed):
    home, result = undisturbed
    journals, _, decisions, tables = contents(home, "toy")
    duplicates = sum(p.status == "duplicate" for p in journals[0])
    free = min(duplicates, SMALL["designs"])  # so many cost nothing
    assert len(journals[0]) == 3 + SMALL["designs"] + free
    assert [p.ordinal for p in journals[0]] == list(range(len(journals[0])))
    assert len(decisions) == 1
    names = [row["name"] for row in tables["test"]]
    assert names[:3] == ["no_memory", "trajectory_retrieval", "success_retrieval"]
    itself = ["learned", "learned, no experience", "learned, scrambled"]
    assert names[3:] == ["random recombination", *itself, "oracle"]
    by_name = {row["name"]: row for row in tables["test"]}
    assert by_name["oracle"]["mean"] > 0.9 > by_name["no_memory"]["mean"]
    assert result.learned is not None


def test_children_name_their_parents_and_differ_from_them(undisturbed):
    home, _ = undisturbed
    with open_home(home) as archive:
        children = [p for p in archive.proposals("toy") if p.status == "accepted" and p.parents]
        assert children
        for child in children:
            for parent in child.parents:
                assert archive.design(parent).source != archive.design(child.design_id).source


def test_reads_of_test_and_shift_are_in_the_ledger(undisturbed):
    home, result = undisturbed
    with open_home(home) as archive:
        reads = archive.reads()
    assert {r.split for r in reads} == {"test", "shift"}
    assert len(reads) == 2 * len(result.summary.tables["test"])
    assert all(r.purpose == "report" and r.run_id == "toy" for r in reads)


def test_the_same_seed_gives_the_same_run_whatever_the_executor(undisturbed, tmp_path):
    home, _ = undisturbed
    local = Spec("local", {"workers": 2})
    metamem.learn("toy", home=tmp_path, run="toy", executor=local, seed=5, **SMALL)
    assert contents(tmp_path, "toy") == contents(home, "toy")


def test_a_finished_run_is_not_played_again(undisturbed):
    home, result = undisturbed
    again = metamem.learn(run="toy", home=home, executor=INLINE)
    assert again.summary == result.summary


def test_a_run_that_an_older_version_began_goes_on(undisturbed, tmp_path):
    home, _ = undisturbed
    with open_home(home) as archive:
        config = dict(archive.run("toy").config)
    for later in ("models", "hints"):  # settings that runs did not always have
        del config[later]
    with open_home(tmp_path) as archive:
        archive.create_run("toy", config)
    metamem.learn(run="toy", home=tmp_path, executor=INLINE)
    assert contents(tmp_path, "toy") == contents(home, "toy")


def test_a_known_run_keeps_its_settings(tmp_path):
    with open_home(tmp_path) as archive:
        config = LearnConfig(Spec("toy"), seed=1)
        archive.create_run("toy", config.to_json())
        other = replace(config, seed=2)
        learning = learn(Stage(archive, other, InlineExecutor(archive.blob), None, "toy"))
        with pytest.raises(StoreError, match="another config"):
            asyncio.run(learning)


def test_two_processes_cannot_work_on_one_run(tmp_path):
    with open_home(tmp_path) as archive:
        archive.create_run("toy", LearnConfig(Spec("toy")).to_json())
        with archive.lock_run("toy"), pytest.raises(Busy):
            metamem.learn("toy", run="toy", home=tmp_path, executor=INLINE)


@pytest.mark.parametrize("budget", [{"designs": -1}, {"seconds": -5.0}])
def test_negative_budgets_are_refused_before_anything_is_written(tmp_path, budget):
    with pytest.raises(UsageError):
        metamem.learn("toy", home=tmp_path, executor=INLINE, **budget)
    with open_home(tmp_path) as archive:
        assert archive.runs() == []


PROGRAM = """
import sys, metamem
from metamem.evaluation.jobs import Spec
from metamem.runs.config import LearnConfig
from metamem.runs.learn import learn
metamem.learn("toy", home=sys.argv[1], run="toy", executor=Spec("inline"), seed=5, **{settings})
"""


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_killed_at_fifty_random_moments_a_run_ends_as_if_undisturbed(undisturbed, tmp_path):
    home, _ = undisturbed
    luck, program = random.Random(0), PROGRAM.replace("{settings}", repr(SMALL))
    kills = run = finished = 0
    while kills < 50:
        run += 1
        folder = tmp_path / str(run)
        while True:
            process = subprocess.Popen([sys.executable, "-c", program, str(folder)],
                                       start_new_session=True)  # fmt: skip
            limit = time.monotonic() + (luck.uniform(0.3, 3.0) if kills < 50 else 300)
            while process.poll() is None and time.monotonic() < limit:
                time.sleep(0.01)
            if process.poll() is not None:
                assert process.returncode == 0
                break
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            kills += 1
        assert contents(folder, "toy") == contents(home, "toy")
        finished += 1
    assert finished >= 1


def _recorded(home):
    """What the archive says of the run: its seconds and, as people are shown it, its state."""
    if not (home / "archive.db").is_file():
        return 0.0, ""
    with open_home(home) as archive:
        runs = {run.id: run for run in archive.runs()}
        if "toy" not in runs:
            return 0.0, ""
        return runs["toy"].summary.get("seconds", 0.0), state_now(archive, runs["toy"])


def test_a_killed_run_says_so_and_its_working_time_is_not_lost(tmp_path):
    home, program = tmp_path / "home", PROGRAM.replace("{settings}", repr(SMALL))
    command = [sys.executable, "-c", program, str(home)]
    process = subprocess.Popen(command, start_new_session=True)
    while (seen := _recorded(home))[0] < 2.0:  # kept while it works
        assert process.poll() is None, "it ended before it was killed"
        time.sleep(0.05)
    assert seen[1] == "running"
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    before, state = _recorded(home)
    assert before >= 2.0 and state == "killed"
    begun = time.monotonic()
    assert subprocess.run(command, check=False).returncode == 0
    after, state = _recorded(home)
    assert state == "finished"
    assert before < after < before + time.monotonic() - begun


class Breaks(Silent):
    """Whoever watches a run can fail, too."""

    def __init__(self, error):
        self.error = error

    def phase(self, name, total=0):
        raise self.error


@pytest.mark.parametrize(
    ("error", "state", "told"),
    [
        (RuntimeError("the screen is gone"), "failed", "the screen is gone"),
        (RuntimeError(), "failed", "RuntimeError"),
        (UsageError("no such screen"), "stopped", "no such screen"),
        (KeyboardInterrupt(), "stopped", ""),
    ],
)
def test_a_run_that_ends_early_keeps_its_time_and_why(tmp_path, error, state, told):
    with pytest.raises(type(error)):
        metamem.learn("toy", home=tmp_path, run="toy", executor=INLINE, progress=Breaks(error))
    with open_home(tmp_path) as archive:
        run = archive.run("toy")
    assert (run.state, run.summary["version"]) == (state, VERSION)
    found = Summary.from_json(run.summary)
    assert (found.error, found.decision, found.seconds > 0) == (told, None, True)
