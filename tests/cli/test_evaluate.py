"""`metamem evaluate`: by task, part of the tasks, and designs that do not run."""

import re

import pytest

from metamem import evaluate
from metamem.core.progress import Silent
from tests.cli.conftest import program

DESIGN = '''
from metamem.designs import Memory


class Fails(Memory):
    """Fails in its own way."""

    async def update(self, experience):
        pass

    async def retrieve(self, query):
        {}
'''
BROKEN = {
    "syntax": ("def x(:", "SyntaxError: invalid syntax (broken.py, line 1)"),
    "class": ("x = 1", "no subclass"),
    "type": (DESIGN.format("return 5"), "text or a dict"),
    "crash": (DESIGN.format("raise KeyError('lost')"), "lost"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_design_that_does_not_run_is_an_error_unless_another_ran(metamem, tmp_path, kind):
    source, words = BROKEN[kind]
    file = tmp_path / "broken.py"
    file.write_text(source)
    where = ("--domain", "toy", "--tasks", 5, "--home", tmp_path / "home", "--quiet")
    said = metamem("evaluate", file, *where)
    assert said.code == 1 and said.out == ""
    assert "does not run" in said.err and words in said.err
    assert "Traceback" not in said.err
    with_json = metamem("evaluate", file, *where, "--json")
    assert with_json.code == 1
    assert {row["reward"] for row in with_json.json[0]["rows"]} == {0.0}
    beside = metamem("evaluate", file, "no_memory", *where)
    assert beside.code == 0
    assert f"{file} does not run" in beside.out.replace("\n", "")


def test_results_by_task(metamem, tmp_path, monkeypatch):
    designs = ("no_memory", "success_retrieval")
    where = ("--domain", "toy", "--tasks", 6, "--repeats", 2, "--home", tmp_path, "--quiet")
    told = metamem("evaluate", *designs, *where, "--json").json
    assert [len(design["rows"]) for design in told] == [12, 12]
    assert all(row["kind"] for row in told[0]["rows"])
    means = {}
    for row in told[1]["rows"]:
        means.setdefault(row["task"], []).append(row["reward"])
    assert sum(map(sum, means.values())) / 12 == pytest.approx(told[1]["mean"])
    said = metamem("evaluate", *designs, *where, "--by-task").out
    assert said.startswith("toy, valid: only 6 of 40 tasks")
    for task, rewards in means.items():
        (line,) = [line for line in said.splitlines() if line.startswith(task)]
        assert line.split()[4] == f"{sum(rewards) / 2:.2f}"
    for width in (40, 60):
        monkeypatch.setenv("COLUMNS", str(width))
        narrow = metamem("evaluate", *designs, *where, "--by-task").out
        assert max(map(len, narrow.splitlines())) <= width
        assert all(task in narrow for task in means)


def test_what_memory_is_given_is_said_by_two_options(metamem, tmp_path):
    where = ("--domain", "toy", "--home", tmp_path, "--quiet", "--json")
    ways = {
        "usual": (),
        "none": ("--experience", "none"),
        "scrambled": ("--experience", "scrambled"),
        "again": ("--collected-by", "success_retrieval"),
    }
    told = {
        way: metamem("evaluate", "success_retrieval", "no_memory", *where, *options).json
        for way, options in ways.items()
    }
    assert len({found[0]["conditions"] for found in told.values()}) == len(ways)
    design, nothing = told["none"]
    assert design["mean"] == nothing["mean"] < told["usual"][0]["mean"]
    assert told["again"][0]["mean"] > told["usual"][0]["mean"]  # it has more successes to go by
    wrong = metamem("evaluate", "no_memory", *where, "--experience", "half")
    assert wrong.code == 2 and "whole, none, scrambled" in wrong.err
    nobody = metamem("evaluate", "no_memory", *where, "--collected-by", "nobody")
    assert nobody.code == 2 and "no design called 'nobody'" in nobody.err
    sizes = ("--sizes", "0,4", "--split", "valid", "--collected-by", "success_retrieval")
    assert len(metamem("curve", "no_memory", *where, *sizes).json["rows"][0]["points"]) == 2
    assert metamem("learn", "toy", "--experience", "none").code == 2


def test_a_part_of_the_tasks_is_kept_apart_and_grows(metamem, tmp_path):
    where = ("--domain", "toy", "--home", tmp_path, "--quiet", "--json")
    few, more = (metamem("evaluate", "no_memory", *where, "--tasks", n).json[0] for n in (5, 10))
    whole = metamem("evaluate", "no_memory", *where).json[0]
    assert len({few["conditions"], more["conditions"], whole["conditions"]}) == 3
    tasks = [{row["task"] for row in found["rows"]} for found in (few, more, whole)]
    assert tasks[0] < tasks[1] < tasks[2] and len(tasks[0]) == 5
    rewards = {row["task"]: row["reward"] for row in whole["rows"]}
    assert all(rewards[row["task"]] == row["reward"] for row in few["rows"])  # the same luck
    too_many = metamem("evaluate", "no_memory", *where, "--tasks", 41)
    assert too_many.code == 2 and "there are 40" in too_many.err
    assert metamem("learn", "toy", "--tasks", 5).code == 2


def test_memory_is_asked_again_while_acting_on_request(metamem, tmp_path):
    file = tmp_path / "later.py"
    file.write_text(DESIGN.format("return f'{len(query.steps)} steps' if query.steps else ''"))
    where = ("--domain", "toy", "--tasks", 5, "--home", tmp_path, "--quiet", "--json")
    once, again = (
        metamem("evaluate", file, *where, *more).json[0] for more in ((), ("--ask", "every:2"))
    )
    assert {row["advice_tokens"] for row in once["rows"]} == {0}
    assert all(row["advice_tokens"] for row in again["rows"] if row["steps"] > 2)
    assert once["conditions"] != again["conditions"]


def test_a_design_is_shown_with_the_conditions_of_its_scores(metamem, tmp_path, monkeypatch):
    where = ("--home", tmp_path)
    metamem("evaluate", "success_retrieval", "--domain", "toy", "--tasks", 5, "-q", *where)
    other = ("--seed", 3, "--domain", "toy", "--tasks", 5, "-q", *where)
    metamem("evaluate", "success_retrieval", *other)
    for width in (40, 120):  # the code can be copied whatever the screen
        monkeypatch.setenv("COLUMNS", str(width))
        said = metamem("archive", "show", "success_retrieval", *where).out
        code = metamem("archive", "show", "success_retrieval", "--code", *where).out
        assert said.endswith(code)
        for word in ("toy", "valid, 5 tasks", "reader-", "none"):
            assert word in said
    assert re.search(r"valid, 5 tasks +0 .*valid, 5 tasks +3 ", said, re.DOTALL)
    scores = metamem("archive", "show", "success_retrieval", "--json", *where).json["evaluations"]
    assert {score["seed"] for score in scores} == {0, 3}
    assert scores[0]["models"] == {}


def test_progress_counts_cases(tmp_path):
    said = program("evaluate", "no_memory", "--domain", "toy", "--home", tmp_path)
    assert "collecting experiences (40)" in said.stderr
    assert "evaluating on valid (40)" in said.stderr
    again = program("evaluate", "no_memory", "--domain", "toy", "--home", tmp_path)
    assert "evaluating" not in again.stderr  # nothing is left to play


class Counted(Silent):
    def __init__(self):
        self.phases = []

    def phase(self, name, total=0):
        self.phases.append([name, total, 0])

    def advance(self, amount=1):
        self.phases[-1][2] += amount


def test_every_case_moves_the_bar_and_all_of_them_fill_it(tmp_path):
    watch = Counted()
    evaluate(["no_memory", "success_retrieval"], "toy", home=tmp_path, progress=watch)
    assert watch.phases == [["collecting experiences", 40, 40], ["evaluating on valid", 80, 80]]


def test_settings_of_the_domain_are_taken_and_wrong_ones_refused(metamem, tmp_path):
    where = ("--domain", "dialogue", "--split", "valid", "--home", tmp_path, "--quiet", "--json")
    sizes = ("--setting", "valid=1", "--setting", "train=2", "--setting", "questions=3")
    said = metamem("evaluate", "no_memory", *where, *sizes)
    assert len(said.json[0]["rows"]) == 3
    for wrong, words in (
        ("valid", "is no setting"),
        ("valid=many", "valid is a number, not 'many'"),
        ("moons=1", "it takes: "),
    ):
        refused = metamem("evaluate", "no_memory", *where, "--setting", wrong)
        assert refused.code != 0 and words in refused.err
        assert "Traceback" not in refused.err


def test_the_agent_can_be_set_and_another_can_collect(metamem, tmp_path):
    common = ("evaluate", "success_retrieval", "--domain", "toy", "--home", tmp_path, "--quiet")
    alone = metamem(*common, "--agent", "random", "--json").json[0]
    taught = metamem(*common, "--agent", "random", "--collector", "reader", "--json").json[0]
    assert taught["conditions"] != alone["conditions"]
    # the reader wins more of what memory learns from than one who acts blindly
    assert taught["tokens"] > alone["tokens"]
    for given, words in {
        ("--agent-setting", "examples=6"): "add --agent NAME",
        ("--agent", "llm", "--agent-setting", "examples"): "--agent-setting NAME=VALUE",
        ("--agent", "llm", "--agent-setting", "exmples=6"): "exmples",
        ("--collector", "redaer"): "did you mean 'reader'?",
    }.items():
        said = metamem(*common, *given)
        assert (said.code, words in said.err) == (2, True), said.err
