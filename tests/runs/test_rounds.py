"""Rounds of collection: what the best memory so far sees, all designs learn from in the next."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest

import metamem
from metamem.api import open_home
from metamem.core.errors import UsageError
from metamem.core.progress import Silent
from metamem.core.types import Design
from metamem.evaluation.jobs import Spec
from metamem.evaluation.rules import Rules
from metamem.report.page import render_report
from metamem.runs.summary import Summary
from metamem.search.budget import Budget
from tests.runs.test_attribution import SMALL
from tests.runs.test_runs import contents
from tests.runs.vault import NOTES

INLINE = Spec("inline")
VAULT = "tests.runs.vault:Vault"
TAKER = Spec("tests.runs.vault:NoteTaker")
TWO = {**SMALL, "designs": 2, "batch": 1, "rounds": 2}
NULL = {**SMALL, "designs": 4, "batch": 2, "confirm": 2, "shortlist": 2, "rounds": 2}


def learned(home, settings, domain=VAULT, **more):
    return metamem.learn(domain, home=home, run="toy", executor=INLINE, **{**settings, **more})


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    home = tmp_path_factory.mktemp("rounds")
    return home, learned(home, TWO, proposer=TAKER)


def test_two_rounds_find_what_one_cannot(undisturbed, tmp_path):
    _, two = undisturbed
    one = learned(tmp_path, {**TWO, "rounds": 1}, proposer=TAKER)
    assert one.summary.rounds == ()
    assert one.summary.row("test").mean < 0.4
    assert two.summary.row("test").mean > 0.8
    assert two.promoted
    first, second = two.summary.rounds
    assert (first.collector, first.won) == ("", 0.0)
    assert (second.collector, second.episodes) == (first.best, 20)
    assert second.won > 0.0
    assert second.score > 0.8 > first.score
    assert "won; best on train" in second.told(two.summary.scale)


def test_all_designs_learn_from_the_larger_collection_of_the_last_round(undisturbed):
    home, result = undisturbed
    collectors = [result.summary.rounds[1].collector]
    with open_home(home) as archive:
        for row in (row for rows in result.summary.tables.values() for row in rows):
            rules = archive.evaluation(row.evaluation).fingerprint.rules
            assert rules["collectors"] == collectors
        journal = archive.proposals("toy")
    first, *later = (p for p in journal if p.operator != "human")
    assert (first.status, first.evidence.get("round", 1)) == ("accepted", 1)
    assert {p.evidence["round"] for p in later} == {2}
    human = result.summary.row("test", "success_retrieval")
    assert human.mean > 0.0  # there is a success to retrieve now


def test_what_was_played_by_hand_under_the_same_conditions_is_the_same(undisturbed):
    home, result = undisturbed
    rules = Rules(collectors=(result.summary.rounds[1].collector,))
    (found,) = metamem.evaluate(
        result.learned, VAULT, "test", home=home, executor=INLINE, rules=rules
    )
    assert found.id == result.summary.row("test").evaluation


def test_the_run_tells_of_its_rounds_and_how_to_repeat_them(undisturbed):
    home, result = undisturbed
    with open_home(home) as archive:
        stored = Summary.from_json(archive.run("toy").summary)
        page = render_report(archive, "toy")
    assert stored.rounds == result.summary.rounds
    assert "Round 2: 20 episodes collected with" in page
    assert "--rounds 2" in page


def test_across_domains_each_is_played_with_its_own_rounds(undisturbed, tmp_path):
    home = tmp_path / "home"
    shutil.copytree(undisturbed[0], home)
    metamem.learn("toy", home=home, executor=INLINE, **SMALL)
    found = metamem.across(home=home, executor=INLINE)
    assert found.complete
    collectors = undisturbed[1].summary.rounds[1].collector
    with open_home(home) as archive:
        for row in found.rows:
            for domain, cell in row.cells.items():
                rules = archive.evaluation(cell.evaluation).fingerprint.rules
                assert rules.get("collectors", []) == ([collectors] if domain == "vault" else [])


class StopsAt(Silent):
    """Ctrl-C after so many cases."""

    def __init__(self, cases):
        self.left = cases

    def cases(self, amount=1):
        self.left -= amount
        if self.left == 0:
            raise KeyboardInterrupt


def test_stopped_again_and_again_a_run_ends_as_if_undisturbed(undisturbed, tmp_path):
    home, _ = undisturbed
    luck, stops = random.Random(3), 0
    while True:
        try:
            watch = StopsAt(luck.randint(5, 90))
            learned(tmp_path, TWO, proposer=TAKER, progress=watch)
            break
        except KeyboardInterrupt:
            stops += 1
    assert stops > 3
    assert contents(tmp_path, "toy") == contents(home, "toy")


PROGRAM = """
import sys
from tests.runs.test_rounds import TAKER, TWO, learned
learned(sys.argv[1], TWO, proposer=TAKER)
"""


@pytest.mark.slow
def test_killed_at_random_moments_a_run_in_rounds_ends_as_if_undisturbed(undisturbed, tmp_path):
    home, _ = undisturbed
    luck, kills = random.Random(1), 0
    while True:
        command = [sys.executable, "-c", PROGRAM, str(tmp_path)]
        process = subprocess.Popen(command, start_new_session=True)
        limit = time.monotonic() + (luck.uniform(0.8, 3.0) if kills < 5 else 300)
        while process.poll() is None and time.monotonic() < limit:
            time.sleep(0.01)
        if process.poll() is not None:
            assert process.returncode == 0
            break
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        kills += 1
    assert contents(tmp_path, "toy") == contents(home, "toy")


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_where_memory_cannot_help_rounds_promote_nothing(tmp_path, seed):
    anywhere = "tests.runs.test_attribution:Anywhere"
    result = learned(tmp_path, NULL, anywhere, seed=seed)
    assert not result.promoted
    assert len(result.summary.rounds) == 2


def test_rounds_are_no_part_of_what_has_none():
    assert "collectors" not in Rules().to_json()
    with_one = Rules(collectors=("a",))
    assert with_one.to_json()["collectors"] == ["a"]
    assert Rules.from_json(with_one.to_json()) == with_one


def test_a_memory_that_fails_collects_nothing_of_what_it_failed_in(tmp_path):
    source = NOTES.format(number=0).replace(
        "if not self.way:", 'raise ValueError("no")\n        if 1:'
    )
    broken = Design(source)
    with open_home(tmp_path) as archive:
        archive.add_design(broken, created_by="test")
    rules = Rules(collectors=(broken.id,))
    told = [
        metamem.evaluate(
            Design(NOTES.format(number=1)), VAULT, home=tmp_path, executor=INLINE, rules=each
        )[0].by_task()
        for each in (rules, Rules())
    ]
    assert told[0] == told[1]


def test_what_cannot_be_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(UsageError, match="nothing is collected"):
        learned(tmp_path, TWO, "dialogue")
    with pytest.raises(UsageError, match="nothing is collected"):
        learned(tmp_path, TWO, "dials", proposer=Spec("gaussian"))
    with pytest.raises(UsageError, match="too few for 3 rounds"):
        learned(tmp_path, TWO, rounds=3)
    with pytest.raises(UsageError, match="waits for somebody"):
        learned(tmp_path, TWO, proposer=Spec("handoff"))
    with pytest.raises(UsageError, match="nothing is collected"):
        metamem.evaluate("no_memory", "dialogue", home=tmp_path, executor=INLINE,
                         rules=Rules(collectors=("a",)))  # fmt: skip
    with open_home(tmp_path) as archive:
        assert archive.runs() == []


def test_shares_of_a_budget_add_up():
    budget = Budget(designs=7, seconds=10.0)
    assert [budget.share(n, 3).designs for n in (1, 2, 3)] == [2, 4, 7]
    assert budget.share(3, 3) == budget
