"""What each command tells, about an archive that holds one finished run."""

import json
from dataclasses import replace

import pytest

from metamem import __version__
from metamem.api import open_home
from metamem.cli.commands import COMMANDS, needed
from metamem.cli.screen import tell
from metamem.promotion import Ledger
from metamem.report.headline import reservation
from metamem.runs.summary import Summary
from metamem.store import Origin, Place, PromotionRecord, SqliteArchive, Subject
from tests.cli.conftest import program
from tests.report.filled import RUN, Filler


@pytest.fixture
def learned(home):
    with SqliteArchive(home / "archive.db") as archive:
        return Filler(archive).learned


@pytest.mark.slow
def test_version_and_help(metamem):
    assert metamem("--version").out == f"metamem {__version__}\n"
    said = metamem("--help")
    assert said.code == 0
    for command in COMMANDS:
        assert command.name in said.out
        assert metamem(command.name, "--help").code == 0
    assert "metamem learn toy --designs 6" in metamem("learn", "--help").out


def test_only_what_was_named_is_loaded_and_all_where_help_is_wanted():
    assert [command.name for command in needed(["--debug", "recall", "--help"])] == ["recall"]
    for arguments in ([], ["--help"], ["recal"], ["--help", "recall"]):
        assert needed(arguments) == COMMANDS
    assert not needed(["--version"])


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_nothing_is_wider_than_the_screen(metamem, home, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    for arguments in (
        ["runs", "list"],
        ["runs", "show", RUN],
        ["archive", "list"],
        ["archive", "tree"],
        ["promotions"],
        ["reads"],
    ):
        said = metamem(*arguments, "--home", home)
        assert said.code == 0
        assert said.out.strip()
        assert max(map(len, said.out.splitlines())) <= width, arguments


def test_the_table_says_the_same_at_every_width(metamem, home, monkeypatch):
    for width in (40, 80, 200):
        monkeypatch.setenv("COLUMNS", str(width))
        said = metamem("runs", "show", RUN, "--home", home).out
        assert said.index("test: 40 tasks") < said.index("shift: 40 tasks")
        order = [said.index(name) for name in ("no_memory", "random recombination", "oracle")]
        assert order == sorted(order)
        assert "90.0" in said and "+40.0" in said


def test_runs(metamem, home):
    (run,) = metamem("runs", "--json", "--home", home).json
    assert (run["run"], run["state"], run["test"]) == (RUN, "finished", 0.9)
    tried = metamem("archive", "list", "--run", RUN, "--json", "--home", home).json
    proposed = sum(design["by"] != "human" for design in tried)
    assert run["designs"] == 9 < proposed < len(tried)  # as it was asked for; copies do not count
    assert metamem("runs", "list", "--json", "--home", home).json == [run]
    shown = metamem("runs", "show", RUN, "--json", "--home", home).json
    assert shown["summary"]["learned"] == run["learned"]
    assert (
        "metamem learn toy --seed 0 --designs 9" in metamem("runs", "show", RUN, "--home", home).out
    )


def test_a_design_is_shown_with_its_code(metamem, home, learned):
    said = metamem("archive", "show", learned.id[:8], "--home", home)
    assert learned.id in said.out and "class Doors(Memory):" in said.out
    assert metamem("archive", "show", learned.id, "--code", "--home", home).out == learned.source
    shown = metamem("archive", "show", learned.id[:8], "--json", "--home", home).json
    assert shown["source"] == learned.source
    assert {e["split"] for e in shown["evaluations"]} == {"valid", "test", "shift"}


def test_archive_list_and_tree(metamem, home, learned):
    listed = metamem("archive", "list", "--json", "--home", home).json
    assert learned.id in {row["id"] for row in listed}
    of_run = metamem("archive", "list", "--run", RUN, "--json", "--home", home).json
    assert len(of_run) == 13
    for columns in (
        80,
        120,
    ):  # long names take lines of their cell, not a list of lines for each row
        wide = program("archive", "list", "--home", home, env={"COLUMNS": str(columns)}).stdout
        assert wide.splitlines()[0].split()[:2] == ["id", "name"]
    tree = metamem("archive", "tree", "--home", home).out
    assert "trajectory_retrieval" in tree and learned.id[:8] in tree
    assert metamem("archive", "tree", RUN, "--json", "--home", home).json["learned"] == learned.id


def test_diff(metamem, home, learned):
    said = metamem("archive", "diff", "no_memory", learned.id[:8], "--home", home).out
    assert "+class Doors(Memory):" in said.splitlines()


def test_export(metamem, home, tmp_path):
    folder = tmp_path / "out"
    assert metamem("archive", "export", folder, "--home", home).code == 0
    runs = [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()]
    assert [run["id"] for run in runs] == [RUN, f"{RUN}/control"]


def test_report(metamem, home, tmp_path):
    said = metamem("report", RUN, "--home", home)
    assert said.out.strip() == str(home / "reports" / f"{RUN}.html")
    assert metamem("report", RUN, "--output", tmp_path / "x.html", "--home", home).code == 0
    assert (tmp_path / "x.html").read_text().startswith("<!doctype html>")


def test_what_passed_the_gate_waits_for_a_person(metamem, home, learned):
    (before,) = metamem("promotions", "--json", "--home", home).json
    assert (before["decision"], before["decided_by"]) == ("promoted", "auto:gate")
    assert (before["in_use"], before["pending"]) == (False, True)
    assert "1 waiting for a person" in metamem("promotions", "--home", home).out
    (waiting,) = metamem("promotions", "pending", "--json", "--home", home).json
    assert (waiting["design"], waiting["domain"]) == (learned.id, "toy")
    undo = ("promotions", "undo", learned.id[:8], "--home", home, "--reason", "x")
    assert (metamem(*undo).code, "nothing that is in use" in metamem(*undo).err) == (2, True)

    approve = ("promotions", "approve", learned.id[:8], "--home", home)
    said = metamem(*approve, "--by", "gate")
    assert (said.code, "waits for a person" in said.err) == (2, True)
    said = metamem(*approve, "--by", "Ada")
    assert (said.code, "is in use in toy" in said.out) == (0, True)
    _, entry = metamem("promotions", "--json", "--home", home).json
    assert (entry["decision"], entry["decided_by"], entry["in_use"]) == ("approved", "Ada", True)
    assert metamem(*approve).code == 2  # it does not wait any more
    assert "Nothing waits" in metamem("promotions", "pending", "--home", home).out
    assert "approved by Ada" in _report_text(metamem, home)


def test_the_gate_is_counted_for_each_kind_of_what_it_decides_on(metamem, tmp_path):
    place, about = Place("domain", "toy"), {"reason": "", "evidence": {}}
    with open_home(tmp_path) as archive:
        ledger = Ledger(archive, {"tool": lambda subject, evidence: True})
        for number in range(3):
            ledger.promote(Subject("tool", f"{number}", "grep"), place, **about)
        for _ in range(2):
            ledger.refuse(Subject("design", ""), place, **about)
        old = PromotionRecord(
            Subject("tool", "", "sed"), place, 0, "refused", "gate", "", {}, "2025"
        )
        archive.add_promotion(old)
        ledger.promote(Subject("tool", "x", "awk"), place, by="Ada", **about)  # not by the gate
    said = metamem("promotions", "--home", tmp_path).out
    assert "The gate promoted 3 of 4 tools." in said
    assert "The gate has promoted 0 of 2 designs" in said


def test_what_waits_can_be_rejected(metamem, home, learned):
    reject = ("promotions", "reject", learned.id[:8], "--home", home, "--by", "Ada")
    assert metamem(*reject).code == 2  # no reason
    assert metamem(*reject, "--reason", " ").code == 2
    assert metamem(*reject, "--reason", "too long", "--place", "elsewhere").code == 2
    assert metamem(*reject, "--reason", "too long", "--place", "toy").code == 0
    assert metamem("promotions", "pending", "--json", "--home", home).json == []
    assert metamem("promotions", "approve", learned.id[:8], "--home", home).code == 2


def test_what_is_in_use_is_undone_by_a_person_with_a_reason(metamem, home, learned):
    metamem("promotions", "approve", learned.id[:8], "--home", home)
    undo = ("promotions", "undo", learned.id[:8], "--home", home, "--by", "Ada")
    assert metamem(*undo).code == 2  # no reason
    said = metamem(*undo, "--reason", "slow in use", "--domain", "toy")
    assert (said.code, "nothing is in use now" in said.out) == (0, True)
    *_, entry = metamem("promotions", "--json", "--home", home).json
    assert (entry["decision"], entry["decided_by"]) == ("undone", "Ada")
    assert entry["reason"] == "slow in use"
    assert metamem(*undo, "--reason", "again").code == 2  # it is not in use any more
    assert "undone" in metamem("promotions", "--home", home).out
    assert "undone by Ada" in _report_text(metamem, home)


def test_what_was_erased_cannot_be_replayed_and_says_so(metamem, home, learned):
    (row,) = [r for r in metamem("runs", "--json", "--home", home).json if r["run"] == RUN]
    assert row["replayable"] is True
    with SqliteArchive(home / "archive.db") as archive:
        valid = archive.evaluations(learned.id, "test")[0]
        archive.add_origin(Origin("someone", "evaluation", valid.id))
        archive.erase("someone", decided_by="Ada", reason="asked to")
    said = metamem("archive", "show", learned.id[:8], "--home", home)
    assert "test: not replayable: its data was erased on" in said.out
    shown = metamem("archive", "show", learned.id[:8], "--json", "--home", home).json
    assert {e["split"] for e in shown["evaluations"] if not e["replayable"]} == {"test"}
    assert "not replayable" in metamem("runs", "--home", home).out
    said = metamem("runs", "show", RUN, "--home", home)
    assert "by Ada (asked to)" in said.out
    assert metamem("runs", "show", RUN, "--json", "--home", home).json["replayable"] is False
    assert metamem("report", RUN, "--home", home).code == 0


def _report_text(metamem, home):
    metamem("report", RUN, "--home", home)
    return (home / "reports" / f"{RUN}.html").read_text()


def test_reads(metamem, home):
    found = metamem("reads", "--json", "--home", home).json
    assert len(found) == 12
    assert {read["split"] for read in found} == {"test", "shift"}


def test_an_empty_archive_says_so(metamem, tmp_path):
    SqliteArchive(tmp_path / "archive.db").close()
    for command in (["runs"], ["archive", "list"], ["promotions"], ["reads"]):
        said = metamem(*command, "--home", tmp_path)
        assert said.code == 0 and len(said.out.splitlines()) == 1
    assert metamem("archive", "tree", "--home", tmp_path).code == 2


def test_no_text_of_the_archive_commands_the_terminal(metamem, tmp_path):
    hostile = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e[bold]"
    with SqliteArchive(tmp_path / "archive.db") as archive:
        filler = Filler(archive, hostile)
        filler.run()
    for command in (
        ["runs", "show", RUN],
        ["archive", "list"],
        ["archive", "show", filler.learned.id],
        ["archive", "tree"],
        ["archive", "diff", "no_memory", filler.learned.id],
        ["promotions"],
        ["reads"],
    ):
        said = metamem(*command, "--home", tmp_path)
        assert said.code == 0
        assert not set("\x1b\x07\x9b\u202e") & set(said.out + said.err), command
        assert "[bold]" in said.out.replace("\n", ""), command


def test_half_a_character_is_spelled_out(capsys):
    tell("/home/ada/\ud800")
    assert capsys.readouterr().out == "/home/ada/\\ud800\n"


def test_what_there_is_to_choose_from(metamem):
    assert {d["name"] for d in metamem("domains", "--json").json} >= {"alfworld", "toy"}
    assert metamem("domains", "show", "toy", "--json").json["tasks"]["test"] == 40
    assert "Find the thing" in metamem("domains", "show", "toy").out
    assert "success_retrieval" in metamem("designs").out
    names = {d["name"]: d["about"] for d in metamem("designs", "list", "--json").json}
    assert names["success_retrieval"] == "How the most similar goals were reached before."
    assert "class NoMemory" in metamem("designs", "show", "no_memory").out
    assert "reader" in {a["name"] for a in metamem("agents", "--json").json}
    assert "router:reader,explorer" in metamem("agents").out  # one that is made of others


def test_completion_knows_names(tmp_path):
    env = {
        "_METAMEM_COMPLETE": "complete_bash",
        "COMP_WORDS": "metamem learn al",
        "COMP_CWORD": "2",
    }
    assert program(env=env).stdout.split() == ["alfworld"]


def test_every_command_is_documented():
    from tests.test_project import ROOT

    page = (ROOT / "docs" / "cli.md").read_text()
    for command in COMMANDS:
        assert f"metamem {command.name}" in page


def test_scores_without_experience_are_told_as_such_and_never_listed(metamem, tmp_path):
    def score(*more):
        said = metamem(
            *("evaluate", "success_retrieval", "--domain", "toy", "--split", "train", "--json"),
            *("--quiet", "--home", tmp_path, *more),
        )
        return said.json[0]["mean"]

    whole = score()
    assert score("--experience", "none") < whole
    (listed,) = metamem("archive", "list", "--json", "--home", tmp_path).json
    assert (listed["score"], listed["on"]) == (whole, "toy train")
    assert (
        "train, no experience" in metamem("archive", "show", listed["id"], "--home", tmp_path).out
    )


def test_what_held_on_test_alone_is_said_where_its_use_is_offered(metamem, home):
    with SqliteArchive(home / "archive.db") as archive:
        summary = Summary.from_json(archive.run(RUN).summary)
    assert not reservation(summary)
    rows = tuple(
        replace(r, comparison=r.comparison and replace(r.comparison, low=-0.4, high=-0.2))
        for r in summary.tables["shift"]
    )
    less = replace(summary, tables={**summary.tables, "shift": rows})
    assert reservation(less).startswith(
        "It passed the gate, but its gain holds on test only. On shift"
    )
    assert "worse than" in reservation(less)
    assert not reservation(replace(less, learned=None))


def test_help_is_broken_by_the_screen_and_not_by_its_source():
    said = program("learn", "--help", env={"COLUMNS": "200"}).stdout
    assert any("kept in the archive. The best go before" in line for line in said.splitlines())
