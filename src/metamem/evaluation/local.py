"""The default executor: worker processes on this machine, one per core."""

import asyncio
import os
import pickle
import signal
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import IO, Any

from metamem.core.aside import aside
from metamem.core.chat import AskAt
from metamem.core.errors import EngineFault, MetamemError, ModelUnavailable, UsageError
from metamem.core.system import cores
from metamem.evaluation.jobs import Blobs, Emit, Job, JobDone
from metamem.evaluation.retry import persistent
from metamem.evaluation.worker import HEADER, pack
from metamem.models.embedding import EmbedAt
from metamem.sandbox.isolation import choose

# A worker has a core to itself, and libraries that start a thread for every core of the machine
# would have them all stand in each other's way. Whoever sets these is obeyed.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

# The questions of workers that are answered here, where the models live: verb → who answers.
Answers = Mapping[str, Callable[..., Awaitable[Any]] | None]


class WorkerLost(EngineFault):
    """A worker died or hung."""


class LocalExecutor:
    """Ships jobs to worker processes; replaces those that die, kills those that hang."""

    def __init__(
        self,
        blobs: Blobs,
        workers: int = 0,
        stall_seconds: float = 60.0,
        ask: AskAt | None = None,
        embed: EmbedAt | None = None,
    ) -> None:
        self._blobs = blobs
        self._answers: Answers = {"ask": ask, "embed": embed}
        self._slots = workers or cores()
        self._stall = stall_seconds
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()
        self._places_free = self._slots
        self._room = asyncio.Condition()
        self._closed = False

    @property
    def slots(self) -> int:
        return self._slots

    async def run(self, job: Job, emit: Emit) -> JobDone:
        choose(
            job.setup.isolation
        )  # without a jail, refused here and not by several workers at once
        job, places = self._share(job)
        async with self._room:
            await self._room.wait_for(lambda: self._places_free >= places)
            self._places_free -= places
        try:
            return await persistent(job, emit, self._once)
        finally:
            async with self._room:
                self._places_free += places
                self._room.notify_all()

    def _share(self, job: Job) -> tuple[Job, int]:
        """The job with its worker's share of the caps, and how many places it takes.

        Caps hold over all workers together: each gets its part, and where a cap is smaller than
        the number of workers, a job takes several places so that fewer run at once.
        """
        setup = job.setup
        at_once = max(1, min(self._slots, setup.retrieves, setup.updates))
        places = -(-self._slots // at_once)
        at_once = self._slots // places
        shared = replace(
            setup, retrieves=setup.retrieves // at_once, updates=setup.updates // at_once
        )
        return replace(job, setup=shared), places

    async def _once(self, job: Job, emit: Emit) -> JobDone:
        worker = self._idle.pop() if self._idle else await self._start()
        try:
            done = await worker.run(job, emit, self._blobs, self._answers, self._stall)
        except EngineFault as fault:
            if isinstance(fault, WorkerLost):
                await self._bury(worker)
            else:
                self._idle.append(worker)  # it is well, and said what is wrong
            raise
        except BaseException:
            await self._bury(worker)
            raise
        self._idle.append(worker)
        return done

    async def _bury(self, worker: "_Worker") -> None:
        await worker.kill()
        self._all.discard(worker)  # only now: one whose end is cut short is left to `close`

    async def _start(self) -> "_Worker":
        if self._closed:  # else a job that outlives us would raise workers that nobody ends
            raise UsageError("this executor is closed")
        worker = await _Worker.start()
        self._all.add(worker)
        return worker

    async def close(self) -> None:
        self._closed = True
        for worker in list(self._all):
            await worker.kill()
        self._all.clear()
        self._idle.clear()


class _Worker:
    """One process and the pipes to it."""

    def __init__(self, process: asyncio.subprocess.Process, errors: IO[bytes]) -> None:
        self._process = process
        self._errors = errors
        self._blobs: set[str] = set()

    @staticmethod
    async def start() -> "_Worker":
        errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the worker
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "metamem.evaluation.worker",
            str(os.getpid()),
            env={**_ONE_THREAD, **os.environ},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            start_new_session=True,  # so that it dies with all it started
        )
        return _Worker(process, errors)

    async def run(
        self, job: Job, emit: Emit, blobs: Blobs, answers: Answers, stall: float
    ) -> JobDone:
        questions: set[asyncio.Task[None]] = set()
        try:
            for key in job.blobs:
                if key not in self._blobs:
                    await self._send("blob", (key, await aside(blobs, key)))
                    self._blobs.add(key)
            await self._send("job", job)
            while True:
                kind, *payload = await asyncio.wait_for(self._receive(), stall)
                if kind == "case":
                    emit(payload[0])
                elif kind == "done":
                    done: JobDone = payload[0]
                    return done
                elif kind in answers:
                    question = asyncio.create_task(self._answer(answers[kind], *payload))
                    questions.add(question)
                    question.add_done_callback(questions.discard)
                elif kind == "error":
                    raise payload[0]
        except TimeoutError as error:
            raise WorkerLost(f"a worker gave no sign of life for {stall:.0f} s") from error
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise WorkerLost(f"a worker died. {self._last_words()}".strip()) from error
        finally:
            for question in questions:
                question.cancel()

    async def _answer(
        self, ask: Callable[..., Awaitable[Any]] | None, number: int, *question: Any
    ) -> None:
        """Put a worker's question to the models, which live in this process alone."""
        try:
            if ask is None:
                raise ModelUnavailable("no model is configured")
            reply = await ask(*question)
        except MetamemError as error:
            reply = error
        with suppress(ConnectionError):  # a worker that has died is noticed where it is read
            await self._send("answer", (number, reply))

    async def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        assert self._process.stdout is not None
        with suppress(RuntimeError):  # a job that was not cancelled reads it already
            await self._process.stdout.read()  # an unread pipe would keep `wait` waiting for ever
        await self._process.wait()
        self._process._transport.close()  # type: ignore[attr-defined]  # its pipes, while there is a loop
        await asyncio.sleep(0)
        self._errors.close()

    async def _send(self, kind: str, payload: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(pack((kind, payload)))
        await self._process.stdin.drain()

    async def _receive(self) -> Any:
        assert self._process.stdout is not None
        (length,) = HEADER.unpack(await self._process.stdout.readexactly(HEADER.size))
        return pickle.loads(await self._process.stdout.readexactly(length))

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read()[-2000:].decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""
