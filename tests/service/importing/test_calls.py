"""Calls of tools in each host's transcripts: at once, by sub-agents, taken back, compacted, told twice."""

import json
from pathlib import Path
from typing import Any

import pytest

from metamem.service.importing.keeping import Keeper
from metamem.service.importing.places import Places
from metamem.service.importing.plan import carried_out, planned
from metamem.service.importing.sources import Source, look
from metamem.service.importing.transcript import given_back
from metamem.service.service import MemoryService
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

SECRET = "tiger-Lily" + "-77x"


class Kept:
    """A memory, and what it keeps of one host's sessions."""

    def __init__(self, home: Path, host: str) -> None:
        self.home, self.host = home, host
        self.service = MemoryService(home / "memory")
        self.places = Places(self.service.database)
        self.environment = {
            "CLAUDE_CONFIG_DIR": str(home),
            "CODEX_HOME": str(home),
            "GEMINI_CLI_HOME": str(home),
            "XDG_DATA_HOME": str(home),
        }

    def read(self) -> int:
        """Read what there is; how many calls were new or better known."""
        chosen = planned(self.host, self.places, environment=self.environment).chosen()
        return carried_out(chosen, Keeper(self.service.local(), self.places), lambda *_: None).calls

    def calls(self) -> dict[str, tuple[Any, ...]]:
        """By id: session, tool, group, agent, whether it failed, whether it was taken back."""
        with self.service.database.reading() as execute:
            rows = execute(
                "SELECT id, session, tool, call_group, agent, failed, rewound FROM calls"
                " ORDER BY session, position"
            )
        ids = [row[0] for row in rows]
        assert len(ids) == len(set(ids)), "a call is there twice"
        return {row[0]: row[1:] for row in rows}


@pytest.fixture
def shop(tmp_path: Path) -> str:
    (tmp_path / "shop").mkdir()
    return str(tmp_path / "shop")


def written(home: Path, session: Claude, *, under: str = "") -> Path:
    path = home / "projects" / "-shop" / (under or f"{session.session}.jsonl")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(session.text())
    return path


# --- Claude Code -----------------------------------------------------------------------------


def test_claude_calls_at_once_rewound_compacted_and_read_again(tmp_path: Path, shop: str) -> None:
    session = Claude("c1", shop)
    session.user("Read both.")
    asked = session.agent(
        "Reading.", use("toolu_1", "Read", file="a"), use("toolu_2", "Read", file="b")
    )
    session.result("toolu_1", "A", parent=asked)
    session.result("toolu_2", "no such file", error=True, parent=asked)
    kept_until = session.agent("Read.")
    session.user("Use Redis.")
    session.agent("On it.", use("toolu_3", "Bash", command="redis"))
    session.result("toolu_3", "ok")
    kept = Kept(tmp_path, "claude-code")
    written(tmp_path, session)
    assert kept.read() == 3
    assert kept.read() == 0
    session.user("Use memcached.", parent=kept_until)
    session.agent("On it.", use("toolu_4", "Bash", command="memcached"))
    session.compact("What was.")
    session.result("toolu_4", "ok")  # ends after the context was made shorter
    written(tmp_path, session)
    kept.read()
    found = kept.calls()
    assert found["toolu_1"][2] == found["toolu_2"][2] != found["toolu_4"][2]
    assert [found[f"toolu_{n}"][4] for n in (1, 2, 4)] == [0, 1, 0]
    assert [found[f"toolu_{n}"][5] for n in (1, 2, 3, 4)] == [0, 0, 1, 0]


def test_claude_sub_agents_in_files_of_their_own(tmp_path: Path, shop: str) -> None:
    session = Claude("c1", shop)
    session.user(f"The password is {SECRET}. Look around.")
    session.agent("I send somebody.", use("toolu_1", "Task", prompt="look"))
    session.result("toolu_1", "Nothing found.")
    helper = Claude("c1", shop)
    helper.user("Look at every file.", isSidechain=True, agentId="a7")
    helper.agent(use("toolu_2", "Bash", command=f"echo {SECRET}"), isSidechain=True, agentId="a7")
    helper.result("toolu_2", f"said {SECRET}", isSidechain=True, agentId="a7")
    kept = Kept(tmp_path, "claude-code")
    written(tmp_path, session)
    written(tmp_path, helper, under="c1/subagents/agent-a7.jsonl")
    plan = planned("claude-code", kept.places, environment=kept.environment)
    assert (plan.sessions, len(plan.chosen())) == (1, 2)
    assert kept.read() == 2
    found = kept.calls()
    assert found["toolu_2"][:2] == ("c1", "Bash") and found["toolu_2"][3] == "a7"
    with kept.service.database.reading() as execute:
        assert not execute("SELECT 1 FROM facts WHERE text LIKE '%every file%'")
    kept.service.close()
    everything = b"".join(p.read_bytes() for p in kept.service.folder.rglob("*") if p.is_file())
    assert SECRET.encode() not in everything  # which only the other file says to be one


