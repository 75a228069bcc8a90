"""Hooks and daemons are killed at any moment: every line is kept once, and no secret reaches the disk."""

import os
import random
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from metamem.service.attach import control
from metamem.service.attach.places import hook_command
from tests.service.attach.hosts import END, PROMPT, START, sent
from tests.service.attach.living import NOBODY, Life
from tests.service.importing.written import Claude, Codex, use
from tests.service.writing.planted import SECRETS

ROUNDS = 12


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_killed_at_any_moment_nothing_is_lost_and_nothing_doubled(life: Life, seed: int) -> None:
    luck = random.Random(seed)
    life.begin()
    command = life.attach("claude-code")["Stop"]
    sessions = {name: Claude(name, str(life.project)) for name in ("a", "b")}
    files = {name: life.home / f"{name}.jsonl" for name in sessions}
    control.start(life.meeting)
    for turn in range(ROUNDS):
        name = luck.choice(["a", "b"])
        for _ in range(luck.randint(1, 30)):
            sessions[name].user(f"In session {name} prompt {turn}-{luck.random()} was given.")
            sessions[name].agent(f"In session {name} answer {turn}-{luck.random()} was given.")
        text = sessions[name].text()
        # The host may still be writing when it says so.
        files[name].write_text(text[: luck.randint(len(text) // 2, len(text))])
        _hook(life, command, sent("claude-code", END, name, life.project, files[name]), luck)
        files[name].write_text(text)
        time.sleep(luck.random() * 0.2)
        if luck.random() < 0.5:
            life.kill()
            if luck.random() < 0.5:
                control.start(life.meeting)
    for name, file in files.items():
        if file.exists():
            life.run(command, sent("claude-code", END, name, life.project, file))
    control.start(life.meeting)
    life.settled()
    kept = Counter(
        fact.text for name in files for fact in life.facts(types=("turn",), session=name)
    )
    wanted = {
        record["message"]["content"]
        if isinstance(record["message"]["content"], str)
        else record["message"]["content"][0]["text"]
        for session in sessions.values()
        for record in session.records
        if isinstance(record, dict)
    }
    assert set(kept) == wanted
    assert set(kept.values()) <= {1}


@pytest.mark.slow
def test_a_daemon_killed_at_its_work_goes_on_with_no_further_word(life: Life) -> None:
    luck = random.Random(3)
    life.begin()
    session = Claude("s", str(life.project))
    for number in range(700):
        session.user(f"Prompt number {number} of a long session was given.")
    file = life.home / "s.jsonl"
    file.write_text(session.text())
    (life.meeting.folder / "start").write_bytes(NOBODY)  # no hook starts it here
    life.run(
        hook_command("capture", "claude-code", life.meeting),
        sent("claude-code", END, "s", life.project, file),
    )
    for _ in range(6):
        control.start(life.meeting)
        time.sleep(luck.random() * 0.15)
        life.kill()
    control.start(life.meeting)
    life.settled()
    kept = [fact.text for fact in life.facts(types=("turn",))]
    assert len(kept) == len(set(kept)) == 700


def _hook(life: Life, command: str, given: dict[str, object], luck: random.Random) -> None:
    import json

    process = subprocess.Popen(
        ["/bin/sh", "-c", command],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
        env=life.environment,
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(given).encode())
    process.stdin.close()
    if luck.random() < 0.5:
        time.sleep(luck.random() * 0.03)
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_secrets_of_a_session_are_nowhere_on_the_disk(life: Life, host: str) -> None:
    life.begin()
    commands = life.attach(host)
    file = life.home / "rollout-s.jsonl"
    session = (
        Claude("s", str(life.project)) if host == "claude-code" else Codex("s", str(life.project))
    )
    for number, (_, secret, around) in enumerate(SECRETS):
        session.user(around.format(secret))
        if isinstance(session, Claude):
            told = "It is used: " + around.format(secret)
            session.agent(told, use(f"t{number}", "Bash", command=f"echo {secret}"))
            session.result(f"t{number}", secret, error=True)
        else:
            session.agent("It is used: " + around.format(secret))
            session.run(f"c{number}", f"echo {secret}", secret, 1)
    file.write_text(session.text())
    one = SECRETS[0][1]
    # With nobody there, and with the daemon there.
    life.run(
        commands["Stop"],
        {**sent(host, END, "s", life.project, file), "last_assistant_message": one},
    )
    control.start(life.meeting)
    life.run(commands["SessionStart"], sent(host, START, "s", life.project, file))
    life.run(
        commands["UserPromptSubmit"],
        sent(host, PROMPT, "s", life.project, file, f"use {one} to deploy the shop"),
    )
    life.run(commands["Stop"], sent(host, END, "s", life.project, file))
    life.settled()
    while_running = _planted(life.meeting.memories)
    control.stop(life.meeting)
    assert len(life.facts(types=("turn",))) > len(SECRETS)
    assert while_running == _planted(life.meeting.memories) == []


def _planted(folder: Path) -> list[str]:
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            found += [
                f"{kind} in {path.name}" for kind, secret, _ in SECRETS if secret.encode() in data
            ]
    return found


def test_the_next_hook_starts_a_daemon_that_was_killed(life: Life) -> None:
    life.begin()
    commands = life.attach("codex")
    first = control.start(life.meeting)["pid"]
    life.kill()
    session = Codex("s", str(life.project))
    session.user("Remember the blue pipeline.")
    file = life.home / "rollout-s.jsonl"
    file.write_text(session.text())
    life.run(commands["Stop"], sent("codex", END, "s", life.project, file))
    life.settled()
    second = control.status(life.meeting)
    assert second is not None
    assert second["pid"] != first
    assert [fact.text for fact in life.facts(types=("turn",))] == ["Remember the blue pipeline."]


def test_a_transcript_without_a_path_is_found_by_its_session(life: Life) -> None:
    """Codex may give none."""
    life.begin()
    commands = life.attach("codex")
    session = Codex("0199-s", str(life.project))
    session.user("Remember the blue pipeline.")
    file = life.home / "codex" / "sessions" / "2026" / "rollout-2026-0199-s.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text(session.text())
    life.run(commands["Stop"], sent("codex", END, "0199-s", life.project, None))
    life.settled()
    assert len(life.facts(types=("turn",))) == 1


def test_transcripts_that_are_gone_or_broken_hold_up_nobody(life: Life) -> None:
    life.begin()
    capture = hook_command("capture", "claude-code", life.meeting)
    gone, broken, good = (life.home / f"{name}.jsonl" for name in ("gone", "broken", "good"))
    broken.write_bytes(b"\x00\xff" * 1000 + b"\n{}\n")
    session = Claude("good", str(life.project))
    session.user("Remember the blue pipeline.")
    good.write_text(session.text())
    for path in (gone, broken, good):
        life.run(capture, sent("claude-code", END, path.stem, life.project, path))
    control.start(life.meeting)
    life.settled()
    assert [fact.text for fact in life.facts(types=("turn",))] == ["Remember the blue pipeline."]
