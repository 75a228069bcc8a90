"""Starting, stopping and asking the daemon, from outside."""

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from metamem.core.errors import Broken
from metamem.service.attach.places import Meeting, daemon_command

START_SECONDS = 60.0
STOP_SECONDS = 30.0
ANSWER_SECONDS = 10.0  # a busy machine may take its time; one without a daemon says so at once
LONGEST = 100  # bytes of a socket's name, everywhere


def status(meeting: Meeting, seconds: float = ANSWER_SECONDS) -> dict[str, Any] | None:
    """What the daemon says of itself; None where there is none."""
    told = asked(meeting, "status", "-", b"", seconds)
    return None if told is None else dict(json.loads(told))


def start(meeting: Meeting) -> dict[str, Any]:
    """The daemon, started where it is not there yet."""
    running = status(meeting)
    if running is not None:
        return running
    meeting.make()
    try:
        process = subprocess.Popen(
            daemon_command(meeting.memories),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            close_fds=True,
        )
    except OSError as error:
        raise Broken(f"the daemon did not start: {error.strerror}: {error.filename}") from None
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        running = status(meeting)
        if running is not None:
            if running["pid"] != process.pid:
                process.terminate()  # another was quicker; this one must not outlive it
                process.wait()
            return running
        if process.poll() not in (None, 1):  # 1: another was quicker
            assert process.stderr is not None
            last = process.stderr.read().decode(errors="replace").strip().splitlines()[-1:]
            raise Broken(f"the daemon did not start: {' '.join(last) or process.returncode}")
        time.sleep(0.05)
    raise Broken(f"the daemon did not answer within {START_SECONDS:.0f} s")


def stop(meeting: Meeting) -> bool:
    """Stop the daemon when it is through with what it does. False where there was none."""
    if asked(meeting, "stop", "-", b"", ANSWER_SECONDS) is None:
        return False
    until = time.monotonic() + STOP_SECONDS
    while time.monotonic() < until:
        if status(meeting) is None:
            return True
        time.sleep(0.05)
    raise Broken("the daemon does not stop", hint="it may be at work on a large transcript")


def asked(meeting: Meeting, kind: str, host: str, data: bytes, seconds: float) -> bytes | None:
    """The daemon's answer; None where none came."""
    try:
        with _reachable(meeting) as name, socket.socket(socket.AF_UNIX) as channel:
            channel.settimeout(seconds)
            channel.connect(name)
            channel.sendall(f"{kind} {host} {len(data)}\n".encode() + data)
            read = b""
            while part := channel.recv(1 << 16):
                read += part
    except OSError:
        return None
    return read[:-1] if read.endswith(b"\0") else None


@contextmanager
def _reachable(meeting: Meeting) -> Iterator[str]:
    """A name of the socket that is short enough for the system."""
    if len(os.fsencode(meeting.socket)) <= LONGEST:
        yield str(meeting.socket)
        return
    folder = os.open(meeting.folder, os.O_RDONLY)
    try:
        yield f"/proc/self/fd/{folder}/{meeting.socket.name}"
    finally:
        os.close(folder)
