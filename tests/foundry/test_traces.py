"""From a host's transcript to a trace: end to end."""

from pathlib import Path

import pytest

from metamem.core.errors import UnknownName
from metamem.foundry.traces import Traces, cursor
from metamem.foundry.words import Snapshot
from metamem.service.importing.keeping import Keeper, scope_of
from metamem.service.importing.places import Places
from metamem.service.importing.sources import Source
from metamem.service.service import MemoryService
from metamem.service.words import Session, Tree
from tests.service.importing.written import (
    Claude,
    Codex,
    Opencode,
    gemini_file,
    gemini_head,
    gemini_message,
    jsonl,
    use,
)


class Home:
    def __init__(self, folder: Path) -> None:
        self.service = MemoryService(folder / "memory")
        self.keeper = Keeper(self.service.local(), Places(self.service.database))
        self.traces = Traces(self.service.database)

    def keep(self, source: Source) -> str:
        return self.keeper.keep(source).scope


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_claude_grows_and_is_rewound(home: Home, tmp_path: Path) -> None:
    session, path = Claude("s", str(tmp_path)), tmp_path / "s.jsonl"
    session.user("Make the tests pass.")
    session.agent("I run them.", use("t1", "Bash", command="pytest -q"))
    path.write_text(session.text())
    scope = home.keep(Source("claude-code", path))
    (begun,) = home.traces.traces(scope)
    assert begun.uses[0].failed is None
    place = cursor(home.traces.changed(scope), 0)
    assert list(home.traces.traces(scope, place)) == []
    session.result("t1", "Exit code 1\n1 failed", error=True)
    stays = session.agent("One fails.")
    session.agent(use("t2", "Edit", file_path="a.py", old_string="  a", new_string="  b"))
    session.result("t2", "edited")
    session.agent("", use("t4", "Grep", pattern="x"), isSidechain=True, agentId="helper")
    taken_back = session.user("Now rename everything in it.")
    session.agent(use("t3", "Bash", command="git mv a.py b.py"))
    session.result("t3", "")
    path.write_text(session.text())
    home.keep(Source("claude-code", path))
    (trace,) = home.traces.traces(scope, place)
    assert [each.id for each in trace.uses] == ["t1", "t2", "t4", "t3"]
    first, second, aside, third = trace.uses
    assert (first.exit_code, first.failed, first.error) == (1, True, "Exit code 1\n1 failed")
    assert second.arguments["old_string"] == "  a"
    assert aside.agent == "helper"
    assert trace.prompts[first.prompt] == "Make the tests pass."
    assert third.prompt == taken_back
    assert (trace.host, trace.outcome.by, trace.outcome.success) == ("claude-code", "tests", False)
    session.user("Do something else with it.", parent=stays)
    path.write_text(session.text())
    home.keep(Source("claude-code", path))
    after = home.traces.trace(scope, "s")
    assert after is not None
    assert "t3" not in [each.id for each in after.uses]
    assert taken_back not in after.prompts


def test_codex(home: Home, tmp_path: Path) -> None:
    session, path = Codex("x1", str(tmp_path)), tmp_path / "rollout-1.jsonl"
    session.user("Build it.")
    session.run("c1", "make", "no rule", 2)
    session.run("c2", "make -C src", "done", 0)
    path.write_text(session.text())
    (trace,) = home.traces.traces(home.keep(Source("codex", path)))
    assert [(u.tool, u.arguments, u.exit_code, u.failed) for u in trace.uses] == [
        ("exec_command", {"cmd": "make"}, 2, True),
        ("exec_command", {"cmd": "make -C src"}, 0, False),
    ]
    assert trace.uses[0].milliseconds is not None
    assert (trace.outcome.by, trace.outcome.success) == ("exit", True)


def test_gemini(home: Home, tmp_path: Path) -> None:
    call = {
        "id": "g1",
        "name": "run_shell_command",
        "args": {"command": "npm test"},
        "status": "success",
        "result": [
            {"functionResponse": {"response": {"output": "Output: bad\nExit Code: 3\nPID: 4"}}}
        ],
    }
    records = [
        gemini_head("g"),
        gemini_message("m1", "user", "Run the tests please."),
        gemini_message("m2", "gemini", "Running.", toolCalls=[call]),
    ]
    path = gemini_file(tmp_path, jsonl(records), str(tmp_path))
    (trace,) = home.traces.traces(home.keep(Source("gemini", path)))
    (found,) = trace.uses
    assert (found.exit_code, found.failed, found.prompt) == (3, True, "m1")
    assert (trace.outcome.by, trace.outcome.success) == ("tests", False)


def test_opencode(home: Home, tmp_path: Path) -> None:
    database = Opencode(tmp_path / "opencode.db")
    database.session("ses_1", str(tmp_path))
    database.say("ses_1", "msg_1", "user", "List the files.")
    database.say("ses_1", "msg_2", "assistant", "I do.")
    state = {
        "status": "completed",
        "input": {"command": "ls nowhere"},
        "output": "none",
        "metadata": {"exit": 2},
        "time": {"start": 1_785_000_000_000, "end": 1_785_000_000_250},
    }
    part = {"type": "tool", "tool": "bash", "callID": "o1", "state": state}
    database.part("ses_1", "msg_2", "prt_z", part)
    (trace,) = home.traces.traces(home.keep(Source("opencode", database.file, "ses_1")))
    (found,) = trace.uses
    assert (found.exit_code, found.failed, found.milliseconds) == (2, True, 250)
    assert trace.prompts[found.prompt] == "List the files."


def test_a_session_has_the_tree_that_it_began_with(home: Home, tmp_path: Path) -> None:
    session, path = Codex("x1", str(tmp_path)), tmp_path / "rollout-1.jsonl"
    scope = str(scope_of(str(tmp_path)))
    caller, talk = home.service.local_caller(), Session("x1", (), "codex")
    first, later = Tree(str(tmp_path), "a" * 40, "", 1000), Tree(str(tmp_path), "b" * 40, "", 2000)
    assert home.service.keep_tree(caller, scope, talk, first)
    assert not home.service.keep_tree(caller, scope, talk, later)
    session.user("Build it.")
    session.run("c1", "make", "done", 0)
    path.write_text(session.text())
    (trace,) = home.traces.traces(home.keep(Source("codex", path)))
    assert trace.snapshot == Snapshot(str(tmp_path), "a" * 40, "", 1000)
    # One whose tools were used before it was looked at.
    late = Tree(str(tmp_path), "a" * 40, "", (trace.uses[0].at or 0) + 1)
    assert home.service.keep_tree(caller, scope, Session("x2", (), "codex"), late)
    path = tmp_path / "rollout-2.jsonl"
    path.write_text(session.text().replace("x1", "x2"))
    home.keep(Source("codex", path))
    other = home.traces.trace(scope, "x2")
    assert other is not None
    assert other.snapshot is not None
    assert other.snapshot.late and other.snapshot.whole


def test_scopes_are_apart(home: Home, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        session, path = Codex(f"x-{name}", str(tmp_path / name)), tmp_path / f"rollout-{name}.jsonl"
        session.user(f"Build {name} of them.")
        session.run("c1", f"make {name}", "", 0)
        path.write_text(session.text())
        (trace,) = home.traces.traces(home.keep(Source("codex", path)))
        assert trace.session == f"x-{name}"
    with pytest.raises(UnknownName):
        list(home.traces.traces("local/project/nowhere"))
