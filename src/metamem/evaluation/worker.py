"""A worker process of the local executor: takes jobs on one pipe, answers on the other.

Messages are length-prefixed pickles. Both ends are ours; nothing a design wrote is ever
unpickled here (designs live in the jail and speak JSON).
"""

import asyncio
import ctypes
import os
import pickle
import signal
import struct
import sys
import traceback
from typing import Any, BinaryIO

from metamem.core.errors import MetamemError
from metamem.evaluation.jobs import CaseDone, Job
from metamem.evaluation.runner import Runner

HEADER = struct.Struct("!Q")
PULSE_SECONDS = 1.0
PR_SET_PDEATHSIG = 1


def pack(message: Any) -> bytes:
    body = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return HEADER.pack(len(body)) + body


def _read(pipe: BinaryIO) -> Any:
    header = pipe.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    (length,) = HEADER.unpack(header)
    return pickle.loads(pipe.read(length))


async def serve(inbox: BinaryIO, outbox: BinaryIO) -> None:
    """One job after the other until the parent closes the pipe."""
    blobs: dict[str, bytes] = {}
    runner = Runner(blobs.__getitem__)

    def send(*message: Any) -> None:
        outbox.write(pack(message))
        outbox.flush()

    async def pulse() -> None:
        # A blocked event loop stops the pulse: that is how the parent sees that a world hangs.
        while True:
            send("alive")
            await asyncio.sleep(PULSE_SECONDS)

    beating = asyncio.create_task(pulse())
    try:
        while (message := await asyncio.to_thread(_read, inbox)) is not None:
            kind, payload = message
            if kind == "blob":
                blobs[payload[0]] = payload[1]
            elif kind == "job":
                job: Job = payload

                def emit(done: CaseDone) -> None:
                    send("case", done)

                try:
                    send("done", await runner.run(job, emit))
                except MetamemError as error:
                    send("error", error.message, error.hint)
                except Exception:
                    send("error", "the worker failed", traceback.format_exc(limit=-6))
    finally:
        beating.cancel()
        await runner.close()


def main() -> None:
    parent = int(sys.argv[1])
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        return  # the parent died before we asked to die with it
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when we stop
    # Whatever a library prints must not break into the protocol.
    outbox = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    asyncio.run(serve(sys.stdin.buffer, outbox))


if __name__ == "__main__":
    main()
