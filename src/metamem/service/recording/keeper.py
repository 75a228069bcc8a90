"""The process that keeps what a recorder hands it: lines of JSON on stdin, until there are no more.

The first line says which memory and scope; each further one is half of a call. What cannot be kept at
the moment is tried again, for a while also when the recorder is gone.
"""

import json
import queue
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from metamem.core.errors import MetamemError
from metamem.service.connecting import connect
from metamem.service.contract import Memories
from metamem.service.defaults import Defaults
from metamem.service.importing.cleaning import learn, tool_call, without
from metamem.service.importing.transcript import Call, Transcript
from metamem.service.recording.recorder import HOST
from metamem.service.words import Session
from metamem.service.writing.known import KnownSecrets

BATCH_SECONDS = 0.3
MOST = 500  # halves of a batch
PATIENCE = 10.0  # seconds that what cannot be kept is tried again
_FIELDS = frozenset(each.name for each in fields(Call))


class Keeper:
    """Keeps batches. What is a secret in one is a secret in those after it."""

    def __init__(self, where: Mapping[str, Any]) -> None:
        self._where = where
        self._memories: Memories | None = None
        self._scope = ""
        self._secrets = KnownSecrets()

    def keep(self, halves: list[Mapping[str, Any]]) -> None:
        whole: dict[str, Call] = {}
        for given in halves:
            half = Call(**{name: value for name, value in given.items() if name in _FIELDS})
            whole[half.id] = whole[half.id].joined(half) if half.id in whole else half
        session = str(self._where["session"])
        found = Transcript(HOST, session, calls=tuple(whole.values()))
        learn(self._secrets, found)
        calls = [tool_call(call) for call in without(self._secrets, found).calls]
        title = next((str(given["server"]) for given in halves if given.get("server")), "")
        memories, until = self._opened, time.monotonic() + PATIENCE
        while True:
            try:
                memories().keep_calls(self._scope, Session(session, (), HOST, title), calls)
                return
            except MetamemError:
                if time.monotonic() > until:
                    raise
                time.sleep(BATCH_SECONDS)

    def _opened(self) -> Memories:
        if self._memories is None:
            where = str(self._where.get("where", "")) or None
            service = connect(where, str(self._where.get("key", "")) or None)
            folder = Path(str(self._where.get("folder", ".")))
            self._scope = Defaults(service, folder).written(str(self._where.get("scope", "")))
            self._memories = service
        return self._memories


def batches(lines: "queue.SimpleQueue[bytes | None]") -> Iterator[list[Mapping[str, Any]]]:
    """Lines that came close together."""
    ended = False
    while not ended:
        found: list[Mapping[str, Any]] = []
        line = lines.get()
        until = time.monotonic() + BATCH_SECONDS
        while line is not None:
            found.append(json.loads(line))
            if len(found) >= MOST:
                break
            try:
                line = lines.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                break
        ended = line is None
        if found:
            yield found


def main() -> None:
    """The program."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # it ends when it has kept all, and that is soon
    keeper = Keeper(json.loads(sys.stdin.buffer.readline()))
    lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()

    def read() -> None:
        for line in sys.stdin.buffer:
            if line.endswith(b"\n"):  # half a line is what a killed recorder left
                lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    lost = False
    for halves in batches(lines):
        try:
            keeper.keep(halves)
        except MetamemError:
            lost = True
    sys.exit(1 if lost else 0)


if __name__ == "__main__":
    main()
