"""What the command line says of sets of parameters: rewards as they are, and no word of memories."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

import metamem as api
from metamem.cli.attempt import Trial
from metamem.cli.options import complete_proposers
from metamem.cli.parts import named_settings
from metamem.cli.results import print_results
from metamem.core import registry
from metamem.core.figures import Scale
from metamem.core.progress import Silent
from metamem.core.space import Choice, Float
from metamem.domains.dials import DialsDomain
from metamem.evaluation.jobs import Spec
from metamem.foundry.tools.site import ARCHIVE
from metamem.promotion import Ledger, Under
from metamem.promotion.parameters import change
from metamem.runs.summary import Summary
from metamem.store import Place, open_archive
from tests.cli.conftest import program

OF_MEMORIES = re.compile(r"success|memor|advice|token|retrieve|jail|steps|oracle|points", re.I)
RUN = "dials-s0-1"


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """A home with a finished run, and the id of what was learned."""
    home = tmp_path_factory.mktemp("dials")
    found = api.learn("dials", home=home, executor=Spec("inline"), designs=24)
    return home, found.learned.id


@pytest.fixture(scope="module")
def row(learned):
    """Of what was learned, on test."""
    with api.api.open_home(learned[0]) as archive:
        return Summary.from_json(archive.run(RUN).summary).row("test")


def test_a_run_is_told_in_rewards_and_costs(metamem, learned, row, monkeypatch):
    home, design = learned
    said = metamem("learn", "--run", RUN, "--home", home, "--quiet").out
    assert not OF_MEMORIES.search(said)
    assert f"The values: metamem archive show {design[:8]}" in said
    heading = said.splitlines()[1].split("  ")
    assert {"reward", "watts"} <= {word.strip() for word in heading} and "random values" in said
    for width in (60, 90, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        test = metamem("runs", "show", RUN, "--home", home).out.partition("\nshift")[0]
        assert f"{row.mean:.2f}" in test and f"{row.costs['watts']:.2f}" in test
        assert max(map(len, test.splitlines())) <= width


def test_bounds_are_asked_for_and_approved_and_what_lies_inside_goes_into_use(metamem, tmp_path):
    home = ("--home", tmp_path)
    open_archive(tmp_path / "archive.db").close()
    about = {"reason": "", "evidence": {}, "defaults": DialsDomain.space.defaults()}
    place = Place("domain", "dials")
    names = DialsDomain.space.parameters
    number = next(n for n, p in names.items() if isinstance(p, Float))
    switch = next(n for n, p in names.items() if isinstance(p, Choice))
    low, high = names[number].low, names[number].high
    options = "|".join(str(each) for each in names[switch].options)
    within = ("--within", f"{number}={low}..{high}", "--within", f"{switch}={options}")
    said = metamem("promotions", "bounds", "dials", *within, "--by", "Ada", *home)
    assert said.code == 0 and "wait for approval in dials" in said.out
    assert f"--home {tmp_path}" in said.out
    values = {**DialsDomain.space.defaults(), number: high}
    with api.api.open_home(tmp_path) as archive:
        assert change(Ledger(archive), values, place, **about).waits  # nobody approved them yet
    subject = said.out.split("approve ")[1].split()[0]
    watched = metamem("promotions", "approve", subject, "--watched", *home)
    assert watched.code == 2 and "nothing watches" in watched.err
    assert metamem("promotions", "approve", subject, "--by", "Ada", *home).code == 0
    (waiting,) = metamem("promotions", "pending", "--json", *home).json  # the values of before
    again = metamem("promotions", "bounds", "dials", *within, *home)
    assert again.code == 0 and "already" in again.out and "approve" not in again.out
    assert metamem("promotions", "pending", "--json", *home).json == [waiting]
    values[switch] = names[switch].options[-1]
    with api.api.open_home(tmp_path) as archive:
        assert not change(Ledger(archive), values, place, **about).waits


def test_bounds_that_are_none_are_refused_before_anything_is_entered(metamem, tmp_path):
    open_archive(tmp_path / "archive.db").close()
    for domain, within, told in (
        ("routing", "flor=0.1..0.2", "names no parameter"),
        ("routing", "floor=0.1", "is no range"),
        ("routing", "floor=0.2..0.1", "are no range"),
        ("routing", "floor=0.1..7", "'floor'"),
        ("routing", "floor=a..b", "must be a number"),
        ("routing", "floor=0.1..NaN", "'floor'"),
        ("observation", "first=highest", "must be one of"),
        ("toy", "floor=0.1..0.2", "has no parameters"),
        ("ruoting", "floor=0.1..0.2", "ruoting"),
    ):
        said = metamem("promotions", "bounds", domain, "--within", within, "--home", tmp_path)
        assert said.code == 2 and told in " ".join(said.err.split()), said.err
    with api.api.open_home(tmp_path) as archive:
        assert archive.promotions() == []


def test_many_costs_become_a_list_rather_than_fall_off_the_screen(row, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "110")
    costs = {f"a cost with a long name {n}": 10.0**n for n in range(6)}
    print_results("test", [replace(row, costs=costs)], Scale(-20, 20))
    said = " ".join(capsys.readouterr().out.split())
    assert all(name in said for name in costs)
    assert "100000" in said and "1.000" in said


def test_runs_and_archive_show_scores_on_the_domains_scale(metamem, learned, row):
    home, design = learned
    assert f"{design[:8]} {row.mean:.2f} on test" in metamem("runs", "--home", home).out
    for command in (("list",), ("list", "--run", RUN), ("list", "--run", f"{RUN}/control")):
        said = metamem("archive", *command, "--home", home).out
        assert "reward" in said.splitlines()[0] and not OF_MEMORIES.search(said)
        scores = [float(score) for score in re.findall(r"-?\d+\.\d\d\b", said)]
        assert scores and all(-20 <= score <= 20 for score in scores)
    assert "reward on train" in metamem("archive", "tree", "--home", home).out
    shown = metamem("archive", "show", design, "--home", home).out
    assert "reward" in shown and "agent" not in shown and f" {row.mean:.2f} " in shown
    written = metamem("archive", "show", design, "--code", "--home", home).out
    assert json.loads(shown[shown.index("{") :]) == json.loads(written)
    assert '\n  "frequency": ' in shown
    changed = metamem("archive", "diff", "--home", home, design, design).out
    assert changed == ""


def test_scores_of_both_kinds_of_domain_stand_in_one_list(metamem, tmp_path):
    home = ("--home", tmp_path, "--quiet", "--tasks", 4)
    assert metamem("evaluate", "defaults", "--domain", "dials", *home).code == 0
    assert metamem("evaluate", "no_memory", "--domain", "toy", *home).code == 0
    lines = metamem("archive", "list", "--home", tmp_path).out.splitlines()
    assert "score" in lines[0]
    assert re.search(r"-\d\.\d\d +dials valid, 4 tasks", lines[1])
    assert re.search(r"\d\.\d % +toy valid, 4 tasks", lines[2])


class Impatient(Silent):
    """Stops a run before anything is decided."""

    def phase(self, name, total):
        if name == "confirming":
            raise KeyboardInterrupt


def test_an_unfinished_run_is_on_its_scale_too(metamem, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        api.learn("dials", home=tmp_path, executor=Spec("inline"), designs=6, progress=Impatient())
    assert "stopped" in metamem("runs", "--home", tmp_path).out
    assert "reward on train" in metamem("archive", "tree", "--home", tmp_path).out
    assert "reward" in metamem("archive", "list", "--run", RUN, "--home", tmp_path).out
    page = Path(metamem("report", RUN, "--home", tmp_path).out.strip()).read_text(encoding="utf-8")
    assert "reward on train" in page and "-5.02" in page


def test_evaluations_and_comparisons(metamem, tmp_path, monkeypatch):
    where = ("--domain", "dials", "--split", "test", "--home", tmp_path, "--quiet")
    one, two = metamem("evaluate", "defaults", "careful", *where, "--json").json
    for told in (one, two):
        rewards = [case["reward"] for case in told["rows"]]
        assert told["mean"] == pytest.approx(sum(rewards) / len(rewards))
        assert -20 <= told["low"] < told["mean"] < told["high"] <= 20
        assert told["costs"] == pytest.approx({"watts": 2.1})
        assert {"kind", "costs"} <= told["rows"][0].keys()
    said = metamem("evaluate", "defaults", "careful", *where, "--by-task").out
    assert not OF_MEMORIES.search(said)
    table, by_task = said.split("\n\n")
    assert f"{one['mean']:.2f}" in table and f"{two['mean']:.2f}" in table
    (line,) = [line for line in by_task.splitlines() if line.startswith("test-000")]
    assert line.split()[2:] == [
        f"{one['rows'][0]['reward']:.2f}", "2.100", f"{two['rows'][0]['reward']:.2f}", "2.100",
    ]  # fmt: skip
    compared = metamem("compare", "defaults", "careful", *where).out
    assert f"{one['mean'] - two['mean']:+.2f}" in compared and not OF_MEMORIES.search(compared)
    monkeypatch.setenv("COLUMNS", "60")
    narrow = metamem("evaluate", "defaults", "careful", *where, "--by-task").out
    assert max(map(len, narrow.splitlines())) <= 60


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ('{"frequency": 5}', 2, "must lie from 88.0 to 108.0"),
        ('{"frequency": 90}', 2, "'gain' is missing"),
        ("frequency = 90", 3, "no set of parameters"),
        ("[90]", 3, "a JSON object of names and values"),
    ],
)
def test_a_wrong_file_is_told_with_its_name(metamem, tmp_path, text, code, words):
    file = tmp_path / "mine.json"
    file.write_text(text)
    said = metamem("evaluate", file, "--domain", "dials", "--home", tmp_path / "home")
    err = said.err.replace("\n", "")
    assert (said.code, said.out) == (code, "") and words in err and "mine.json" in err


def test_a_file_of_ones_own(metamem, learned, tmp_path):
    home, design = learned
    file = tmp_path / "mine.json"
    file.write_text(metamem("archive", "show", design, "--code", "--home", home).out)
    where = ("--domain", "dials", "--home", home, "--quiet", "--json")
    mine, theirs = metamem("evaluate", file, design, *where).json
    assert mine["evaluation"] == theirs["evaluation"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("learn", "dials", "--agent", "reader"), "nobody acts in dials"),
        (("learn", "dials", "--proposer", "recombine"), "makes memory designs"),
        (("learn", "dials", "--proposer", "handoff"), "makes memory designs"),
        (("learn", "toy", "--proposer", "gaussian"), "makes sets of parameters"),
        (("evaluate", "oracle", "--domain", "dials"), "known: defaults, loud, careful"),
        (("evaluate", "defaults", "--domain", "dials", "--agent", "reader"), "nobody acts"),
        (("curve", "defaults", "--domain", "dials"), "no memory in it"),
        (("transfer", "defaults", "--domain", "dials", "--agents", "reader"), "no memory in it"),
    ],
)
def test_what_makes_no_sense_with_parameters_is_refused(metamem, tmp_path, arguments, words):
    said = metamem(*arguments, "--home", tmp_path / "home", "--quiet")
    assert (said.code, said.out) == (2, "") and words in said.err.replace("\n", " ")
    assert "handed off" not in said.err
    assert not (tmp_path / "home" / "archive.db").exists() or arguments[0] == "evaluate"


def test_what_was_learned_is_refused_elsewhere(metamem, learned):
    home, design = learned
    said = metamem("evaluate", design[:8], "--domain", "toy", "--home", home)
    assert said.code == 2 and f"toy takes memory designs, and {design[:8]} is none" in said.err
    said = metamem("compare", "--across", "--domain", "dials", "--home", home)
    assert said.code == 2 and "dials learns parameters" in said.err
    said = metamem("compare", "--across", "--home", home)
    assert said.code == 2 and "at least two domains" in said.err


def test_a_domain_shows_its_parameters(metamem, monkeypatch):
    said = metamem("domains", "show", "dials")
    assert "from -20 to 20" in said.out and not OF_MEMORIES.search(said.out)
    told = metamem("domains", "show", "dials", "--json").json
    assert told["human_designs"] == ["defaults", "loud", "careful"]
    for name, parameter in DialsDomain.space.parameters.items():
        (line,) = [line for line in said.out.splitlines() if line.startswith(f"{name} ")]
        assert str(parameter) in line
        assert told["parameters"][name]["default"] == parameter.default
    assert "only where 'filter' is 'narrow'" in said.out
    monkeypatch.setenv("COLUMNS", "60")
    assert max(map(len, metamem("domains", "show", "dials").out.splitlines())) <= 60
    followed = metamem("domains", "follow", "dials")
    assert followed.code == 2 and "nobody acts in dials" in followed.err
    assert "parameters" in next(
        line for line in metamem("domains").out.splitlines() if line.startswith("dials")
    )


class Broken(DialsDomain):
    async def score(self, values, task, trial):
        raise ValueError("the radio is gone")


def test_the_doctor_scores_the_defaults_once(monkeypatch):
    assert Trial("domain", "dials").result().state == "ok"
    monkeypatch.setitem(registry.BUILT_IN["domains"], "dials", f"{__name__}:Broken")
    found = Trial("domain", "dials").result()
    assert found.state == "broken" and "the radio is gone" in found.found


def test_help_and_completion_know_of_parameters():
    assert {"gaussian", "sample"} <= set(complete_proposers(""))
    said = " ".join(program("learn", "--help").stdout.replace("│", " ").split())
    assert "crossover, gaussian, sample, tpe" in said
    assert "parameters" in program("evaluate", "--help").stdout


def test_what_was_learned_under_other_settings_is_told_and_asked_about(metamem, tmp_path):
    """From the run to its use: nobody puts it into use without having been told."""
    home, words = ("--home", tmp_path), "seed = 4 (not 0)"
    run = ("--designs", 24, "--no-control", "--workers", 1, "--quiet")
    said = metamem("learn", "dials", "--setting", "seed=4", *run, *home)
    assert f"Learned under {words}" in " ".join(said.out.split())
    (waiting,) = metamem("promotions", "pending", "--json", *home).json
    design, told = waiting["subject"]["id"], waiting["evidence"]["learned_under"]
    assert waiting["settings_differ"]
    assert told == {
        "data": DialsDomain(seed=4).version,
        "settings": {"seed": 4},
        "usual": {"seed": 0},
    }
    listings = (["promotions"], ["promotions", "pending"], ["archive", "show", design])
    for command in listings:
        assert f"earned under {words}" in " ".join(metamem(*command, *home).out.split()), command
    (shown,) = metamem("archive", "show", design, "--json", *home).json["promotions"]
    assert shown["learned_under"] == told
    assert metamem("learn", "--run", "dials-s0-1", "--json", *home).json["learned_under"] == told
    (report,) = (tmp_path / "reports").glob("*.html")
    assert f"Learned under {words}" in report.read_text()

    approve = ("promotions", "approve", design, *home)
    said = metamem(*approve)
    assert said.code == 2 and f"does not have by itself: {words}" in said.err
    assert "--settings-differ" in said.err
    said = metamem(*approve, "--settings-differ")
    assert said.code == 0 and "is in use in dials" in said.out
    *_, entry = metamem("promotions", "--json", *home).json
    assert entry["evidence"] == {"settings_differ": True}


def test_whoever_sits_there_is_asked(metamem, tmp_path, monkeypatch):
    place = Place("domain", "dials")
    with api.api.open_home(tmp_path) as archive:
        under = Under("1", {"seed": 4}, {"seed": 0})
        entry = change(Ledger(archive), {"gain": 1}, place, reason="", evidence=under.evidence())
    approve = ("promotions", "approve", entry.subject.id, "--home", tmp_path)
    monkeypatch.setattr("metamem.cli.promotions.sys.stdin.isatty", lambda: True, raising=False)
    for answer, code in ((False, 1), (True, 0)):
        asked = []

        def confirm(question, *, err, answer=answer, asked=asked):
            asked.append(question)
            return answer

        monkeypatch.setattr("typer.confirm", confirm)
        said = metamem(*approve)
        assert asked == ["Put it into use for all of dials?"]
        assert "seed = 4 (not 0)" in " ".join(said.err.split())
        assert said.code == code, said
        assert ("not done: the answer was no" in said.err) is (not answer)


def test_what_is_true_or_false_is_not_taken_from_any_word(metamem, tmp_path):
    """`shuffled=no` shuffled."""
    learn = ("learn", "observation", "--home", tmp_path, "--quiet", "--setting")
    refused = metamem(*learn, "shuffled=no")
    assert refused.code == 2 and "true or false, not 'no'" in refused.err
    assert named_settings(["shuffled=False", "test=1"]) == {"shuffled": False, "test": 1}


def test_bounds_are_entered_where_runs_look_and_nowhere_else(metamem, tmp_path, monkeypatch):
    """The memory has an archive of its own, for tools, in which nobody would find them."""
    monkeypatch.setenv("METAMEM_MEMORY", str(tmp_path / "memory"))
    open_archive(tmp_path / "memory" / ARCHIVE).close()
    within = ("--within", "floor=0.01..0.2", "--home", tmp_path / "home")
    said = metamem("promotions", "bounds", "routing", *within)
    assert said.code == 2 and "there is no archive in" in said.err
