"""A worker process of the local executor: takes jobs on one pipe, answers on the other.

Messages are length-prefixed pickles. Both ends are ours; nothing a design wrote is ever
unpickled here (designs live in the jail and speak JSON).
"""

import asyncio
import os
import pickle
import signal
import struct
import sys
import traceback
from collections.abc import Sequence
from typing import Any, BinaryIO

from metamem.core.chat import Question, Reply, Site
from metamem.core.errors import EngineFault, MetamemError
from metamem.core.system import die_with
from metamem.evaluation.jobs import CaseDone, Job
from metamem.evaluation.runner import Runner
from metamem.models.embedding import Rows

HEADER = struct.Struct("!Q")
PULSE_SECONDS = 1.0


def pack(message: Any) -> bytes:
    body = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return HEADER.pack(len(body)) + body


def _read(pipe: BinaryIO) -> Any:
    header = pipe.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    (length,) = HEADER.unpack(header)
    return pickle.loads(pipe.read(length))


class Host:
    """The worker's line to its host: answers to questions come back in any order."""

    def __init__(self, outbox: BinaryIO) -> None:
        self._outbox = outbox
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._number = 0

    def send(self, *message: Any) -> None:
        self._outbox.write(pack(message))
        self._outbox.flush()

    async def ask(self, site: Site, question: Question) -> Reply:
        reply: Reply = await self._answer("ask", site, question)
        return reply

    async def embed(self, texts: Sequence[str], design: str) -> Rows:
        rows: Rows = await self._answer("embed", list(texts), design)
        return rows

    async def _answer(self, verb: str, *what: Any) -> Any:
        self._number += 1
        number = self._number
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        self.send(verb, number, *what)
        try:
            return await answer
        finally:
            del self._waiting[number]

    def hear(self, number: int, reply: Reply | Rows | MetamemError) -> None:
        waiting = self._waiting.get(number)
        if waiting is None or waiting.done():
            return  # whoever asked has gone
        if isinstance(reply, MetamemError):
            waiting.set_exception(reply)
        else:
            waiting.set_result(reply)


async def serve(inbox: BinaryIO, outbox: BinaryIO) -> None:
    """One job after the other until the parent closes the pipe."""
    blobs: dict[str, bytes] = {}
    host = Host(outbox)
    runner = Runner(blobs.__getitem__, host.ask, host.embed)
    working: asyncio.Task[None] | None = None

    async def work(job: Job) -> None:
        def emit(done: CaseDone) -> None:
            host.send("case", done)

        try:
            host.send("done", await runner.run(job, emit))
        except MetamemError as error:
            host.send("error", error)
        except Exception:
            host.send(
                "error", EngineFault("the worker failed", hint=traceback.format_exc(limit=-6))
            )

    async def pulse() -> None:
        # A blocked event loop stops the pulse: that is how the parent sees that a world hangs.
        while True:
            host.send("alive")
            await asyncio.sleep(PULSE_SECONDS)

    beating = asyncio.create_task(pulse())
    try:
        while (message := await asyncio.to_thread(_read, inbox)) is not None:
            kind, payload = message
            if kind == "blob":
                blobs[payload[0]] = payload[1]
            elif kind == "answer":
                host.hear(*payload)
            elif kind == "job":
                if working is not None:
                    await working
                working = asyncio.create_task(work(payload))
    finally:
        beating.cancel()
        if working is not None:
            working.cancel()
        await runner.close()


def main() -> None:
    parent = int(sys.argv[1])
    if not die_with(parent):
        return  # the parent died before we asked to die with it
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when we stop
    # Whatever a library prints must not break into the protocol.
    outbox = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    asyncio.run(serve(sys.stdin.buffer, outbox))


if __name__ == "__main__":
    main()
