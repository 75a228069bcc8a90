"""Foundry from the command line: the first day after an import, names of projects, writers of tools."""

import json
import os
import stat
from pathlib import Path

import pytest

from metamem.foundry.tools.by_handoff import requests_of
from metamem.sandbox import bubblewrap
from tests.cli.conftest import Said, program
from tests.foundry.tools import scripts
from tests.foundry.tools.made import git
from tests.foundry.tools.shop import BEGAN, HOUR, Shop, opened, release
from tests.service.importing.written import Claude, use

needs_jail = pytest.mark.skipif(not bubblewrap.works(), reason="bwrap does not work here")


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user with a project in which one chore was done twelve times by Claude Code; stands in its folder."""
    home, project = tmp_path / "home", tmp_path / "shop"
    project.mkdir()
    git(project, "init", "-q")
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME", "METAMEM_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("METAMEM_MEMORY", str(tmp_path / "memory"))
    monkeypatch.chdir(project)
    folder = home / ".claude" / "projects" / str(project).replace("/", "-")
    folder.mkdir(parents=True)
    for number in range(12):
        session = Claude(f"5e55-{number}", str(project))
        session.user(f"Add the page p{number}x to the menu")
        steps = [f"python new_page.py p{number}x", f"git add pages/p{number}x.html", f"git commit -m 'Add p{number}x'"]  # fmt: skip
        for at, command in enumerate(steps):
            session.agent("I do it.", use(f"{number}-{at}", "Bash", command=command))
            session.result(f"{number}-{at}", "done", error=False)
        (folder / f"5e55-{number}.jsonl").write_text(session.text())
    return home


def test_the_first_day_s_report_knows_workflows(metamem, user: Path) -> None:
    said: Said = metamem("import-sessions", "claude-code", "--yes", "--json")
    (learned,) = said.json["learned"]
    assert (learned["sessions"], learned["workflows"]) == (12, 1)
    said = metamem("foundry", "report")
    assert "Add the page <" in said.out and "12 times in 12 sessions" in said.out
    assert "Nobody looked at it as a whole yet" in said.out
    # What was taken in is in the log; nothing was judged or written.
    told = metamem("foundry", "report", "--json").json
    assert set(told["deeds"]) == {"mined", "took in"} and told["waiting"] == []
    said = metamem("foundry", "workflows")
    assert "1. `python new_page.py <" in said.out and "3. `git commit -m" in said.out
    assert "12 times in 12 sessions" in said.out
    said = metamem("foundry", "failures")
    assert "No failure in the 12 sessions that are known here" in said.out
    assert "import-sessions reads" not in said.out
    assert "learning from" in metamem("import-sessions", "claude-code", "--yes").err


def test_a_dry_run_tells_projects_and_remembers_nothing(metamem, user: Path) -> None:
    os.utime(next((user / ".claude").rglob("*.jsonl")), (2_000_000_000, 2_000_000_000))
    left_out = str(Path.cwd())
    said = metamem("import-sessions", "--exclude", left_out, "--dry-run")
    assert "Would be left out" in said.out and "left out" in said.out
    assert "claude-code" in said.out
    (one, *_) = metamem("import-sessions", "--dry-run", "--json").json["imported"]
    assert (one["source"], one["sessions"]) == ("claude-code", 12)
    (project,) = one["projects"]
    assert project["folder"] == left_out and not project["left_out"]
    assert project["last"] < "2030"  # what the sessions say, not when a file was touched
    assert metamem("import-sessions", "--exclude", left_out, "--yes").code == 0
    (project,) = metamem("import-sessions", "--dry-run", "--json").json["imported"][0]["projects"]
    assert project["left_out"]


def test_projects_are_named_by_their_folders(metamem, user: Path, tmp_path: Path) -> None:
    metamem("import-sessions", "claude-code", "--yes")
    for name in ("shop", "project/shop", "project/sho", "local/project/shop"):
        said = metamem("foundry", "oversee", "--scope", name, "--json")
        assert said.code == 0 and said.json[0]["scope"].startswith("local/project/shop-"), said.err
    assert metamem("foundry", "workflows", "--scope", "shop", "--json").json
    metamem("remember", "x", "--scope", "project/shopping")
    assert metamem("foundry", "oversee", "--scope", "shop").code == 0
    said = metamem("foundry", "oversee", "--scope", "project/sho")
    assert said.code == 2 and "2 scopes begin so" in said.err and "project/shopping" in said.err
    assert "no scope is called so" in metamem("foundry", "oversee", "--scope", "nothing").err
    assert metamem("foundry", "report", "--scope", "project/nothing").code == 2


# --- writers of tools ----------------------------------------------------------------------------


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Releases that can be replayed, of a memory that commands find."""
    with opened(tmp_path, sessions=0) as made:
        commit = git(made.folder, "rev-parse", "HEAD")
        for number in range(34):
            release(made.service, made.site.scope, number, made.folder, commit, old="1.2.3")
        made.now[0] = BEGAN + 40 * HOUR
        monkeypatch.setenv("METAMEM_MEMORY", str(made.memory))
        for name in ("METAMEM_MODEL_META", "METAMEM_CONFIG", "METAMEM_URL"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.chdir(made.folder)
        yield made


def test_what_a_writer_needs_is_said(metamem, shop: Shop) -> None:
    oversee = ("foundry", "oversee", "--writer")
    said = metamem(*oversee, "elves")
    assert said.code == 2 and "template, model, handoff" in said.err
    said = metamem(*oversee, "model", "--max-tokens", "100")
    assert said.code == 2 and "--model meta=NAME" in said.err
    said = metamem(*oversee, "model", "--model", "meta=scripted:tests.foundry.tools.scripts:right")
    assert said.code == 2 and "needs a limit" in said.err
    said = metamem(*oversee, "handoff", "--max-tokens", "100")
    assert said.code == 2 and "--writer model" in said.err


@pytest.mark.slow
@needs_jail
def test_a_model_writes_a_tool(metamem, shop: Shop) -> None:
    """What the template could not do, or did already, is no reason against another writer."""
    model = "meta=scripted:tests.foundry.tools.scripts:release"
    asked = ("foundry", "oversee", "--writer", "model", "--model", model, "--json")
    poor = metamem(*asked, "--max-tokens", "10").json[0]["round"]["judged"]
    assert [(v["decided"], v["asked"]) for v in poor] == [("waits", True)]
    assert "cannot be asked now" in poor[0]["why"]
    (done,) = metamem(*asked, "--max-tokens", "100000").json[0]["round"]["judged"]
    assert done["decided"] == "promoted", done["why"]
    assert done["tool"]["writer"] == "model"
    assert metamem("promotions", "pending", "--json").json[0]["subject"]["kind"] == "tool"
    with shop.site.database.reading() as execute:
        rows = execute("SELECT writer, asked, tokens > 0 FROM tool_judgements ORDER BY number")
    assert rows == [("model", 1, 0), ("model", 0, 1)]


@pytest.mark.slow
@needs_jail
def test_a_tool_is_handed_off_and_taken_when_it_lies_there(metamem, shop: Shop) -> None:
    asked = ("foundry", "oversee", "--writer", "handoff", "--json")
    for _ in range(2):  # asking again changes nothing, and is entered once
        (verdict,) = metamem(*asked).json[0]["round"]["judged"]
        assert (verdict["decided"], verdict["asked"]) == ("waits", True)
    (place,) = requests_of(shop.memory, shop.site.scope).iterdir()
    assert f"{place}/tool.py" in verdict["why"]
    assert {"request.md", "workflow.json", "body.py", "cases"} <= {p.name for p in place.iterdir()}
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
    about = json.loads((place / "workflow.json").read_text())
    names = [value["name"] for value in about["values"]]
    (place / "tool.py").write_text("def steps(v)\n")
    (verdict,) = metamem(*asked).json[0]["round"]["judged"]
    assert "cannot be used" in verdict["why"] and (place / "refused.md").exists()
    (place / "tool.py").write_text(scripts.released(*names))
    (verdict,) = metamem(*asked).json[0]["round"]["judged"]
    assert (verdict["decided"], verdict["tool"]["writer"]) == ("promoted", "handoff"), verdict[
        "why"
    ]
    with shop.site.database.reading() as execute:
        acts = execute("SELECT what, COUNT(*) FROM foundry_acts GROUP BY what")
    assert dict(acts)["judged"] == 2 and dict(acts)["promoted"] == 1
    # What was recorded goes from there with what is erased.
    shop.service.local().erase(str(shop.site.scope), "somebody asked", "")
    assert not place.exists()


def test_an_interrupted_command_says_so_in_a_line(tmp_path: Path) -> None:
    """Also while the program is still being loaded."""
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt\n")
    ended = program("import-sessions", env={"PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"})  # fmt: skip
    assert ended.returncode == 130 and "Traceback" not in ended.stderr
    assert "stopped" in ended.stderr
