"""The process that keeps what a recorder hands it: lines of JSON on stdin, until there are no more.

The first line says which memory and scope; each further one is half of a call. What cannot be kept at
the moment is tried again, for a while also when the recorder is gone. It reads from the first moment on:
a pipe holds little, and a recorder that waits for one loses what its client does not wait for. So what
takes long to load is loaded meanwhile.
"""

import json
import queue
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

BATCH_SECONDS = 0.3
MOST = 500  # halves of a batch


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
    lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()

    def read() -> None:
        for line in sys.stdin.buffer:
            if line.endswith(b"\n"):  # half a line is what a killed recorder left
                lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()

    from metamem.core.errors import MetamemError
    from metamem.service.recording.keeping import Keeper

    where = lines.get()
    if where is None:  # nothing was ever handed on
        return
    keeper, lost = Keeper(json.loads(where)), False
    for halves in batches(lines):
        try:
            keeper.keep(halves)
        except MetamemError:
            lost = True
    sys.exit(1 if lost else 0)


if __name__ == "__main__":
    main()
