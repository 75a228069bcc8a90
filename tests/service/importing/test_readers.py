"""Each host's transcripts, in its documented form: who said what, what was called, what was taken back."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metamem.core.errors import DataError
from metamem.service.importing.sources import Look, Source, look, peek, sources
from metamem.service.importing.transcript import Call, Transcript
from tests.extras import needs
from tests.service.importing.written import (
    FOLDER,
    Claude,
    Codex,
    Opencode,
    gemini_file,
    gemini_head,
    gemini_message,
    jsonl,
    use,
)


def words(transcript: Transcript) -> list[tuple[str, str]]:
    return [(line.speaker, line.text) for line in transcript.lines if not line.agent]


def calls(transcript: Transcript) -> dict[str, Call]:
    return {call.id: call for call in transcript.calls}


def claude_file(folder: Path, text: str) -> Source:
    path = folder / "projects" / "-home-ada-webshop" / "c1.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return Source("claude-code", path)


def codex_file(folder: Path, text: str) -> Source:
    path = folder / "sessions" / "2026" / "08" / "02" / "rollout-2026-08-02T09-00-00-x1.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return Source("codex", path)


# --- Claude Code -----------------------------------------------------------------------------


def test_claude_words_and_calls(tmp_path: Path) -> None:
    session = Claude()
    session.user("Why do the tests fail?")
    session.agent({"type": "thinking", "thinking": "hm"})
    session.agent("I run them.", use("toolu_1", "Bash", command="pytest"))
    session.result("toolu_1", "1 failed", error=True)
    session.agent("One fails: a date.")
    found = look(claude_file(tmp_path, session.text()), None).transcript
    assert (found.host, found.session, found.folder) == ("claude-code", "c1", FOLDER)
    assert words(found) == [
        ("user", "Why do the tests fail?"),
        ("agent", "I run them."),
        ("agent", "One fails: a date."),
    ]
    (call,) = found.calls
    assert (call.tool, call.arguments, call.failed) == ("Bash", {"command": "pytest"}, True)
    assert (call.error, call.milliseconds) == ("1 failed", 1000)
    assert call.prompt == found.lines[0].id


def test_claude_parallel_calls_are_one_group_and_no_rewind(tmp_path: Path) -> None:
    session = Claude()
    session.user("Read both files.")
    asked = session.agent("Reading.", use("t1", "Read", file="a"), use("t2", "Read", file="b"))
    session.result("t1", "A", parent=asked)
    session.result("t2", "B", parent=asked)  # a branch of the same answer
    session.agent("Both read.")
    session.user("Thanks, now a third one please.")
    found = look(claude_file(tmp_path, session.text()), None).transcript
    assert len(words(found)) == 4
    assert not found.rewound
    both = calls(found)
    assert both["t1"].group == both["t2"].group != ""
    assert [both["t1"].result, both["t2"].result] == ["A", "B"]


def test_claude_what_was_rewound_is_no_evidence(tmp_path: Path) -> None:
    session = Claude()
    session.user("Add a cache.")
    kept = session.agent("Added with a dict.")
    wrong = session.user("Use Redis instead.")
    session.agent("Now with Redis.", use("t9", "Edit", file="cache.py"))
    session.user("Use memcached instead.", parent=kept)
    session.agent("Now with memcached.")
    found = look(claude_file(tmp_path, session.text()), None).transcript
    assert [text for _, text in words(found)] == [
        "Add a cache.",
        "Added with a dict.",
        "Use memcached instead.",
        "Now with memcached.",
    ]
    assert wrong in found.rewound
    assert "t9" not in calls(found)


def test_claude_a_rewind_into_what_was_read_before(tmp_path: Path) -> None:
    session = Claude()
    session.user("Add a cache.")
    kept = session.agent("Added with a dict.")
    wrong = session.user("Use Redis instead.")
    session.agent("Now with Redis.")
    source = claude_file(tmp_path, session.text())
    first = look(source, None)
    session.user("Use memcached instead.", parent=kept)
    source.path.write_text(session.text())
    second = look(source, _stored(first))
    assert words(second.transcript) == [("user", "Use memcached instead.")]
    assert second.transcript.rewound[0] == wrong


def test_claude_a_rewind_far_back_reads_all_again(tmp_path: Path) -> None:
    session = Claude()
    first = session.user("The first word.")
    for number in range(250):
        session.user(f"Prompt {number}.")
        session.agent(f"Answer {number}.")
    source = claude_file(tmp_path, session.text())
    before = look(source, None)
    session.user("Back to the beginning.", parent=first)
    source.path.write_text(session.text())
    after = look(source, _stored(before)).transcript
    assert [text for _, text in words(after)] == ["The first word.", "Back to the beginning."]
    assert len(after.rewound) == 500


def test_claude_compaction_and_what_the_host_puts_in_are_no_words_of_the_user(
    tmp_path: Path,
) -> None:
    session = Claude()
    session.user("<command-name>/init</command-name>")
    session.user("Caveat: The messages below were generated by the user", isMeta=True)
    session.user("Fix it.<system-reminder>Remember to be brief.</system-reminder>")
    session.user('And this.\n<metamem-memory recall="r1">\n- [x] an old note\n</metamem-memory>')
    session.agent("Fixed.")
    session.compact("This session is being continued: the user wanted it fixed.")
    session.user("[Request interrupted by user]")
    session.user("Next one.")
    found = look(claude_file(tmp_path, session.text()), None).transcript
    assert [text for _, text in words(found)] == ["Fix it.", "And this.", "Fixed.", "Next one."]
    assert found.compactions == 1
    assert not found.rewound


def test_claude_sub_agents_stand_apart(tmp_path: Path) -> None:
    session = Claude()
    session.user("Look around.")
    session.agent("I send somebody.", use("t1", "Task", prompt="look"))
    session.user("Look at every file.", isSidechain=True, agentId="a7")
    session.agent("Looking.", use("t2", "Grep", pattern="x"), isSidechain=True, agentId="a7")
    session.result("t1", "Nothing found.")
    session.agent("There is nothing.")
    found = look(claude_file(tmp_path, session.text()), None).transcript
    assert [text for _, text in words(found)] == [
        "Look around.",
        "I send somebody.",
        "There is nothing.",
    ]
    aside = [(line.speaker, line.text) for line in found.lines if line.agent == "a7"]
    assert aside == [("agent", "Look at every file."), ("agent", "Looking.")]
    assert calls(found)["t2"].agent == "a7"


# --- Codex -----------------------------------------------------------------------------------


def test_codex_says_each_thing_once(tmp_path: Path) -> None:
    session = Codex()
    content = [{"type": "input_text", "text": "<environment_context>\n<cwd>/x</cwd>"}]
    session.add("response_item", type="message", role="user", content=content)
    session.user("Run the tests.")
    session.run("call_1", "pytest", "2 failed", 1)
    session.run("call_2", "pytest -x", "ok", 0)
    session.agent("They pass now.")
    session.user("Run the tests.")
    session.agent("They pass now.")
    found = look(codex_file(tmp_path, session.text()), None).transcript
    assert (found.session, found.folder) == ("x1", FOLDER)
    assert words(found) == [("user", "Run the tests."), ("agent", "They pass now.")] * 2
    both = calls(found)
    assert (both["call_1"].failed, both["call_2"].failed) == (True, False)
    assert both["call_1"].arguments == {"cmd": "pytest"}
    assert "2 failed" in both["call_1"].error


def test_codex_rolled_back_turns_are_no_evidence(tmp_path: Path) -> None:
    session = Codex()
    session.user("One.")
    session.agent("First.")
    session.user("Two.")
    session.agent("Second.")
    source = codex_file(tmp_path, session.text())
    first = look(source, None)
    session.add("event_msg", type="thread_rolled_back", num_turns=1)
    session.user("Three.")
    source.path.write_text(session.text())
    second = look(source, _stored(first)).transcript
    gone = {line.id for line in first.transcript.lines[2:]}
    assert set(second.rewound) == gone
    assert words(second) == [("user", "Three.")]
    whole = look(source, None).transcript
    assert [text for _, text in words(whole)] == ["One.", "First.", "Three."]


def test_codex_compaction_adds_nothing_and_sub_agents_say_whose_they_are(tmp_path: Path) -> None:
    session = Codex(source={"subagent": {"thread_spawn": {"parent_thread_id": "x0", "depth": 1}}})
    session.user("Find the bug.")
    session.add("compacted", message="A summary.", replacement_history=[])
    found = look(codex_file(tmp_path, session.text()), None).transcript
    assert (found.parent, found.compactions) == ("x0", 1)
    assert not words(found)
    assert [(line.speaker, line.agent) for line in found.lines] == [("agent", "x1")]


def test_codex_compressed_rollouts(tmp_path: Path) -> None:
    zstandard = needs("zstandard")
    session = Codex()
    session.user("One.")
    path = tmp_path / "archived_sessions" / "rollout-1.jsonl.zst"
    path.parent.mkdir()
    path.write_bytes(zstandard.ZstdCompressor().compress(session.text().encode()))
    (source,) = sources("codex", {"CODEX_HOME": str(tmp_path)})
    first = look(source, None)
    assert words(first.transcript) == [("user", "One.")]
    assert not look(source, _stored(first)).transcript.lines


# --- Gemini CLI ------------------------------------------------------------------------------


def test_gemini_messages_grow_and_are_rewound(tmp_path: Path) -> None:
    tool = {
        "id": "run-1",
        "name": "run_shell_command",
        "args": {"command": "make"},
        "status": "error",
        "timestamp": "2026-08-03T11:00:02.000Z",
        "result": [{"functionResponse": {"id": "run-1", "response": {"error": "no rule"}}}],
    }
    answer = gemini_message("m2", "gemini", "I build it.")
    records = [
        gemini_head(),
        gemini_message("m1", "user", [{"text": "Build it."}]),
        answer,
        {**answer, "toolCalls": [tool]},
        {"$set": {"lastUpdated": "2026-08-03T11:00:09.000Z", "summary": "A build"}},
        gemini_message("m3", "user", "Never mind."),
        gemini_message("m4", "info", "Some notice"),
        {"$rewindTo": "m3"},
        gemini_message("m5", "user", "Use ninja."),
    ]
    path = gemini_file(tmp_path, jsonl(records))
    found = look(Source("gemini", path), None).transcript
    assert (found.session, found.folder, found.title) == ("g1", FOLDER, "A build")
    assert words(found) == [
        ("user", "Build it."),
        ("agent", "I build it."),
        ("user", "Use ninja."),
    ]
    assert found.rewound == ("m3",)
    (call,) = found.calls
    assert (call.tool, call.failed, call.error) == ("run_shell_command", True, "no rule")


def test_gemini_history_that_was_made_shorter_is_not_said_again(tmp_path: Path) -> None:
    records = [
        gemini_head(),
        gemini_message("m1", "user", "Build it."),
        {"$set": {"messages": [gemini_message("s1", "user", "A summary of all that was.")]}},
    ]
    found = look(Source("gemini", gemini_file(tmp_path, jsonl(records))), None).transcript
    assert words(found) == [("user", "Build it.")]
    assert found.compactions == 1


def test_gemini_old_documents(tmp_path: Path) -> None:
    document = gemini_head(
        messages=[
            gemini_message("m1", "user", "Hello there."),
            gemini_message("m2", "user", "More."),
        ]
    )
    path = gemini_file(tmp_path, json.dumps(document), name="session-0.json")
    (source,) = sources("gemini", {"GEMINI_CLI_HOME": str(tmp_path)})
    first = look(source, None)
    assert [text for _, text in words(first.transcript)] == ["Hello there.", "More."]
    assert not look(source, _stored(first)).transcript.lines
    document["messages"].pop()
    path.write_text(json.dumps(document))
    assert look(source, _stored(first)).transcript.rewound == ("m2",)
    path.write_text(json.dumps(document)[:-5])
    with pytest.raises(DataError):
        look(source, _stored(first))


# --- opencode --------------------------------------------------------------------------------


def test_opencode_parts_and_reverts(tmp_path: Path) -> None:
    written = Opencode(tmp_path / "opencode" / "opencode.db")
    written.session("ses_1")
    written.say("ses_1", "msg_1", "user", "Add a test.")
    written.message("ses_1", "msg_2", "assistant")
    written.part("ses_1", "msg_2", "prt_21", {"type": "text", "text": "On it."})
    running = {
        "status": "running",
        "input": {"command": "pytest"},
        "time": {"start": 1785000001000},
    }
    tool = {"type": "tool", "callID": "call_1", "tool": "bash", "state": running}
    written.part("ses_1", "msg_2", "prt_22", tool)
    (source,) = sources("opencode", {"XDG_DATA_HOME": str(tmp_path)})
    assert peek(source).folder == FOLDER
    first = look(source, None)
    assert words(first.transcript) == [("user", "Add a test."), ("agent", "On it.")]
    assert first.transcript.calls[0].failed is None
    ended = {
        "status": "error",
        "input": {"command": "pytest"},
        "error": "exit 1",
        "time": {"start": 1785000001000, "end": 1785000003500},
    }
    written.part("ses_1", "msg_2", "prt_22", {**tool, "state": ended})
    written.say("ses_1", "msg_3", "user", "Wrong way.")
    written.part("ses_1", "msg_3", "prt_33", {"type": "text", "text": "[file]", "synthetic": True})
    written.part("ses_1", "msg_3", "prt_34", "{damaged")
    second = look(source, _stored(first))
    assert words(second.transcript) == [("user", "Wrong way.")]
    (call,) = second.transcript.calls
    assert (call.failed, call.error, call.milliseconds) == (True, "exit 1", 2500)
    assert second.transcript.damaged == 1
    written.revert("ses_1", "msg_3")
    third = look(source, _stored(second))
    assert len(third.transcript.rewound) == 1
    written.revert("ses_1", None)
    again = look(source, _stored(third)).transcript
    assert ("user", "Wrong way.") in words(again)


def test_opencode_summaries_and_sub_agents(tmp_path: Path) -> None:
    written = Opencode(tmp_path / "opencode" / "opencode.db")
    written.session("ses_1")
    written.say("ses_1", "msg_1", "user", "Go.")
    written.message("ses_1", "msg_2", "user")
    written.part("ses_1", "msg_2", "prt_2", {"type": "compaction", "auto": True})
    written.say("ses_1", "msg_3", "assistant", "All that was.", summary=True)
    written.session("ses_2", parent="ses_1")
    written.say("ses_2", "msg_9", "user", "Look for x.")
    main, child = sources("opencode", {"XDG_DATA_HOME": str(tmp_path)})
    found = look(main, None).transcript
    assert words(found) == [("user", "Go.")]
    assert found.compactions == 1
    helper = look(child, None).transcript
    assert helper.parent == "ses_1"
    assert not words(helper)


# --- files that grow, break and change -------------------------------------------------------


def test_only_the_tail_is_read(tmp_path: Path) -> None:
    session = Claude()
    session.user("One.")
    source = claude_file(tmp_path, session.text())
    first = look(source, None)
    session.agent("Two.")
    whole = session.text()
    source.path.write_text(whole[:-10])  # the last line is still being written
    half = look(source, _stored(first))
    assert not half.transcript.lines
    assert not half.transcript.damaged
    source.path.write_text(whole)
    assert words(look(source, _stored(half)).transcript) == [("agent", "Two.")]


def test_a_file_that_is_another_one_is_read_from_its_beginning(tmp_path: Path) -> None:
    old, new = Claude("old"), Claude("new")
    old.user("One.")
    old.user("Two.")
    new.user("Three.")
    source = claude_file(tmp_path, old.text())
    first = look(source, None)
    source.path.write_text(new.text())
    second = look(source, _stored(first)).transcript
    assert (second.session, words(second)) == ("new", [("user", "Three.")])


@settings(max_examples=60, deadline=None)
@given(
    junk=st.lists(
        st.one_of(
            st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"])),
            st.sampled_from(['{"type":"user"', "[1,2]", "null", '"x"', "{}", '{"type":"user"}',
                             '{"type":"assistant","message":{"content":[null,{"type":"tool_use"}]}}',
                             '{"type":"response_item","payload":[]}', '{"id":5,"type":"user"}',
                             '{"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":"x"}}',
                             '{"$rewindTo":"nowhere"}', '{"$set":{"messages":[1,{"id":"q"}]}}',
                             '{"type":"user","message":{"content":{"a":1}},"timestamp":[]}']),
        ),
        max_size=12,
    ),
    host=st.sampled_from(["claude-code", "codex", "gemini"]),
)  # fmt: skip
def test_damaged_lines_never_stop_a_reader(
    tmp_path_factory: pytest.TempPathFactory, junk: list[str], host: str
) -> None:
    path = tmp_path_factory.mktemp("junk") / "session-1.jsonl"
    session = Claude() if host == "claude-code" else Codex()
    session.user("One.")
    good = jsonl([gemini_head(), gemini_message("m1", "user", "One.")]) if host == "gemini" else ""
    path.write_text(jsonl(junk) + (good or session.text()), encoding="utf-8")
    found = look(Source(host, path), None).transcript
    assert "One." in [text for _, text in words(found)]


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_pieces_together_are_the_whole(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """However a growing transcript is cut into looks, the same lines stand in the end."""
    session = Claude()
    parents: list[str] = []
    for step in range(data.draw(st.integers(1, 12))):
        back = data.draw(st.sampled_from([None, None, *parents]))
        session.user(f"Prompt {step}.", parent=back)
        parents.append(session.agent(f"Answer {step}."))
    text = session.text()
    source = claude_file(tmp_path_factory.mktemp("grows"), "")
    state, standing = None, {}
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=6))
    for cut in (*sorted(cuts), len(text)):
        source.path.write_text(text[:cut])
        found = look(source, state)
        state = json.loads(json.dumps(found.state))
        for gone in found.transcript.rewound:
            standing.pop(gone, None)
        standing |= {line.id: line.text for line in found.transcript.lines}
    whole = look(source, None).transcript
    assert standing == {line.id: line.text for line in whole.lines}


def _stored(found: Look) -> dict[str, object]:
    """As the next look gets it: through JSON, and without a word of what was said."""
    text = json.dumps(found.state)
    for line in found.transcript.lines:
        assert line.text not in text
    state: dict[str, object] = json.loads(text)
    return state
