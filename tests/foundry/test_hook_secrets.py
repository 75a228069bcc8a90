"""Secrets in every field of every event of every host, with the daemon there and without it: none of them
reaches the disk."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from metamem.service.attach import control
from tests.foundry.living import Agents, Run
from tests.service.attach import hosts
from tests.service.attach.living import PATIENCE, until
from tests.service.attach.tool_events import BEFORE, FAILED, NAMES
from tests.service.writing.planted import SECRETS, drawn

# What stands nowhere but in one kind of place, so that each place is tried.
BLOCK = "\n".join(drawn(64, seed=n) for n in (31, 32))
KEY_BLOCK = f"-----BEGIN RSA PRIVATE {'KEY'}-----\n{BLOCK}\n-----END RSA PRIVATE {'KEY'}-----"
PLANTED = {
    "arguments": "gh" + "p_" + drawn(36, seed=41),
    "results": "sk" + "-ant-api03-" + drawn(80, seed=42),
    "errors": "gl" + "pat-" + drawn(20, seed=43),
    "environment": drawn(24, seed=44),
    "settings": "blue-heron-" + drawn(6, seed=45),
    "prompts": "xo" + "xb-" + drawn(12, "0123456789", 46) + "-" + drawn(24, seed=46),
    "key blocks": BLOCK.split("\n")[0],
    "other fields": "AK" + "IA" + drawn(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 47),
}


def runs() -> list[Run]:
    """Commands that hold and print what nobody may see, each with a failure and what then worked."""
    planted = PLANTED
    return [
        (
            f"curl -H 'Authorization: token {planted['arguments']}' https://x",
            "401 Unauthorized",
            22,
        ),
        (f"DB_PASSWORD={planted['environment']} ./deploy", f"bad key {planted['errors']}", 1),
        ("cat .env", f"SHOP_MODE={planted['settings']}\nexport A='{planted['settings']}'", 0),
        ("cat id_rsa", KEY_BLOCK, 0),
        ("./deploy", f"logged in with {planted['results']}", 0),
        (f"echo {planted['environment']}", planted["environment"], 1),  # told by nothing around it
    ]


def events(agents: Agents, host: str, session: str, path: Path | None) -> list[tuple[str, Any]]:
    """Every event around every command, with something planted in every further field."""
    found: list[tuple[str, Any]] = []
    other = PLANTED["other fields"]
    extra = {"tool_response": {"llmContent": f"{other}", "returnDisplay": other}}
    for number, run in enumerate(runs()):
        call = f"{session}-{number}"
        for moment in NAMES[host]:
            if (moment == FAILED) != bool(run[2]) and moment != BEFORE:
                continue
            data = agents.tool(host, moment, session, run, path, call=call)
            if host == "gemini":
                data["mcp_context"] = {"env": {"TOKEN": other}}
                data = data if moment == BEFORE or number else {**data, **extra}
            found.append((NAMES[host][moment], {**data, "unknown": other, "model": other}))
    return found


def planted_in(folder: Path) -> list[str]:
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            found += [f"{n} in {path.name}" for n, s in PLANTED.items() if s.encode() in data]
    return found


@pytest.mark.parametrize("host", NAMES)
def test_nothing_planted_in_any_event_is_on_the_disk(agents: Agents, host: str) -> None:
    agents.begin()
    commands = agents.attach(host)
    secret = PLANTED["prompts"]
    path = agents.write(host, "s", runs(), f"Deploy with {secret} please; SESSION_SECRET={secret}")
    start = hosts.sent(host, hosts.START, "s", agents.project, path) | {"unknown": secret}
    prompt = hosts.sent(host, hosts.PROMPT, "s", agents.project, path, f"use {secret} to deploy")
    end = hosts.sent(host, hosts.END, "s", agents.project, path)
    end["last_assistant_message"] = end["prompt_response"] = secret
    names = hosts.EVENTS[host]
    everything = [
        (names[hosts.START], start),
        (names[hosts.PROMPT], prompt),
        *events(agents, host, "s", path),
        (names[hosts.END], end),
    ]
    (agents.meeting.folder / "start").rename(agents.meeting.folder / "kept")  # nobody is there
    for name, data in everything:
        done = agents.run(commands[name], data) if name in commands else None
        assert done is None or done.returncode == 0
    assert planted_in(agents.home / "memory") == []
    (agents.meeting.folder / "kept").rename(agents.meeting.folder / "start")
    control.start(agents.meeting)
    for name, data in everything:
        if name in commands:
            assert agents.run(commands[name], data).returncode == 0
    agents.settled()
    assert until(lambda: agents.rows("SELECT COUNT(*) FROM calls") == [(len(runs()),)])
    assert until(lambda: agents.rows("SELECT COUNT(*) FROM failure_occurrences")[0][0] >= 2)
    while_running = planted_in(agents.home / "memory")  # the log of changes, too
    control.stop(agents.meeting)
    assert while_running == planted_in(agents.home / "memory") == []
    results = [row[0] for row in agents.rows("SELECT result FROM calls WHERE redacted = 1")]
    assert len(results) >= 5  # they were kept, and cleaned


def test_nothing_planted_in_opencode_is_on_the_disk(agents: Agents) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("the plug-in is JavaScript, and node is not installed")
    agents.begin()
    plugin = Path(agents.attach("opencode")["plugin"])
    control.start(agents.meeting)
    agents.write("opencode", "ses1", runs(), f"Deploy with {PLANTED['prompts']}")
    module = agents.home / "metamem.mjs"
    module.write_text(plugin.read_text())
    calls = [{"command": command, "said": said, "code": code} for command, said, code in runs()]
    driver = agents.home / "driver.mjs"
    driver.write_text(
        f"""
        import {{ Metamem }} from {json.dumps(module.as_uri())}
        const hooks = await Metamem({{ directory: {json.dumps(str(agents.project))} }})
        const sessionID = "ses1", other = {json.dumps(PLANTED["other fields"])}
        const parts = [{{ type: "text", text: other }}]
        await hooks["chat.message"]({{ sessionID }}, {{ parts }})
        await hooks["experimental.chat.system.transform"]({{ sessionID }}, {{ system: [] }})
        const messages = []
        for (const [n, {{ command, said, code }}] of {json.dumps(calls)}.entries()) {{
          const callID = `ses1-${{n}}`, input = {{ tool: "bash", sessionID, callID, other }}
          const args = {{ command, other }}
          await hooks["tool.execute.before"](input, {{ args }})
          const output = {{ title: other, output: said, metadata: {{ exit: code, other }} }}
          await hooks["tool.execute.after"]({{ ...input, args }}, output)
          const state = {{ status: "error", input: args, error: said, metadata: {{ other }} }}
          const part = {{ type: "tool", sessionID, callID: callID + "x", tool: "read", state }}
          await hooks.event({{ event: {{ type: "message.part.updated", properties: {{ part }} }} }})
          messages.push({{ info: {{}}, parts: [part] }})
        }}
        await hooks["experimental.chat.messages.transform"]({{}}, {{ messages }})
        await hooks.event({{ event: {{ type: "session.idle", properties: {{ sessionID }} }} }})
        """
    )
    done = subprocess.run(
        [node, str(driver)], capture_output=True, env=agents.environment, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    agents.settled()
    assert until(lambda: agents.rows("SELECT COUNT(*) FROM calls") == [(len(runs()),)])
    while_running = planted_in(agents.home / "memory")
    control.stop(agents.meeting)
    assert while_running == planted_in(agents.home / "memory") == []


def test_all_kinds_of_secrets_in_calls_of_a_hooked_session(agents: Agents) -> None:
    """Each of the list, in a command, in what it prints, and in what it fails with."""
    agents.begin()
    commands = agents.attach("claude-code")
    some = [each for each in SECRETS if "\n" not in each[1]]
    several: list[Run] = []
    for _, secret, around in some:
        said = around.format(secret)
        several += [(f"run '{said}'", said, 1), (f"echo {secret}", secret, 0)]
    path = agents.write("claude-code", "s", several)
    control.start(agents.meeting)
    for number, run in enumerate(several[:10]):
        data = agents.tool("claude-code", FAILED, "s", run, path, call=f"s-{number}")
        agents.run(commands["PostToolUseFailure"], data)
    end = hosts.sent("claude-code", hosts.END, "s", agents.project, path)
    agents.run(commands["Stop"], end)
    agents.settled()
    assert until(lambda: agents.rows("SELECT COUNT(*) FROM calls") == [(len(several),)])
    control.stop(agents.meeting)
    for path in (agents.home / "memory").rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert [kind for kind, secret, _ in some if secret.encode() in data] == [], path


def test_a_spool_holds_ids_and_paths_alone(agents: Agents) -> None:
    agents.begin()
    commands = agents.attach("claude-code")
    (agents.meeting.folder / "start").unlink()
    for name, data in events(agents, "claude-code", "s", agents.home / "t.jsonl"):
        agents.run(commands[name], data)
    files = list(agents.meeting.spool.iterdir())
    assert len(files) == 1  # of one session and file
    fields = files[0].read_bytes().split(b"\0")
    assert fields[:4] == [
        b"claude-code",
        b"s",
        os.fsencode(agents.home / "t.jsonl"),
        os.fsencode(agents.project),
    ]
    assert len(fields) == 5 and fields[4] in (b"PreToolUse", b"PostToolUse", b"PostToolUseFailure")
