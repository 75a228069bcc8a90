"""The contract with each host: what its schemas say is understood, field by field, and what we answer is
what it takes. Events go through JSON and come back the same."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.core.errors import DataError
from metamem.service.attach.events import (
    NAMES as EVENTS,
)
from metamem.service.attach.events import (
    VERSION,
    PromptGiven,
    SessionEnded,
    SessionStarted,
    ToolBegun,
    ToolEnded,
    from_json,
    to_json,
)
from metamem.service.attach.hooked import answer, heard, kinds_of
from metamem.service.attach.hosts import attachment
from metamem.service.attach.places import Meeting
from metamem.service.importing.sources import HOSTS
from tests.service.attach import hosts
from tests.service.attach.tool_events import (
    AFTER,
    BEFORE,
    FAILED,
    NAMES,
    SHELLS,
    input_schema,
    output_schema,
    sent,
)

FOLDER, FILE = Path("/home/ada/shop"), Path("/home/ada/t.jsonl")
RUN = {"command": "pytest -q"}
MISSING = "sh: pytest: command not found"
MOMENTS = [(host, moment) for host in NAMES for moment in NAMES[host]]


def parsed(host: str, moment: str, data: dict[str, Any]) -> Any:
    return heard(host, "before" if moment == BEFORE else "after", json.dumps(data).encode()).event


@pytest.mark.parametrize(("host", "moment"), MOMENTS)
def test_what_a_host_sends_around_a_tool_is_understood(host: str, moment: str) -> None:
    code = 127 if moment == FAILED else 0
    data = sent(host, moment, "s1", FOLDER, FILE, arguments=RUN, said=MISSING, code=code)
    jsonschema.validate(data, input_schema(host, moment))
    event = parsed(host, moment, data)
    assert type(event) is (ToolBegun if moment == BEFORE else ToolEnded)
    assert (event.host, event.session, event.agent) == (host, "s1", "")
    assert (event.folder, event.transcript) == (str(FOLDER), str(FILE))
    assert (event.tool, event.arguments) == (SHELLS[host], RUN)
    assert event.call == ("" if host == "gemini" else "call-1")  # which gives none
    if moment == BEFORE:
        return
    assert MISSING in event.result
    if moment == FAILED:
        assert (event.failed, event.exit_code, event.interrupted) == (True, 127, False)
        assert MISSING in event.error
    else:
        # Codex does not say how a command ended.
        assert event.failed is (None if host == "codex" else False)
        assert (event.error, event.exit_code) == ("", None)
    assert event.milliseconds == (12 if host == "claude-code" else None)
    assert (event.at is not None) == (host == "gemini")


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_sub_agents_are_told_apart(host: str) -> None:
    data = sent(host, BEFORE, "s1", FOLDER, FILE, agent_id="a7", agent_type="Explore")
    jsonschema.validate(data, input_schema(host, BEFORE))
    assert parsed(host, BEFORE, data).agent == "a7"


def test_what_else_hosts_say() -> None:
    stopped = sent("claude-code", FAILED, "s", FOLDER, FILE, said="stopped", is_interrupt=True)
    assert parsed("claude-code", FAILED, stopped).interrupted
    edit = sent("claude-code", FAILED, "s", FOLDER, FILE, tool="Edit", said="String not found")
    assert parsed("claude-code", FAILED, edit).exit_code is None
    response: dict[str, Any] = {"llmContent": [{"text": "Error: no"}], "returnDisplay": "no"}
    response["error"] = {"message": "File not found: a.py", "type": "file_not_found"}
    failed = sent("gemini", FAILED, "s", FOLDER, FILE, tool="read_file", tool_response=response)
    event = parsed("gemini", FAILED, failed)
    assert (event.failed, event.error, event.result) == (True, "File not found: a.py", "Error: no")
    tool = {"content": [{"type": "text", "text": "42"}], "isError": False}
    called = sent("codex", AFTER, "s", FOLDER, None, tool="mcp__shop__price", tool_response=tool)
    jsonschema.validate(called, input_schema("codex", AFTER))
    event = parsed("codex", AFTER, called)
    assert (event.result, event.transcript) == ("42", "")


def test_opencode_as_its_plug_in_hands_it_on() -> None:
    about = {"session_id": "ses_1", "cwd": str(FOLDER), "transcript_path": "/db"}
    args = {"tool": "bash", "sessionID": "ses_1", "callID": "call_1"}
    begun = {**about, "input": args, "output": {"args": RUN}}
    event = parsed("opencode", BEFORE, begun)
    assert (event.call, event.tool, event.arguments) == ("call_1", "bash", RUN)
    output = {"title": "t", "output": MISSING, "metadata": {"exit": 127}}
    ended = {**about, "input": {**args, "args": RUN}, "output": output}
    event = parsed("opencode", AFTER, ended)
    assert (event.arguments, event.failed, event.exit_code) == (RUN, True, 127)
    assert event.error == MISSING
    state = {
        "status": "error",
        "input": {"filePath": "a.py"},
        "error": "File not found",
        "time": {"start": 1785000001000, "end": 1785000001500},
    }
    part = {"type": "tool", "callID": "call_2", "tool": "read", "state": state}
    event = parsed("opencode", AFTER, {**about, "part": part})
    assert (event.call, event.tool, event.arguments) == ("call_2", "read", {"filePath": "a.py"})
    assert (event.failed, event.error, event.milliseconds) == (True, "File not found", 500)


@pytest.mark.parametrize("host", hosts.EVENTS)
def test_starts_and_prompts(host: str) -> None:
    start = hosts.sent(host, hosts.START, "s1", FOLDER, FILE)
    found = heard(host, "start", json.dumps(start).encode())
    assert isinstance(found.event, SessionStarted)
    assert (found.event.source, found.name) == ("startup", "SessionStart")
    prompt = hosts.sent(host, hosts.PROMPT, "s1", FOLDER, FILE, "Fix it.")
    found = heard(host, "prompt", json.dumps(prompt).encode())
    assert isinstance(found.event, PromptGiven)
    assert found.event.prompt == "Fix it."
    assert found.name == hosts.EVENTS[host][hosts.PROMPT]


@pytest.mark.parametrize(("host", "moment"), MOMENTS)
def test_what_is_answered_is_what_the_host_takes_and_decides_nothing(
    host: str, moment: str
) -> None:
    data = sent(host, moment, "s1", FOLDER, FILE)
    name = heard(host, "before" if moment == BEFORE else "after", json.dumps(data).encode()).name
    assert answer(name, "") == b""
    told = json.loads(answer(name, "A fenced line.\n" * 2000))
    jsonschema.validate(told, output_schema(host, NAMES[host][moment]))


@pytest.mark.parametrize("host", HOSTS)
def test_hooks_are_installed_for_events_that_the_host_has(host: str, tmp_path: Path) -> None:
    """And only for tools of which something can come."""
    meeting = Meeting(tmp_path / "memory")
    environment = {"CLAUDE_CONFIG_DIR": str(tmp_path), "CODEX_HOME": str(tmp_path)}
    part = attachment(host, meeting, environment=environment).parts[0]
    text = part.attached(None) or ""
    if host == "opencode":
        assert all(f'"{name}"' in text for name in ("tool.execute.before", "tool.execute.after"))
        assert '"message.part.updated"' in text
        return
    hooks = json.loads(text)["hooks"]
    of_tools = {event for event in hooks if "Tool" in event}
    assert of_tools and of_tools <= set(NAMES[host].values())
    assert all(hooks[event][0]["matcher"] for event in of_tools)


@pytest.mark.parametrize(
    "asked", ["", "rm", "briefing+recall", "before+after", "start+", "capture"]
)
def test_nobody_can_ask_so(asked: str) -> None:
    with pytest.raises(ValueError):
        kinds_of(asked)


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
FIELDS = ["tool_use_id", "tool_name", "tool_input", "tool_response", "error", "session_id", "cwd",
          "duration_ms", "is_interrupt", "input", "output", "part", "agent_id", "timestamp"]  # fmt: skip


@given(
    host=st.sampled_from(HOSTS),
    moment=st.sampled_from(["start", "prompt", "before", "after"]),
    data=st.dictionaries(st.sampled_from(FIELDS), junk),
)
def test_whatever_stands_in_the_fields_does_no_harm(host: str, moment: Any, data: Any) -> None:
    event = heard(host, moment, json.dumps(data).encode()).event
    assert from_json(json.loads(json.dumps(to_json(event)))) == event


# --- versions --------------------------------------------------------------------------------

ONE_OF_EACH = [
    SessionStarted(host="codex", session="s", source="startup", at=5),
    PromptGiven(host="codex", session="s", prompt="Fix it."),
    ToolBegun(host="codex", session="s", call="c", tool="Bash", arguments={"command": "ls"}),
    ToolEnded(
        host="codex", session="s", call="c", tool="Bash", failed=True, error="no", exit_code=2
    ),
    SessionEnded(host="codex", session="s", by="tests", success=True, confidence=0.9),
]


@pytest.mark.parametrize("event", ONE_OF_EACH)
def test_an_event_is_told_and_read_again(event: Any) -> None:
    told = json.loads(json.dumps(to_json(event)))
    assert (told["version"], EVENTS[told["event"]]) == (VERSION, type(event))
    assert from_json({**told, "later": "addition"}) == event


def test_the_form_of_version_one_stays() -> None:
    """Other programs read these: a change of a name is another version."""
    about = ["host", "session", "folder", "transcript", "agent", "at"]
    call = ["call", "tool", "arguments"]
    fields = {to_json(event)["event"]: list(to_json(event))[2:] for event in ONE_OF_EACH}
    assert fields == {
        "session_started": [*about, "source"],
        "prompt_given": [*about, "prompt"],
        "tool_begun": [*about, *call],
        "tool_ended": [*about, *call, "result", "error", "failed", "exit_code", "milliseconds",
                       "interrupted"],
        "session_ended": [*about, "reason", "by", "success", "confidence"],
    }  # fmt: skip


@pytest.mark.parametrize(
    "given", [{}, {"version": 2, "event": "tool_begun"}, {"version": 1, "event": "x"},
              {"version": 1, "event": "tool_begun", "host": "h"}, {"version": "1"}]
)  # fmt: skip
def test_events_that_cannot_be_known_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(DataError):
        from_json(given)
