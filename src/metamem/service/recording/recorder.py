"""Calls of tools on their way from the wire to memory, with nobody waiting.

They are handed to a process of their own, which keeps them (`keeper`): a client that ends its server does
so within a second or two, and may kill whatever stands in its place. That process reads what it was handed
to the end, whatever becomes of this one.
"""

import fcntl
import json
import secrets
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict

from metamem.service.importing import claude, codex, gemini, opencode
from metamem.service.importing.transcript import Call
from metamem.service.recording.piping import Side
from metamem.service.recording.watching import Lines, Watching

HOST = "mcp"
PIPE_BYTES = 1 << 20  # that the system lets anybody have
KEEPER = "metamem.service.recording.keeper"
# How hosts whose sessions are read from their own transcripts name themselves to servers.
_READ_ALREADY = {
    "claude-code": claude.HOST,
    "codex-mcp-client": codex.HOST,
    "gemini-cli-mcp-client": gemini.HOST,
    "opencode": opencode.HOST,
}


class Recorder:
    """`where` says which memory and scope, in the words of `keeper`; no file and no list of processes
    tells it to anybody else."""

    def __init__(self, where: Mapping[str, str], session: str = "") -> None:
        self.session = session or f"{HOST}-{secrets.token_hex(8)}"
        self.read_already = ""  # the host whose transcripts have all of this
        self._where = where
        self._lines: dict[Side, Lines] = {"client": Lines(), "server": Lines()}
        self._watching = Watching(self._hand_on, prefix=f"{self.session}/")
        self._keeper: subprocess.Popen[bytes] | None = None

    def seen(self, side: Side, data: bytes) -> None:
        take = self._watching.asked if side == "client" else self._watching.answered
        for line in self._lines[side].feed(data):
            take(line)

    def missed(self, side: Side) -> None:
        self._lines[side].lose()

    def end(self, seconds: float) -> bool | None:
        """The server is gone. Whether all was kept; None where that is not known yet, and goes on."""
        self._watching.over()
        if self._keeper is None or self._keeper.stdin is None:
            return True
        with suppress(OSError):
            self._keeper.stdin.close()
        try:
            return self._keeper.wait(seconds) == 0
        except subprocess.TimeoutExpired:
            return None

    def _hand_on(self, half: Call) -> None:
        self.read_already = _READ_ALREADY.get(self._watching.client, "")
        if self.read_already:
            return
        if self._keeper is None:
            self._keeper = self._started()
        assert self._keeper.stdin is not None
        told = asdict(half) | {"server": self._watching.server}
        self._keeper.stdin.write(json.dumps(told).encode() + b"\n")
        self._keeper.stdin.flush()

    def _started(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", KEEPER],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,  # nobody who waits for the end of ours waits for that one
            start_new_session=True,  # what ends this process and its group does not end that one
        )
        assert process.stdin is not None
        # On a busy machine it takes seconds to begin: what passes meanwhile waits in the pipe, where it is
        # safe whatever becomes of this process.
        with suppress(OSError, AttributeError):  # not everywhere, and not for whoever has many
            fcntl.fcntl(process.stdin, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        about = {**self._where, "session": self.session}
        process.stdin.write(json.dumps(about).encode() + b"\n")
        return process
