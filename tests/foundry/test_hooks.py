"""A failure that was met before is answered with what then worked, through the hook that was installed."""

import json
import shutil
import subprocess
from itertools import count
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from metamem.service.attach import control
from metamem.service.marks import is_fenced
from tests.foundry.living import FAILING, MISSING, WORKING, Agents, Run
from tests.service.attach import hosts, tool_events
from tests.service.attach.living import PATIENCE, until
from tests.service.attach.tool_events import AFTER, BEFORE, FAILED

TIMES = "SELECT times FROM suggestion_moments WHERE session = ?"
OTHER: Run = ("ruff check", "sh: ruff: command not found", 127)
ENDS = {"claude-code": "Stop", "codex": "Stop", "gemini": "AfterAgent"}


def learned(agents: Agents, host: str, commands: dict[str, str]) -> None:
    """Two sessions of the past, read in by the hooks."""
    for session in ("past-1", "past-2"):
        path = agents.write(host, session, [FAILING, WORKING])
        end = hosts.sent(host, hosts.END, session, agents.project, path)
        assert agents.run(commands[ENDS[host]], end).returncode == 0
    resolved = "SELECT 1 FROM resolutions WHERE sessions >= 2 AND text LIKE '%uv run pytest -q%'"
    assert until(lambda: agents.rows(resolved)), agents.rows("SELECT * FROM failures")


def noted(agents: Agents, session: str, times: int) -> None:
    """The daemon notes what it told once the hook has it: a host's next hook comes much later."""
    assert until(lambda: agents.rows(TIMES, session) == [(times,)]), agents.rows(TIMES, session)


def test_what_worked_is_told_after_a_failure_and_once_more_before_the_same_call(
    agents: Agents,
) -> None:
    host = "claude-code"
    agents.begin()
    commands = agents.attach(host)
    control.start(agents.meeting)
    learned(agents, host, commands)
    failed, before = commands["PostToolUseFailure"], commands["PreToolUse"]
    sides = set()
    for number in count():
        session = f"now-{number}"
        told = agents.said(failed, agents.tool(host, FAILED, session, FAILING, None))
        noted(agents, session, 1 if told else 0)
        again = agents.said(before, agents.tool(host, BEFORE, session, FAILING, None, call="c2"))
        noted(agents, session, 2 if again else 0)
        third = agents.said(before, agents.tool(host, BEFORE, session, FAILING, None, call="c3"))
        assert (bool(told), third) == (bool(again), "")
        sides.add(bool(told))
        if told:
            assert is_fenced(told) and "not orders" in told
            assert "`uv run pytest -q` (2 sessions)" in told and MISSING not in told
        # Other failures are told nothing, on either side; nor are other calls.
        assert agents.said(failed, agents.tool(host, FAILED, session, OTHER, None, call="c4")) == ""
        assert agents.said(before, agents.tool(host, BEFORE, session, WORKING, None)) == ""
        if sides == {True, False} or number == 40:
            break
    assert sides == {True, False}  # some are withheld, to measure what showing does
    moments = agents.rows("SELECT session, withheld, times, use_id, place FROM suggestion_moments")
    assert len(moments) == number + 1
    assert {(times, use, place) for _, withheld, times, use, place in moments if not withheld} == {
        (2, "call-1", "retry")
    }
    assert {times for _, withheld, times, _, _ in moments if withheld} == {0}


def test_a_call_that_works_is_not_spoken_of_any_more(agents: Agents) -> None:
    host = "gemini"
    agents.begin()
    commands = agents.attach(host)
    control.start(agents.meeting)
    learned(agents, host, commands)
    after = commands["AfterTool"]
    shown = False
    for number in range(40):
        session = f"now-{number}"
        answer = agents.run(after, agents.tool(host, FAILED, session, FAILING, None))
        assert agents.run(after, agents.tool(host, AFTER, session, WORKING, None)).stdout == b""
        if answer.stdout:
            told = json.loads(answer.stdout)
            jsonschema.validate(told, tool_events.output_schema(host, "AfterTool"))
            shown = "uv run pytest -q" in told["hookSpecificOutput"]["additionalContext"]
            break
    assert shown


def test_codex_is_told_before_the_next_use_as_its_transcript_says_what_failed(
    agents: Agents,
) -> None:
    """Its hooks tell neither that a tool failed nor how a command ended."""
    host = "codex"
    agents.begin()
    commands = agents.attach(host)
    control.start(agents.meeting)
    learned(agents, host, commands)
    before, after = commands["PreToolUse"], commands["PostToolUse"]
    shown = None
    for number in range(40):
        session = f"now-{number}"
        path = agents.write(host, session, [])
        assert agents.said(before, agents.tool(host, BEFORE, session, FAILING, path)) == ""
        done = agents.run(after, agents.tool(host, AFTER, session, FAILING, path))
        assert done.stdout == b""
        agents.write(host, session, [FAILING])
        looking: Run = ("ls", "", 0)
        asked = agents.tool(host, BEFORE, session, looking, path, call="c2")
        answer = agents.run(before, asked)
        assert agents.run(before, asked).stdout == b""  # once: nothing more has failed
        if answer.stdout:
            shown = json.loads(answer.stdout)
            break
    assert shown is not None
    jsonschema.validate(shown, tool_events.output_schema(host, "PreToolUse"))
    assert "uv run pytest -q" in shown["hookSpecificOutput"]["additionalContext"]
    use = agents.rows("SELECT use_id FROM suggestion_moments WHERE session = ?", session)
    assert use == [(f"{session}-0",)]  # the id that its transcript has, too