def test_claude_a_resumed_session_that_copies_what_was(tmp_path: Path, shop: str) -> None:
    one, two = "toolu_01A09q90qw90lq917835lq9", "toolu_01B19q90qw90lq917835lq9"
    session = Claude("c1", shop)
    session.user("Build it.")
    session.agent("On it.", use(one, "Bash", command="make"))
    session.result(one, "no rule", error=True)
    again = Claude("c2", shop)
    again.records = [{**r, "sessionId": "c2"} for r in session.records if isinstance(r, dict)]
    again.last, again._number = session.last, 3
    again.agent("Again.", use(two, "Bash", command="make all"))
    again.result(two, "ok")
    kept = Kept(tmp_path, "claude-code")
    written(tmp_path, session)
    written(tmp_path, again)
    assert kept.read() == 2
    assert {call: row[0] for call, row in kept.calls().items()} == {one: "c1", two: "c2"}
    assert kept.read() == 0


# --- Codex -----------------------------------------------------------------------------------


def codex_file(home: Path, session: Codex, name: str = "x1") -> Path:
    path = home / "sessions" / "2026" / f"rollout-{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(session.text())
    return path


def begun(session: Codex, call: str, command: str) -> None:
    given = json.dumps({"cmd": command})
    session.add("response_item", type="function_call", name="exec_command", call_id=call, arguments=given)  # fmt: skip


def ended(session: Codex, call: str, code: int) -> None:
    said = f"Process exited with code {code}\nOutput:\nx"
    session.add("response_item", type="function_call_output", call_id=call, output=said)


@pytest.mark.parametrize("cut", [0, 3, 4, 5, 6, 7])
def test_codex_calls_at_once_however_the_file_grows(tmp_path: Path, shop: str, cut: int) -> None:
    session = Codex("x1", shop)
    session.user("Run both.")
    begun(session, "c1", "make")
    begun(session, "c2", "make test")
    ended(session, "c2", 0)
    ended(session, "c1", 2)
    begun(session, "c3", "make")
    ended(session, "c3", 0)
    kept = Kept(tmp_path, "codex")
    path = codex_file(tmp_path, session)
    lines = path.read_text().splitlines(keepends=True)
    if cut:
        path.write_text("".join(lines[:cut]))
        kept.read()
    path.write_text("".join(lines))
    kept.read()
    found = kept.calls()
    assert found["c1"][2] == found["c2"][2] != found["c3"][2]
    assert [found[call][4] for call in ("c1", "c2", "c3")] == [1, 0, 0]


def test_codex_rolled_back_compacted_and_by_a_sub_agent(tmp_path: Path, shop: str) -> None:
    session = Codex("x1", shop)
    session.user("One.")
    session.run("c1", "make", "x", 2)
    session.user("Two.")
    session.run("c2", "make all", "x", 0)
    kept = Kept(tmp_path, "codex")
    codex_file(tmp_path, session)
    kept.read()
    session.add("event_msg", type="thread_rolled_back", num_turns=1)
    session.add("compacted", message="A summary.", replacement_history=[])
    session.user("Three.")
    begun(session, "c3", "make install")  # was broken off: it never ends
    session.user("Four.")
    session.run("c4", "make check", "x", 0)
    codex_file(tmp_path, session)
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "x1", "depth": 1}}}
    helper = Codex("x2", shop, source=source)
    helper.run("c5", "grep x", "x", 0)
    codex_file(tmp_path, helper, "x2")
    kept.read()
    assert kept.read() == 0
    found = kept.calls()
    assert {call: row[5] for call, row in found.items()} == {"c1": 0, "c2": 1, "c3": 0, "c4": 0, "c5": 0}  # fmt: skip
    assert found["c3"][2] != found["c4"][2]
    assert (found["c5"][0], found["c5"][3]) == ("x2", "x2")


# --- Gemini CLI and opencode -----------------------------------------------------------------


def gemini_call(one: str, status: str = "success") -> dict[str, Any]:
    response = {"functionResponse": {"id": one, "response": {"output": "Output: x"}}}
    return {"id": one, "name": "run_shell_command", "args": {"command": one}, "status": status,
            "timestamp": "2026-08-03T11:00:02.000Z", "result": [response]}  # fmt: skip


