"""Series of whole runs: what is finished is not played again, what is missing is named."""

import json
import sys
from pathlib import Path

import pytest

from bench import evidence, evidence_kept, evidence_tables


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("evidence")


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch, home: Path) -> list[str]:
    monkeypatch.setattr(evidence, "SERIES", {"toy": evidence.Series("toy", 2)})
    return ["evidence", "toy", f"--home={home}", f"--kept={home}", "--designs=4", "--workers=1"]


def test_a_series_is_played_and_told(monkeypatch, toy, home, capsys) -> None:
    monkeypatch.setattr(sys, "argv", [*toy, "--only-seed=0"])
    evidence.main()
    capsys.readouterr()
    monkeypatch.setattr(sys, "argv", [*toy, "--tables"])
    evidence.main()
    told = capsys.readouterr()
    assert "toy: not finished: 1" in told.err
    assert told.out.count("| toy |") == len(evidence_tables.SPLITS)
    summary = json.loads((home / "toy-0.json").read_text())["summary"]
    learned = next(row for row in summary["tables"]["test"] if row["name"] == "learned")
    assert f"**{100 * learned['mean']:.1f}**" in told.out
    monkeypatch.setattr(sys, "argv", [*toy, "--tables", f"--write={home / 'page.md'}"])
    evidence.main()
    assert told.out.strip() in (home / "page.md").read_text()


def test_a_run_of_an_earlier_state_of_the_code_is_named_and_not_told(
    monkeypatch, toy, home, capsys
) -> None:
    monkeypatch.setattr(sys, "argv", [*toy, "--only-seed=0"])
    evidence.main()  # played already where the test above ran in this process
    capsys.readouterr()
    monkeypatch.setattr(evidence_kept, "state", lambda domain: "another")
    monkeypatch.setattr(sys, "argv", [*toy, "--tables"])
    evidence.main()
    told = capsys.readouterr()
    assert "toy: of an earlier state of the code: 0" in told.err
    assert "| toy |" not in told.out
    monkeypatch.setattr(sys, "argv", [*toy, "--tables", "--earlier"])
    evidence.main()
    assert "| toy |" in capsys.readouterr().out


def test_the_state_is_of_what_a_run_depends_on(monkeypatch, tmp_path) -> None:
    for name in ("domains", "agents", "service", "search/handoff"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "one.py").write_text("1")
    files = [tmp_path / part for part in evidence_kept.PARTS if part.endswith(".py")]
    for file in files:
        file.parent.mkdir(exist_ok=True)
        file.write_text("1")
    monkeypatch.setattr(evidence_kept, "PACKAGE", tmp_path)
    monkeypatch.setattr(evidence_kept, "OF_NO_RUN", ("search/handoff",))
    before = evidence_kept.state("one")
    for name, matters in {
        "service": False,
        "search/handoff": False,
        "agents": True,
        "domains": True,
    }.items():
        (tmp_path / name / "one.py").write_text("2")
        assert (evidence_kept.state("one") != before) is matters, name
        before = evidence_kept.state("one")
    for file in files:
        file.write_text("2")
        assert evidence_kept.state("one") != before, file
        before = evidence_kept.state("one")


def test_what_cannot_be_played_is_said(monkeypatch, capsys) -> None:
    for given, words in {"nosuch": "no series nosuch", "published": "--data FOLDER"}.items():
        monkeypatch.delenv("ALFWORLD_DATA", raising=False)
        monkeypatch.setattr(sys, "argv", ["evidence", given])
        with pytest.raises(SystemExit) as ended:
            evidence.main()
        assert ended.value.code == 2
        assert words in capsys.readouterr().err
