"""The hook disturbs nobody: whatever happens it ends with 0 and says nothing."""

import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from metamem.service.attach.hidden import digest
from metamem.service.attach.places import PROGRAM, Meeting, hook_command
from metamem.service.attach.spool import Pointer, Spool
from tests.service.attach.hosts import END, START, sent
from tests.service.attach.living import NOBODY, PATIENCE, Life

KINDS = ("briefing+start", "recall", "capture", "before", "after")
POINTING = ("capture", "before", "after")
HOOK = Path(sys.modules["metamem.service.attach.places"].__file__ or "").with_name(PROGRAM)


def quiet(done: subprocess.CompletedProcess[bytes]) -> bool:
    return (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.fixture
def alone(life: Life) -> Life:
    """Nothing starts a daemon: there is no word of how."""
    life.begin()
    (life.meeting.folder / "start").write_bytes(NOBODY)
    return life


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "given",
    [b"", b"{", b"null", b"[1]", b"{}", b"\xff\xfe", b'{"session_id": 5}', b'"x"', b"1" * 100_000],
)
def test_whatever_it_is_given(alone: Life, kind: str, given: bytes) -> None:
    assert quiet(alone.run(hook_command(kind, "claude-code", alone.meeting), given))
    assert not list(alone.meeting.spool.iterdir())


@pytest.mark.parametrize("kind", KINDS)
def test_when_everything_is_gone(alone: Life, kind: str) -> None:
    given = sent("claude-code", START, "s", alone.project, None)
    command = hook_command(kind, "claude-code", alone.meeting)
    assert quiet(alone.run(hook_command(kind, "claude-code", Meeting(alone.home / "never")), given))
    assert quiet(alone.run(command.replace(PROGRAM, "gone.py"), given))
    assert quiet(alone.run(command.replace(sys.executable, "/nowhere/python"), given))
    (alone.meeting.folder / "start").unlink()
    assert quiet(alone.run(command, given))


@contextmanager
def listening(meeting: Meeting, *, answers: bytes | None) -> Iterator[None]:
    """Somebody who takes the daemon's place: silent, or with an answer that is cut short."""
    here = Path.cwd()
    os.chdir(meeting.folder)
    try:
        server = socket.socket(socket.AF_UNIX)
        server.bind("socket")
    finally:
        os.chdir(here)
    server.listen(8)
    over = threading.Event()
    held: list[socket.socket] = []

    def serve() -> None:
        server.settimeout(0.1)
        while not over.is_set():
            try:
                channel, _ = server.accept()
            except TimeoutError:
                continue
            held.append(channel)
            if answers is not None:
                with suppress(OSError):  # who asked may be gone
                    channel.recv(1 << 16)
                    channel.sendall(answers)
                channel.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        for each in (*held, server):
            each.close()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("answers", [None, b"", b'{"half": ', b"plain words"])
def test_a_daemon_that_hangs_or_breaks_off(alone: Life, kind: str, answers: bytes | None) -> None:
    given = sent("claude-code", END, "s", alone.project, Path("/t.jsonl"))
    with listening(alone.meeting, answers=answers):
        assert quiet(alone.run(hook_command(kind, "claude-code", alone.meeting), given))
    assert Spool(alone.meeting.spool).waiting() == (kind in POINTING)