DRIVER = """
import {{ Metamem }} from {module}
const hooks = await Metamem({{ directory: {folder} }})
const run = {{ command: "pytest -q" }}
const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const told = []
for (let n = 0; n < 40 && !told.some(Boolean); n++) {{
  const sessionID = `ses_${{n}}`, callID = `call_${{n}}`
  const input = {{ tool: "bash", sessionID, callID }}
  await hooks["tool.execute.before"](input, {{ args: run }})
  const output = {{ title: "", output: {missing}, metadata: {{ exit: 127 }} }}
  await hooks["tool.execute.after"]({{ ...input, args: run }}, output)
  const state = {{ status: "completed", input: run, output: {missing} }}
  const ask = async () => {{
    const messages = [{{ info: {{}}, parts: [{{ type: "text" }}, {{ type: "tool", callID, state }}] }}]
    await hooks["experimental.chat.messages.transform"]({{}}, {{ messages }})
    return messages[0].parts[1].state.output.slice({missing}.length)
  }}
  const first = await ask()
  if (first !== (await ask())) throw new Error("what was told must stay as it is")
  told.push(first)
}}
const failed = {{ type: "tool", sessionID: "ses_x", callID: "call_x", tool: "read",
                  state: {{ status: "error", input: {{ filePath: "a" }}, error: "no such file" }} }}
await hooks.event({{ event: {{ type: "message.part.updated", properties: {{ part: failed }} }} }})
const messages = [{{ info: {{}}, parts: [failed] }}]
await hooks["experimental.chat.messages.transform"]({{}}, {{ messages }})
console.log(JSON.stringify({{ told: told.filter(Boolean), error: messages[0].parts[0].state.error }}))
"""


def test_opencode_is_told_behind_the_result(agents: Agents) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("the plug-in is JavaScript, and node is not installed")
    agents.begin()
    plugin = Path(agents.attach("opencode")["plugin"])
    control.start(agents.meeting)
    for session in ("past1", "past2"):
        agents.write("opencode", session, [FAILING, WORKING])
    module = agents.home / "metamem.mjs"
    module.write_text(plugin.read_text())
    ended = "".join(
        f'await hooks.event({{ event: {{ type: "session.idle", properties: {{ sessionID: "{one}" }} }} }})\n'
        for one in ("past1", "past2")
    )
    head = f"import {{ Metamem }} from {json.dumps(module.as_uri())}\n"
    opened = f"const hooks = await Metamem({{ directory: {json.dumps(str(agents.project))} }})\n"
    _node(agents, node, head + opened + ended)
    resolved = "SELECT 1 FROM resolutions WHERE sessions >= 2 AND text LIKE '%uv run pytest -q%'"
    assert until(lambda: agents.rows(resolved))
    driver = DRIVER.format(
        module=json.dumps(module.as_uri()),
        folder=json.dumps(str(agents.project)),
        missing=json.dumps(MISSING),
    )
    found = json.loads(_node(agents, node, driver))
    (told,) = found["told"]
    assert "uv run pytest -q" in told and is_fenced(told)
    assert found["error"] == "no such file"  # of which nothing is known


def _node(agents: Agents, node: str, program: str) -> str:
    driver = agents.home / "driver.mjs"
    driver.write_text(program)
    done = subprocess.run(
        [node, str(driver)],
        capture_output=True,
        env=agents.environment,
        timeout=PATIENCE,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini"])
def test_a_session_begins_with_what_is_relevant(agents: Agents, host: str) -> None:
    agents.begin()
    commands = agents.attach(host)
    control.start(agents.meeting)
    learned(agents, host, commands)
    prompt = commands[hosts.EVENTS[host][hosts.PROMPT]]

    def asked(session: str, text: str) -> str:
        given = hosts.sent(host, hosts.PROMPT, session, agents.project, None, text)
        told = agents.said(prompt, given)
        return told if "What worked here before" in told else ""

    shown = ""
    for number in range(40):
        session = f"now-{number}"
        assert asked(f"other-{number}", "Write a poem about the sea.") == ""
        shown = asked(session, "Please run the invoice parser's tests again.")
        assert asked(session, "Now run the tests of the invoice parser.") == ""  # no beginning
        if shown:
            break
    assert "uv run pytest -q" in shown and shown.count("What worked here before") == 1


def test_without_the_hooks_of_tools_nothing_of_them_is_told(agents: Agents) -> None:
    from metamem.service.attach.hosts import attachment
    from metamem.service.attach.install import Installer

    agents.begin()
    commands = agents.attach("claude-code")
    control.start(agents.meeting)
    learned(agents, "claude-code", commands)
    memory = attachment(
        "claude-code", agents.meeting, what=frozenset(("memory",)), environment=agents.environment
    )
    installer = Installer(agents.meeting)
    installer.apply(installer.attaching(memory))
    hooks: dict[str, Any] = json.loads(memory.parts[0].path.read_text())["hooks"]
    assert not any("Tool" in event for event in hooks)
    command = hooks["UserPromptSubmit"][0]["hooks"][0]["command"]
    for number in range(6):
        given = hosts.sent(
            "claude-code", hosts.PROMPT, f"n{number}", agents.project, None,
            "Please run the invoice parser's tests again.",
        )  # fmt: skip
        assert "What worked here before" not in agents.said(command, given)
    assert agents.rows("SELECT COUNT(*) FROM suggestion_moments") == [(0,)]
