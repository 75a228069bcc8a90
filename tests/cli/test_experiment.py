"""metamem experiment: from the command line, with clear words where it cannot be."""

import pytest

TOWNS = "tests.runs.towns:Towns"


@pytest.fixture(scope="module")
def tested(tmp_path_factory):
    return tmp_path_factory.mktemp("tested")


def asked(metamem, home, hypothesis, *more):
    return metamem("experiment", TOWNS, "--hypothesis", hypothesis, "--home", home, "-q", *more)


def test_a_refusal_is_told_kept_and_shown_again(metamem, tmp_path):
    said = asked(metamem, tmp_path, "H2")
    assert said.code == 1
    assert "Refused: H2 waits for H1" in said.out
    shown = metamem("experiment", "show", "--home", tmp_path, "--json")
    (kept,) = shown.json
    assert (kept["state"], kept["plan"]["hypothesis"]) == ("refused", "H2")
    again = metamem("experiment", "show", kept["id"], "--home", tmp_path)
    assert again.code == 0 and "Refused: H2 waits for H1" in again.out
    assert "No run yet" in metamem("runs", "--home", tmp_path).out  # it is no learning run


def test_a_result_is_told_with_its_power_and_shown_again(metamem, tmp_path):
    said = asked(metamem, tmp_path, "H1", "--pilot", "6", "--workers", "1")
    assert said.code == 0, said.err
    assert "Passed: success_retrieval gains" in said.out
    assert said.out.count("Power: 40 tasks show a gain of") == 2
    listed = metamem("experiment", "show", "--home", tmp_path)
    assert "passed" in listed.out and "success_retrieval" in listed.out
    (kept,) = metamem("experiment", "show", "--home", tmp_path, "--json").json
    one = metamem("experiment", "show", kept["id"].rpartition("-")[2], "--home", tmp_path, "--json")
    assert one.json == kept
    assert kept["result"]["candidates"][0]["comparison"]["n"] == 40


def test_a_plan_is_told(metamem, tmp_path):
    said = metamem(
        "experiment", TOWNS, "--hypothesis", "H1", "--plan", "--home", tmp_path, "--assumed", "0.3"
    )
    assert said.code == 0
    assert "To be played: 3 designs on 40 tasks of valid" in said.err
    assert "a spread of 30.0 points from task to task, assumed" in " ".join(said.err.split())
    assert metamem("experiment", "show", "--home", tmp_path, "--json").json == []


def test_a_plan_that_comes_too_early_names_nothing_that_is_not_kept(metamem, tmp_path):
    plan = ("experiment", TOWNS, "--hypothesis", "H2", "--plan", "--home", tmp_path)
    said = metamem(*plan)
    assert said.code == 1
    assert "It would be refused: H2 waits for H1" in said.out and "experiment show" not in said.out
    assert "Power: 160 tasks show a rise" in said.err
    found = metamem(*plan, "--json", "-q").json
    assert (found["state"], len(found["power"])) == ("refused", 1)
    first = metamem(*plan[:3], "H1", *plan[4:], "--json", "-q")
    assert (first.code, first.json["state"]) == (0, "planned")


def test_ctrl_c_says_how_to_go_on(metamem, tmp_path, monkeypatch):
    def stopped(*given, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr("metamem.experiments.experiment", stopped)
    said = asked(metamem, tmp_path, "H1")
    assert said.code == 130
    assert said.err.strip() == "stopped; go on with the same command"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere", "--hypothesis", "H1"], "nowhere"),
        ([TOWNS], "hypothesis"),
        ([TOWNS, "--hypothesis", "H9"], "no hypothesis 'H9'"),
        ([TOWNS, "--hypothesis", "H1", "--design", "nobody"], "nobody"),
        (
            [TOWNS, "--hypothesis", "H1", "--assumed", "0"],
            "the assumed spread must be above 0, not 0.0",
        ),
        (["dials", "--hypothesis", "H1"], "no memory in it"),
        (["show", "nothing"], "no experiment called"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_line(metamem, tmp_path, arguments, words):
    asked_first = metamem("experiment", TOWNS, "--hypothesis", "H2", "--home", tmp_path)
    assert asked_first.code == 1
    said = metamem("experiment", *arguments, "--home", tmp_path)
    assert said.code == 2
    assert words in said.err
    assert "Traceback" not in said.err
