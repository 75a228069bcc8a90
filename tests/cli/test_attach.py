"""metamem attach, detach, status, daemon and import, as they are typed."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from metamem.cli.main import run
from metamem.core import extras
from metamem.service.attach import control
from metamem.service.attach.places import Meeting
from tests.service.importing.written import Claude, Codex, use


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    project = tmp_path / "shop"
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("METAMEM_MEMORY", str(tmp_path / "memory"))
    for name in (
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "GEMINI_CLI_HOME",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "METAMEM_URL",
    ):
        monkeypatch.delenv(name, raising=False)
    yield tmp_path
    control.stop(Meeting(tmp_path / "memory"))


def test_attach_shows_asks_and_can_be_undone(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = home / ".gemini" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"theme": "dark"} // mine\n')
    assert run(["attach", "gemini", "--dry-run"]) == 0
    assert "+++ " in capsys.readouterr().out
    assert run(["attach", "gemini"]) == 2  # nobody is there to say yes
    assert "--yes" in capsys.readouterr().err
    assert settings.read_text() == '{"theme": "dark"} // mine\n'
    assert run(["attach", "gemini", "--yes"]) == 0
    shown = capsys.readouterr().out
    assert "its next session starts with a briefing" in shown
    assert run(["status", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    states = {row["host"]: row["state"] for row in told["hosts"]}
    assert states == {"claude-code": "no", "codex": "no", "gemini": "yes", "opencode": "no"}
    assert told["daemon"]["pid"]
    assert run(["attach", "gemini", "--yes"]) == 0
    assert "attached already" in capsys.readouterr().out
    assert run(["detach", "gemini", "--yes"]) == 0
    assert settings.read_text() == '{"theme": "dark"} // mine\n'
    assert run(["detach", "gemini", "--yes"]) == 0
    assert "not attached" in capsys.readouterr().out
    assert run(["daemon", "stop"]) == 0
    assert run(["status"]) == 0
    assert "not running" in capsys.readouterr().out


def test_an_mcp_server_that_cannot_start_is_told(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["attach", "gemini", "--yes"]) == 0
    assert "MCP server" not in capsys.readouterr().err
    monkeypatch.setitem(extras.EXTRAS, "mcp", ("no_such_package",))  # type: ignore[index]
    assert run(["attach", "gemini", "--yes"]) == 0
    told = capsys.readouterr().err
    assert "the MCP server cannot start" in told and extras.install("mcp") in told
    assert run(["status", "--json"]) == 0
    rows = {row["host"]: row["trouble"] for row in json.loads(capsys.readouterr().out)["hosts"]}
    assert "cannot start" in rows["gemini"] and not rows["codex"]


def test_codex_is_said_to_want_a_review(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["attach", "codex", "--yes"]) == 0
    assert "/hooks" in capsys.readouterr().out
    assert run(["status"]) == 0
    assert "reviewed" in " ".join(capsys.readouterr().out.split())


def test_hooks_and_mcp_server_of_an_attach_use_one_memory(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["attach", "claude-code", "--yes"]) == 0
    servers = home / ".claude.json"
    written = json.loads(servers.read_text())
    assert written["mcpServers"]["metamem"]["env"] == {"METAMEM_MEMORY": str(home / "memory")}
    assert run(["status"]) == 0
    assert "its MCP server" not in capsys.readouterr().out
    del written["mcpServers"]["metamem"]["env"]  # as an older version left it
    servers.write_text(json.dumps(written))
    assert run(["status", "--json"]) == 0
    (row,) = [
        row
        for row in json.loads(capsys.readouterr().out)["hosts"]
        if row["host"] == "claude-code" and row["scope"] == "user"
    ]
    assert str(home / "memory") in row["trouble"]
    assert str(home / ".local" / "share" / "metamem") in row["trouble"]
    assert run(["attach", "claude-code", "--yes"]) == 0
    assert run(["detach", "claude-code", "--yes"]) == 0
    assert not (home / ".claude" / "settings.json").exists()


def test_unknown_names_and_broken_files(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["attach", "emacs"]) == 2
    assert "known: claude-code" in capsys.readouterr().err
    assert run(["attach", "codex", "--scope", "galaxy"]) == 2
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text("x = ")
    assert run(["attach", "codex", "--yes"]) == 3
    assert "nothing was changed" in capsys.readouterr().err
    assert not (home / ".codex" / "hooks.json").exists()
    assert run(["status"]) == 0


def test_import_shows_asks_and_adds_once(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = Claude("s1", str(home / "shop"))
    session.user("We deploy with the blue pipeline.")
    other = Claude("s2", str(home / "client"))
    other.user("A word of the client's.")
    for each in (session, other):
        path = home / ".claude" / "projects" / each.session / f"{each.session}.jsonl"
        path.parent.mkdir(parents=True)
        path.write_text(each.text())
    assert run(["import", "claude-code", "--dry-run"]) == 0
    assert "client" in capsys.readouterr().out
    assert run(["import", "claude-code"]) == 2
    assert run(["import", "claude-code", "--exclude", str(home / "client"), "--yes"]) == 0
    assert "1 line kept of 1 session" in capsys.readouterr().out
    assert run(["import", "claude-code", "--yes", "--json"]) == 0
    done = json.loads(capsys.readouterr().out)["imported"][0]["done"]
    assert (done["sessions"], done["stored"]) == (1, 0)
    assert run(["import", "--include", str(home / "client")]) == 0
    assert "Left out: nothing" in capsys.readouterr().out
    assert run(["recall", "which pipeline do we deploy with", "--text"]) == 0
    assert "blue pipeline" in capsys.readouterr().out


def test_import_of_notes_memories_and_exports(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("CLAUDE.md").write_text("# Shop\n- Never mock the database in tests.\n")
    (home / ".codex").mkdir()
    (home / ".codex" / "AGENTS.md").write_text("- Answer briefly, always.\n")
    assert run(["import", "notes", "--yes", "--json"]) == 0
    done = json.loads(capsys.readouterr().out)["imported"][0]["done"]
    assert [each["new"] for each in done] == [1, 1]
    assert done[0]["scope"] != done[1]["scope"]
    memory = home / ".claude" / "projects" / "-shop" / "memory"
    memory.mkdir(parents=True)
    (memory / "ports.md").write_text("Staging listens on port 8443.\n")
    assert run(["import", "memories", "--yes"]) != 0  # of what project, nothing tells
    assert "--scope says where to" in capsys.readouterr().err
    assert run(["import", "memories", "--scope", "project/told", "--yes"]) == 0
    session = Claude("s1", str(home / "shop"))
    session.user("Hello there, shop.")
    (memory.parent / "s1.jsonl").write_text(session.text())
    assert run(["import", "memories", "--yes"]) == 0
    export = home / "mem0.json"
    export.write_text(json.dumps([{"id": "1", "memory": "Ada prefers dark mode."}]))
    server = home / "memory.json"
    server.write_text(
        '{"type": "entity", "name": "Bob", "entityType": "x", "observations": ["Bob has a cat"]}\n'
    )
    assert run(["import", str(export), str(server), "--yes"]) == 0
    capsys.readouterr()
    assert run(["export"]) == 0
    exported = capsys.readouterr().out
    for text in ("Never mock", "Answer briefly", "8443", "dark mode", "Bob has a cat"):
        assert text in exported
    own = home / "own.jsonl"
    own.write_text(exported)
    assert run(["import", str(own)]) == 0
    told = capsys.readouterr().out  # of each scope, which gets back what was its own
    assert told.count("0 facts stored in local/") == 3 and "facts stored in local/user/" in told
    assert run(["import", "nothing-such"]) == 2
    assert run(["import"]) == 2
    assert run(["import", "gemini", "--yes"]) == 0  # there are none, and that is no error


def test_imports_tell_what_was_damaged_known_and_whose(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def told(*words: str) -> str:
        assert run(["import", *words, "--yes"]) == 0
        return " ".join(capsys.readouterr().out.split())

    server = home / "memory.jsonl"
    entity = {"type": "entity", "name": "Bob", "observations": ["Bob has a cat"]}
    server.write_text(f"broken line\n{json.dumps(entity)}\n")
    assert "1 new, 0 changed, 0 as before, 0 gone, 0 refused, 1 damaged" in told(str(server))
    export = home / "mem0.json"
    entries = [{"memory": "Prefers dark mode", "user_id": user} for user in ("ada", "bob")]
    export.write_text(json.dumps(entries))
    shown = told(str(export), "--user", "ada")
    assert "1 new, 0 changed, 0 as before, 0 gone" in shown
    shown = told(str(export))
    assert "has memories of ada (1), bob (1)." in shown and "--user NAME" in shown
    assert "1 new, 0 changed, 1 as before, 0 gone" in shown
    assert run(["recall", "what does bob prefer", "--text"]) == 0
    assert "bob: Prefers dark mode" in capsys.readouterr().out
    assert run(["import", str(export), "--user", "eve", "--yes"]) == 2
    assert "known: ada, bob" in capsys.readouterr().err
    assert run(["import", str(server), "--user", "ada", "--yes"]) == 2
    assert run(["import", "claude-code", "--user", "ada"]) == 2
    assert run(["import", "notes", "--user", "ada"]) == 2
    session = Claude("s1", str(home / "shop"))
    session.user("We deploy with the blue pipeline.")
    path = home / ".claude" / "projects" / "s1" / "s1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(session.text() + "broken line\n")
    for expected in (
        "1 line kept of 1 session; 0 were known, 0 refused, 0 taken back, 1 damaged",
        "0 lines kept of 1 session; 1 were known",
    ):
        assert expected in told("claude-code")


def test_codex_sessions_of_a_folder_that_is_gone(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = Codex("x1", str(home / "deleted" / "old"))
    session.user("An old word of a project that is gone.")
    path = home / ".codex" / "sessions" / "rollout-1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(session.text())
    assert run(["import", "codex", "--yes"]) == 0
    assert "1 line kept" in capsys.readouterr().out


# --- hooks of tools --------------------------------------------------------------------------


def tools_of(told: dict[str, Any], host: str) -> tuple[bool, bool]:
    (row,) = [row for row in told["hosts"] if row["host"] == host and row["scope"] == "user"]
    return row["memory"], row["tools"]


def test_hooks_come_alone_with_memory_and_go_alone(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"model": "opus"}\n')

    def both() -> tuple[bool, bool]:
        capsys.readouterr()
        assert run(["hooks", "status", "--json"]) == 0
        return tools_of(json.loads(capsys.readouterr().out), "claude-code")

    assert run(["hooks", "install", "claude-code"]) == 2  # nobody is there to say yes
    assert "PostToolUseFailure" in capsys.readouterr().out  # it is shown first
    assert both() == (False, False)
    assert run(["hooks", "install", "claude-code", "--yes"]) == 0
    assert "a copy of what was there" in capsys.readouterr().out
    assert both() == (False, True)
    assert not (home / ".claude.json").exists()
    assert run(["attach", "claude-code", "--yes"]) == 0
    assert both() == (True, True)
    assert run(["hooks", "uninstall", "claude-code", "--yes"]) == 0
    assert "are taken out" in capsys.readouterr().out
    assert both() == (True, False)
    assert run(["hooks", "uninstall", "claude-code", "--yes"]) == 0
    assert "were not in" in capsys.readouterr().out
    assert run(["attach", "claude-code", "--yes"]) == 0
    assert run(["attach", "claude-code", "--without-tools", "--yes"]) == 0
    assert both() == (True, False)
    assert run(["detach", "claude-code", "--yes"]) == 0
    assert settings.read_text() == '{"model": "opus"}\n'


def test_hooks_say_where_a_review_is_wanted(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["hooks", "install", "codex", "--yes"]) == 0
    assert "/hooks" in capsys.readouterr().out
    assert run(["hooks", "status", "codex"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "reviewed" in shown and "gemini" not in shown
    assert run(["hooks", "status", "emacs"]) == 2
    assert run(["hooks", "install", "emacs", "--yes"]) == 2


def test_in_the_home_folder_nothing_is_told_twice(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["hooks", "install", "codex", "--yes"]) == 0
    monkeypatch.chdir(Path.home())
    capsys.readouterr()
    assert run(["hooks", "status", "codex", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [row["scope"] for row in told["hosts"]] == ["user"]


def failing_session(home: Path, name: str) -> None:
    session = Claude(name, str(home / "shop"))
    session.user("Run the tests of the parser.")
    session.agent("On it.", use(f"{name}-1", "Bash", command="pytest -q"))
    session.result(f"{name}-1", "Exit code 127\nsh: pytest: command not found", error=True)
    session.agent("So.", use(f"{name}-2", "Bash", command="uv run pytest -q"))
    session.result(f"{name}-2", "3 passed")
    path = home / ".claude" / "projects" / "-shop" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(session.text())


def test_import_sessions_shows_asks_and_learns_at_once(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("s1", "s2"):
        failing_session(home, name)
    codex = Codex("x1", str(home / "client"))
    codex.user("A word of the client's.")
    path = home / ".codex" / "sessions" / "rollout-x1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(codex.text())
    assert run(["import-sessions", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "shop" in shown and "client" in shown and "There are no sessions of gemini" in shown
    assert run(["import-sessions"]) == 2  # nobody is there to say yes
    assert run(["import-sessions", "emacs", "--yes"]) == 2
    assert run(["import-sessions", "--exclude", str(home / "client"), "--yes", "--json"]) == 0
    text = capsys.readouterr().out
    told = json.loads(text[text.index("{") :])
    assert list(told["imported"]) == ["claude-code"]
    (learned,) = told["learned"]
    assert (learned["sessions"], learned["failures"], learned["resolved"]) == (2, 1, 1)
    assert run(["import-sessions", "claude-code", "--yes"]) == 0
    assert "0 calls of tools kept" in " ".join(capsys.readouterr().out.split())
    assert run(["hooks", "status"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "1 failure, 1 of them resolved; 0 suggestions shown" in shown
    assert run(["hooks", "events", "s1"]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [event["event"] for event in events] == [
        "session_started", "prompt_given", "tool_begun", "tool_ended", "tool_begun", "tool_ended",
        "session_ended",
    ]  # fmt: skip
    assert {event["version"] for event in events} == {1}
    assert (events[3]["call"], events[3]["exit_code"]) == ("s1-1", 127)
    assert (events[-1]["by"], events[-1]["success"]) == ("tests", True)
    assert run(["hooks", "events", "nothing-such"]) == 2


def test_erased_sessions_are_not_read_again_and_it_is_said(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    failing_session(home, "s1")
    assert run(["import-sessions", "--yes", "--json"]) == 0
    told = capsys.readouterr().out
    (learned,) = json.loads(told[told.index("{") :])["learned"]
    assert run(["erase", learned["scope"], "--reason", "over", "--yes"]) == 0
    assert run(["import-sessions", "--yes"]) == 0
    assert "was erased, and its sessions stay so" in " ".join(capsys.readouterr().err.split())


def test_sessions_that_cannot_be_read_stop_no_other_agents(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    failing_session(home, "s1")
    broken = home / ".local" / "share" / "opencode" / "opencode.db"
    broken.parent.mkdir(parents=True)
    broken.write_text("no database")
    assert run(["import-sessions", "--yes", "--json"]) == 3
    captured = capsys.readouterr()
    told = json.loads(captured.out)
    assert list(told["imported"]) == ["claude-code"] and told["unreadable"] == ["opencode"]
    assert "opencode's database cannot be read" in captured.err
    assert run(["import-sessions", "--dry-run"]) == 3
