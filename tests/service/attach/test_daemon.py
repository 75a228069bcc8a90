"""The daemon by itself: one of it, private, and not to be brought down by what it is sent."""

import os
import socket
import stat
import subprocess
import threading
from pathlib import Path

import pytest

from metamem.service.attach import control
from metamem.service.attach.places import daemon_command, hook_command
from tests.service.attach.hosts import END, sent
from tests.service.attach.living import PATIENCE, Life, until
from tests.service.importing.written import Claude


@pytest.fixture
def running(life: Life) -> Life:
    life.begin()
    control.start(life.meeting)
    return life


def test_there_is_one(running: Life) -> None:
    first = control.status(running.meeting)
    assert first is not None
    second = subprocess.run(daemon_command(running.meeting.memories), timeout=PATIENCE)
    assert second.returncode == 1
    assert control.start(running.meeting)["pid"] == first["pid"]


@pytest.mark.slow  # starts processes beside the test, in threads
def test_many_at_once_start_one(life: Life) -> None:
    life.begin()
    found: list[int] = []
    begin = lambda: found.append(control.start(life.meeting)["pid"])  # noqa: E731
    threads = [threading.Thread(target=begin) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1


def test_it_is_private(running: Life) -> None:
    assert stat.S_IMODE(running.meeting.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(running.meeting.socket.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"\n",
        b"briefing\n",
        b"briefing claude-code -5\n",
        b"briefing claude-code 99999999999\n",
        b"briefing nobody 2\n{}",
        b"rm claude-code 0\n",
        b"recall claude-code 4\nnull",
        b"x" * 100_000,
        b"briefing claude-code 100\n{}",
        b"\xff\xfe codex 1\n",
    ],
)
def test_what_it_cannot_read_does_no_harm(running: Life, sent: bytes) -> None:
    before = Path.cwd()
    os.chdir(running.meeting.folder)
    try:
        with socket.socket(socket.AF_UNIX) as channel:
            channel.settimeout(PATIENCE)
            channel.connect("socket")
            try:
                channel.sendall(sent)
                channel.shutdown(socket.SHUT_WR)
                assert not channel.recv(100).endswith(b"\0")
            except OSError:
                pass  # it closed at once
    finally:
        os.chdir(before)
    assert control.status(running.meeting) is not None


def test_a_damaged_file_of_one_host_keeps_no_other_from_being_kept(
    life: Life, monkeypatch: pytest.MonkeyPatch
) -> None:
    life.begin()
    database = life.home / "data" / "opencode" / "opencode.db"
    database.parent.mkdir(parents=True)
    database.write_bytes(b"no database at all" * 100)
    for name, value in life.environment.items():
        monkeypatch.setenv(name, value)
    control.start(life.meeting)
    session, path = Claude("s", str(life.project)), life.home / "s.jsonl"
    session.user("The first line of it.")
    path.write_text(session.text())
    gone = {"session_id": "ses_" + "4a7Bc9" * 4, "cwd": str(life.project)}
    life.run(hook_command("capture", "opencode", life.meeting), gone)
    life.settled()
    life.run(
        hook_command("capture", "claude-code", life.meeting),
        sent("claude-code", END, "s", life.project, path),
    )
    life.settled()
    assert [fact.text for fact in life.facts()] == ["The first line of it."]


def test_who_comes_while_all_are_busy_is_turned_away(running: Life) -> None:
    before = Path.cwd()
    os.chdir(running.meeting.folder)
    held = []
    try:
        for _ in range(40):
            channel = socket.socket(socket.AF_UNIX)
            channel.connect("socket")
            held.append(channel)
    finally:
        os.chdir(before)
    held[-1].settimeout(PATIENCE)
    assert held[-1].recv(1) == b""  # it is let go, and so all before it were looked at
    for channel in held:
        channel.close()
    told = until(lambda: control.status(running.meeting, PATIENCE))
    assert told["turned_away"] > 0
    assert until(lambda: (control.status(running.meeting) or told)["failed"] > 0)


def test_it_stops_when_it_is_told_and_when_nobody_comes(life: Life) -> None:
    life.begin()
    control.start(life.meeting)
    assert control.stop(life.meeting)
    assert not control.stop(life.meeting)
    from metamem.service.attach.daemon import Daemon

    here = Path.cwd()
    mask = os.umask(0)
    os.umask(mask)
    try:
        # The one that was told to stop may not have let go of its lock yet.
        assert until(lambda: Daemon(life.meeting.memories, idle=0.1).run())
    finally:
        os.chdir(here)
        os.umask(mask)


def test_a_folder_whose_path_is_too_long_for_a_socket(tmp_path: Path) -> None:
    life = Life(tmp_path / ("long" * 20) / ("path" * 20))
    life.begin()
    try:
        assert control.start(life.meeting)["pid"]
        commands = life.attach("gemini")
        assert life.run(commands["AfterAgent"], b"{}").returncode == 0
    finally:
        life.end()
