"""Designs learned for one domain, played in the others."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import metamem
from metamem.api import open_home
from metamem.cli.running import program
from metamem.core.errors import UsageError
from metamem.domains.toy import ToyDomain
from metamem.evaluation.jobs import Spec
from metamem.report.page import render_report
from tests.runs.test_runs import SMALL

OTHER = "tests.runs.test_across:OtherToy"


class OtherToy(ToyDomain):
    """The same hall with other doors."""

    name = "other"

    def __init__(self) -> None:
        super().__init__(seed=9)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("across")
    for domain in ("toy", OTHER):
        metamem.learn(domain, home=folder, executor=Spec("inline"), control=False, **SMALL)
    return folder


def test_every_design_is_played_in_every_domain_and_nothing_twice(home: Path) -> None:
    found = metamem.across(home=home, executor=Spec("inline"))
    names = ["no_memory", "trajectory_retrieval", "success_retrieval"]
    learned = ["learned for other", "learned for toy"]  # as the domain calls itself, not its path
    assert [row.name for row in found.rows] == names + learned
    assert all(set(row.cells) == {"toy", "other"} for row in found.rows)
    for domain in found.domains:
        means = {row.name: row.cells[domain.name].mean for row in found.rows}
        assert means[domain.winner] == max(means.values())
        assert domain.home.against.startswith("learned for ")
    with open_home(home) as archive:
        table = next(r for r in archive.runs() if r.config["domain"]["name"] == "toy").summary
        own = {row["name"]: row["mean"] for row in table["tables"]["test"]}
        reads = len([r for r in archive.reads() if r.purpose == "across domains"])
        rows = sum(len(e.rows) for e in archive.evaluations(split="test"))
        page = render_report(archive, "toy-s0-1")
        plugged = render_report(archive, "OtherToy-s0-1")
    assert "domain other ·" in plugged  # its own name, and its path only where it is repeated
    assert plugged.count(OTHER) == 1 and f"metamem learn {OTHER}" in plugged
    cells = {row.name: row.cells["toy"].mean for row in found.rows}
    assert cells["learned for toy"] == own["learned"]  # the same evaluation, not another one
    assert reads == 2 * len(found.rows)
    assert "Across domains" in page
    assert metamem.across(home=home, executor=Spec("inline")) == found
    with open_home(home) as archive:
        assert sum(len(e.rows) for e in archive.evaluations(split="test")) == rows


def test_the_command_shows_who_wins_where(home: Path) -> None:
    run = CliRunner()
    shown = run.invoke(
        program(), ["compare", "--across", "--home", str(home)], env={"COLUMNS": "120"}
    )
    assert shown.exit_code == 0
    assert "learned for toy" in shown.stdout
    assert "*" in shown.stdout
    nowhere = home / "nowhere"
    assert isinstance(
        run.invoke(program(), ["compare", "--across", "--home", str(nowhere)]).exception, UsageError
    )
    assert not nowhere.exists()
    told = run.invoke(program(), ["compare", "--across", "--home", str(home), "--json", "-q"])
    table = json.loads(told.stdout)
    assert {d["name"] for d in table["domains"]} == {"toy", "other"}
    assert all(
        set(cell) == {"mean", "low", "high"} for r in table["rows"] for cell in r["cells"].values()
    )
    assert table == metamem.across(home=home, executor=Spec("inline")).to_json()
    wanted = ["compare", "--across", "--home", str(home), "--json", "-q", "--domain"]
    both = json.loads(run.invoke(program(), [*wanted, f"toy,{OTHER}"]).stdout)
    assert [d["name"] for d in both["domains"]] == ["toy", "other"]
    assert json.loads(run.invoke(program(), [*wanted, "toy,other"]).stdout) == both


@pytest.mark.parametrize(
    "option", [["--model", "memory=scripted:demo"], ["--seed", "0"], ["--tasks", "3"]]
)
def test_conditions_are_the_runs_own_so_options_about_them_are_refused(
    home: Path, option: list[str]
) -> None:
    said = CliRunner().invoke(program(), ["compare", "--across", "--home", str(home), *option])
    assert isinstance(said.exception, UsageError)
    assert option[0] in said.exception.message and "own run's conditions" in said.exception.hint


def _ledger(home: Path) -> list[tuple[str | None, str]]:
    with open_home(home) as archive:
        return [(r.run_id, r.design_id) for r in archive.reads() if r.purpose == "across domains"]


@pytest.mark.parametrize("elsewhere", [{}, {"models": {"memory": "scripted:demo"}}])
def test_each_column_is_played_with_its_own_runs_models(
    tmp_path: Path, elsewhere: dict[str, Any]
) -> None:
    inline = Spec("inline")
    own = {"control": False, **SMALL, "executor": inline, "home": tmp_path}
    metamem.learn("toy", models={"memory": "scripted:demo"}, **own)
    metamem.learn(OTHER, **own, **elsewhere)
    found = metamem.across(home=tmp_path, executor=inline)
    missing = {d.name: d.missing for d in found.domains}
    assert sorted(missing) == ["other", "toy"] and not missing["toy"]
    refused = missing["other"]
    # What was learned with a model may have that design as a part: then it needs one, too.
    without = {"dynamic_cheatsheet": "it needs a model", "learned for toy": "it needs a model"}
    assert ("dynamic_cheatsheet" in refused) == (not elsewhere)
    assert refused.items() <= without.items() and (not elsewhere or not refused)
    assert all(domain.complete for domain in found.domains)
    assert len(_ledger(tmp_path)) == 2 * len(found.rows) - len(refused)
    with open_home(tmp_path) as archive:
        page = render_report(archive, "toy-s0-1")
        held = archive.evaluations(split="test")
    assert ("other lacks dynamic_cheatsheet: it needs a model" in page) == bool(refused)
    assert {(e.fingerprint.domain, e.fingerprint.models.get("memory")) for e in held} == {
        ("toy", "scripted:demo"),
        ("other", "scripted:demo" if elsewhere else None),
    }
    assert metamem.across(home=tmp_path, executor=inline) == found


def test_what_cannot_match_the_columns_conditions_is_not_played_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inline = Spec("inline")
    blind = {**SMALL, "control": False, "proposer": Spec("random")}
    for seed, domain in enumerate(("toy", OTHER)):  # lest both learn the same
        metamem.learn(domain, home=tmp_path, executor=inline, **{**blind, "seed": seed})
    monkeypatch.setattr("metamem.evaluation.kinds.memories.TOOLBOX_VERSION", "of tomorrow")
    with open_home(tmp_path) as archive:
        before = len(archive.evaluations())
    found = metamem.across(home=tmp_path, executor=inline)
    for domain in found.domains:
        other = {"toy": "other", "other": "toy"}[domain.name]
        assert not domain.complete
        assert domain.missing == {
            f"learned for {other}": "its run was played under another toolbox"
        }
    with open_home(tmp_path) as archive:
        assert len(archive.evaluations()) == before
        learned = {run.id: run.summary["learned"] for run in archive.runs()}
    assert all(
        learned[run] == design for run, design in _ledger(tmp_path) if design in learned.values()
    )
    said = CliRunner().invoke(program(), ["compare", "--across", "--home", str(tmp_path), "-q"])
    assert "toy lacks learned for other: its run was played under another toolbox" in said.stdout


def test_it_needs_two_domains_that_something_was_learned_for(home: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at least two domains"):
        metamem.across(home=tmp_path)
    with pytest.raises(UsageError, match="no split called 'valid'"):
        metamem.across(split="valid", home=home)  # the designs were chosen by it
    with pytest.raises(UsageError, match="nothing was learned for alfworld"):
        metamem.across(["toy", "alfworld"], home=home)