def test_a_host_that_never_ends_its_input(alone: Life) -> None:
    process = subprocess.Popen(
        ["/bin/sh", "-c", hook_command("capture", "codex", alone.meeting)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.wait(PATIENCE) == 0
    assert process.communicate()[0] == b""


@pytest.mark.parametrize("kind", POINTING)
def test_a_host_that_says_very_much_finds_no_closed_pipe(alone: Life, kind: str) -> None:
    command = hook_command(kind, "claude-code", alone.meeting)
    hook = subprocess.Popen(["sh", "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert hook.stdin is not None and hook.stdout is not None
    with hook.stdin as pipe:  # it raises where nobody reads
        for _ in range(9):
            pipe.write(b"x" * 1_000_000)
    with hook.stdout as said:
        assert (said.read(), hook.wait()) == (b"", 0)


def test_only_a_pointer_is_kept_and_one_of_each_session(alone: Life) -> None:
    secret = "what nobody else may read"
    for event in ("Stop", "PreCompact"):
        given = sent("codex", END, "0199-ab", alone.project, Path('/a "b"\n/t.jsonl'))
        given |= {"hook_event_name": event, "last_assistant_message": secret, "prompt": secret}
        assert quiet(alone.run(hook_command("capture", "codex", alone.meeting), given))
    (file,) = alone.meeting.spool.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert secret.encode() not in file.read_bytes()
    assert Pointer.parse(file.read_bytes()) == Pointer(
        "codex", "0199-ab", digest('/a "b"\n/t.jsonl'), str(alone.project), "PreCompact"
    )


def test_files_of_one_session_have_pointers_of_their_own(alone: Life) -> None:
    """A sub-agent's transcript may have the session's id and another path."""
    for path in ("/main.jsonl", "/main/subagents/agent-1.jsonl", "/main.jsonl"):
        given = sent("codex", END, "0199-ab", alone.project, Path(path))
        assert quiet(alone.run(hook_command("capture", "codex", alone.meeting), given))
    pointers = [Pointer.parse(file.read_bytes()) for file in alone.meeting.spool.iterdir()]
    assert {pointer.transcript for pointer in pointers if pointer} == {
        "/main.jsonl",
        "/main/subagents/agent-1.jsonl",
    }


@pytest.mark.parametrize("session", ["../../etc/x", "a b", "é", "x" * 300, "", "a/b"])
def test_odd_names_stay_in_the_folder(alone: Life, session: str) -> None:
    given = sent("claude-code", END, session, alone.project, Path("/t.jsonl"))
    assert quiet(alone.run(hook_command("capture", "claude-code", alone.meeting), given))
    (file,) = alone.meeting.spool.iterdir()
    pointer = Pointer.parse(file.read_bytes())
    assert pointer is not None
    assert pointer.session in (session, digest(session))


def test_it_imports_next_to_nothing(alone: Life) -> None:
    """What makes it start quickly, told by the interpreter itself."""
    given = sent("claude-code", END, "s", alone.project, Path("/t.jsonl"))
    import json

    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            "-X",
            "importtime",
            str(HOOK),
            "capture",
            "codex",
            str(alone.meeting.folder),
        ],
        input=json.dumps(given).encode(),
        capture_output=True,
    )
    loaded = {line.rsplit("|", 1)[-1].strip() for line in done.stderr.decode().splitlines()}
    assert not loaded & {"json", "socket", "os", "re", "enum", "subprocess", "pathlib", "typing"}
    assert "_json" in loaded


# --- pointers that wait ----------------------------------------------------------------------


def test_a_pointer_that_comes_while_another_is_looked_at_is_not_lost(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    data = "\0".join(("codex", "s", "/t", "/f", "Stop")).encode()
    (tmp_path / "codex.s.pointer").write_bytes(data)
    (claimed,) = spool.claimed()
    (tmp_path / "codex.s.pointer").write_bytes(data)
    claimed.done()
    assert spool.waiting() == 1


def test_after_a_crash_what_was_claimed_is_looked_at_again(tmp_path: Path) -> None:
    data = "\0".join(("codex", "s", "/t", "/f", "Stop")).encode()
    (tmp_path / "codex.s.pointer").write_bytes(data)
    list(Spool(tmp_path).claimed())
    (again,) = Spool(tmp_path).claimed()
    assert again.pointer is not None
    assert again.pointer.session == "s"


def test_what_a_killed_hook_left_is_swept_out(tmp_path: Path) -> None:
    draft = tmp_path / "codex.s.12.draft"
    draft.write_bytes(b"half")
    assert not list(Spool(tmp_path).claimed())
    assert draft.exists()
    os.utime(draft, (0, 0))
    assert not list(Spool(tmp_path).claimed())
    assert not draft.exists()
