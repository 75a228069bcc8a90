"""Designs learned for one domain, played in the others."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import metamem
from metamem.api import open_archive
from metamem.cli.main import app
from metamem.core.errors import UsageError
from metamem.domains.toy import ToyDomain
from metamem.evaluation.jobs import Spec
from metamem.web.report import render_report
from tests.search.test_runs import SMALL

OTHER = "tests.search.test_across:OtherToy"


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
    learned = ["learned for " + OTHER, "learned for toy"]
    assert [row["name"] for row in found["rows"]] == names + learned
    assert all(set(row["cells"]) == {"toy", OTHER} for row in found["rows"])
    for domain in found["domains"]:
        means = {row["name"]: row["cells"][domain["name"]]["mean"] for row in found["rows"]}
        assert means[domain["winner"]] == max(means.values())
        assert domain["home"]["against"].startswith("learned for ")
    with open_archive(home) as archive:
        table = next(r for r in archive.runs() if r.config["domain"]["name"] == "toy").summary
        own = {row["name"]: row["mean"] for row in table["tables"]["test"]}
        reads = len([r for r in archive.reads() if r.purpose == "across domains"])
        rows = sum(len(e.rows) for e in archive.evaluations(split="test"))
        page = render_report(archive, "toy-s0-1")
    cells = {row["name"]: row["cells"]["toy"]["mean"] for row in found["rows"]}
    assert cells["learned for toy"] == own["learned"]  # the same evaluation, not another one
    assert reads == 2 * len(found["rows"])
    assert "Across domains" in page
    assert metamem.across(home=home, executor=Spec("inline")) == found
    with open_archive(home) as archive:
        assert sum(len(e.rows) for e in archive.evaluations(split="test")) == rows


def test_the_command_shows_who_wins_where(home: Path) -> None:
    run = CliRunner()
    shown = run.invoke(app, ["compare", "--across", "--home", str(home)], env={"COLUMNS": "120"})
    assert shown.exit_code == 0
    assert "learned for toy" in shown.stdout
    assert "*" in shown.stdout
    nowhere = home / "nowhere"
    assert isinstance(
        run.invoke(app, ["compare", "--across", "--home", str(nowhere)]).exception, UsageError
    )
    assert not nowhere.exists()
    told = run.invoke(app, ["compare", "--across", "--home", str(home), "--json", "-q"])
    assert {d["name"] for d in json.loads(told.stdout)["domains"]} == {"toy", OTHER}


def test_it_needs_two_domains_that_something_was_learned_for(home: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at least two domains"):
        metamem.across(home=tmp_path)
    with pytest.raises(UsageError, match="no split called 'valid'"):
        metamem.across(split="valid", home=home)  # the designs were chosen by it
    with pytest.raises(UsageError, match="nothing was learned for alfworld"):
        metamem.across(["toy", "alfworld"], home=home)