def test_gemini_calls_at_once_rewound_compressed_and_by_a_sub_agent(
    tmp_path: Path, shop: str
) -> None:
    both = [gemini_call("r1", "error"), gemini_call("r2")]
    records: list[Any] = [
        gemini_head("g1"),
        gemini_message("m1", "user", "Run both."),
        gemini_message("m2", "gemini", "On it.", toolCalls=both),
        gemini_message("m3", "user", "Never mind."),
        gemini_message("m4", "gemini", "On it.", toolCalls=[gemini_call("r3")]),
    ]
    kept = Kept(tmp_path, "gemini")
    gemini_file(tmp_path, jsonl(records), shop)
    kept.read()
    records += [
        {"$rewindTo": "m3"},
        {"$set": {"messages": [gemini_message("s1", "user", "A summary.", toolCalls=both)]}},
        gemini_message("m5", "gemini", "Again.", toolCalls=[gemini_call("r4")]),
    ]
    gemini_file(tmp_path, jsonl(records), shop)
    helper = [
        gemini_head("g2", kind="subagent"),
        gemini_message("h1", "gemini", "Looking.", toolCalls=[gemini_call("r5")]),
    ]
    gemini_file(tmp_path, jsonl(helper), shop, "sub-1.jsonl")
    kept.read()
    assert kept.read() == 0
    found = kept.calls()
    assert found["r1"][2] == found["r2"][2] != found["r4"][2]
    assert {call: row[5] for call, row in found.items()} == {"r1": 0, "r2": 0, "r3": 1, "r4": 0, "r5": 0}  # fmt: skip
    assert (found["r5"][0], found["r5"][3]) == ("g2", "g2")


def test_opencode_calls_at_once_reverted_compacted_and_by_a_sub_agent(
    tmp_path: Path, shop: str
) -> None:
    def tool(call: str, status: str = "completed") -> dict[str, Any]:
        state = {"status": status, "input": {"command": call}, "output": "x", "error": "bad",
                 "time": {"start": 1785000001000, "end": 1785000002000}}  # fmt: skip
        return {"type": "tool", "callID": call, "tool": "bash", "state": state}

    database = Opencode(tmp_path / "opencode" / "opencode.db")
    database.session("ses_1", shop)
    database.say("ses_1", "msg_1", "user", "Run both.")
    database.message("ses_1", "msg_2", "assistant")
    database.part("ses_1", "msg_2", "prt_21", tool("o1", "error"))
    database.part("ses_1", "msg_2", "prt_22", tool("o2"))
    database.say("ses_1", "msg_3", "user", "Wrong way.")
    database.message("ses_1", "msg_4", "assistant")
    database.part("ses_1", "msg_4", "prt_41", tool("o3"))
    kept = Kept(tmp_path, "opencode")
    kept.read()
    database.revert("ses_1", "msg_3")
    database.session("ses_2", shop, parent="ses_1")
    database.message("ses_2", "msg_5", "assistant")
    database.part("ses_2", "msg_5", "prt_51", tool("o4"))
    kept.read()
    found = kept.calls()
    assert {call: row[5] for call, row in found.items()} == {"o1": 0, "o2": 0, "o3": 1, "o4": 0}
    assert found["o1"][2] == found["o2"][2]
    assert [found[call][4] for call in ("o1", "o2")] == [1, 0]
    assert (found["o4"][0], found["o4"][3]) == ("ses_2", "ses_2")


# --- what memory told is nobody's result -----------------------------------------------------

TOLD = '<metamem-memory advice="1">\nWhat worked: `uv run pytest -q`.\n</metamem-memory>'


def test_what_memory_told_is_taken_out_of_results(tmp_path: Path, shop: str) -> None:
    escaped = TOLD.replace("<", "&lt;").replace(">", "&gt;")
    said = f"Output: x\nExit Code: 127\n\n<hook_context>{escaped}</hook_context>"
    assert given_back(said) == "Output: x\nExit Code: 127"
    assert given_back(f"x\n\n{TOLD}\nmore") == "x\nmore"
    source = "MARK = '<metamem-memory'  # with no end"
    assert given_back(source) == source
    call = gemini_call("r1") | {"result": [{"functionResponse": {"response": {"output": said}}}]}
    records = [gemini_head("g1"), gemini_message("m1", "gemini", "", toolCalls=[call])]
    path = gemini_file(tmp_path, jsonl(records), shop)
    (found,) = look(Source("gemini", path), None).transcript.calls
    assert (found.result, found.exit_code) == ("Output: x\nExit Code: 127", 127)
