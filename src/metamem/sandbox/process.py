"""The host's end of one jailed process: asks, serves its questions, and holds it to its limits."""

import asyncio
import json
import os
import secrets
import select
import signal
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from metamem.core.errors import EngineFault
from metamem.sandbox.clocks import Asleep, Clock
from metamem.sandbox.failures import GuestFailure, Kind
from metamem.sandbox.inside import OUT_OF_MEMORY, REFUSED
from metamem.sandbox.limits import CallLimits, ProcessLimits
from metamem.sandbox.messages import BadMessage, parse

Serve = Callable[[str, Any], Awaitable[Any]]  # a tool's name and its data → what it gives

_REPORTABLE = ("crash", "memory", REFUSED)  # failures that a process can know of itself
_MESSAGES_PER_CALL = 16  # how many times the longest message one call may send in all
_AT_ONCE = 8  # questions of one process that are served at the same time
_SHORTEST_WATCH = 0.005
# A guest has nothing to wait for but the host's answers: one that sleeps otherwise will not do
# anything else. Looks are counted and not time, so that a machine that stood still blames nobody.
_LOOK_SECONDS = 1.0
_LOOKS_ASLEEP = 5
_DOZING = 0.05  # seconds of CPU between two looks: what waits in a loop sleeps as well
_CLOSING_SECONDS = 1.0  # a process that ends closes its channel a little before
_LAST_WORDS_SECONDS = 10.0  # how long the fork server may take to say how a process ended


class RefusedByHost(Exception):
    """A refusal that the guest is told and may handle."""


async def no_tools(tool: str, data: Any) -> Any:
    raise RefusedByHost("no tools are served during this call")


@dataclass(frozen=True, slots=True)
class End:
    """How a process ended, as the fork server saw it."""

    code: int  # its exit code, or minus the signal that ended it
    cpu: float  # seconds it had used
    punished: bool  # the fork server ended it, for breaking the rules of forks


@dataclass(slots=True)
class _Call:
    id: int
    result: asyncio.Future[Any]
    serve: Serve
    limits: CallLimits
    cpu_start: float
    wall_start: float
    bytes_left: int
    cpu_seen: float  # at the last look
    asleep: int = 0  # looks in a row that found it so
    asked: int = 0
    open: int = 0  # questions being served: the host's time, not the process's
    host_since: float = 0.0
    host_seconds: float = 0.0
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def wall_used(self, now: float) -> float:
        host = self.host_seconds + (now - self.host_since if self.open else 0.0)
        return now - self.wall_start - host


class Process(asyncio.Protocol):
    """One jailed process. One call at a time; a process that broke a rule is dead for good."""

    def __init__(self, key: int, limits: ProcessLimits, kinds: Sequence[str] = ()) -> None:
        """`kinds` are failures that the program of this process may report beside the usual."""
        self.key = key
        self._kinds = (*_REPORTABLE, *kinds)
        self.limits = limits
        self.logs: list[str] = []
        self.tool_calls = 0
        self.last_cpu = 0.0  # seconds of CPU that the last call took
        self._log_bytes_left = limits.log_bytes
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._buffer = bytearray()
        self._call: _Call | None = None
        self._failure: EngineFault | GuestFailure | None = None
        self._watch: asyncio.TimerHandle | None = None
        self._serving = asyncio.Semaphore(_AT_ONCE)
        self._writable = asyncio.Event()
        self._writable.set()
        self._ended: asyncio.Future[End] = self._loop.create_future()
        self._mourning: asyncio.Task[None] | None = None
        self._pidfd = -1
        self._cpu: Clock = float  # no time used yet
        self._asleep: Asleep = bool  # never

    # --- life ---

    def attach(self, pidfd: int, clock: Clock, asleep: Asleep = bool) -> None:
        """Called once, when the fork server has made the process."""
        self._pidfd = pidfd
        self._cpu = clock
        self._asleep = asleep

    def has_ended(self, end: End) -> None:
        """Called when the fork server has seen it end."""
        if not self._ended.done():
            self._ended.set_result(end)
        self._release()

    def engine_died(self) -> None:
        self.condemn(
            EngineFault("the jail's fork server died", hint="it is started anew by itself")
        )

    @property
    def alive(self) -> bool:
        return self._failure is None and not self._has_died()

    def kill(self) -> None:
        """End the process at once; nothing it says afterwards is heard."""
        if self._failure is None:
            self._failure = GuestFailure("is closed", "closed")
        if self._call is not None and not self._call.result.done():
            self._call.result.set_exception(self._failure)
        if self._watch is not None:
            self._watch.cancel()
        if self._pidfd >= 0:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        if self._transport is not None:
            self._transport.abort()
        self._release()

    def _release(self) -> None:
        if self._pidfd >= 0 and (self._failure is not None):
            os.close(self._pidfd)
            self._pidfd = -1

    # --- calls ---

    async def call(
        self,
        operation: str,
        data: str,
        limits: CallLimits,
        serve: Serve = no_tools,
    ) -> Any:
        """Ask the process for something. `data` is JSON already."""
        if self._call is not None:
            raise RuntimeError("a jailed process takes one call at a time")
        if self._failure is not None:
            raise self._failure.with_traceback(None)
        assert self._transport is not None
        call = self._call = _Call(
            id=secrets.randbits(48) + 1,  # so that nobody can answer before being asked
            result=self._loop.create_future(),
            serve=serve,
            limits=limits,
            cpu_start=(used := self._cpu()),
            cpu_seen=used,
            wall_start=time.monotonic(),
            bytes_left=_MESSAGES_PER_CALL * limits.line_bytes,
        )
        first = min(limits.cpu, limits.wall, _LOOK_SECONDS)
        self._watch = self._loop.call_later(first, self._check, call)
        line = f'{{"id":{call.id},"op":"{operation}","data":{data}}}\n'
        self._transport.write(line.encode())
        try:
            answer = await call.result
            self.last_cpu = self._cpu() - call.cpu_start
            return answer
        except asyncio.CancelledError:
            self.kill()  # in the middle of something: of no further use
            raise
        finally:
            self._call = None
            self._watch.cancel()
            for task in call.tasks:
                task.cancel()

    def _check(self, call: _Call) -> None:
        """Look at both clocks, and whether it sleeps; come back when one can have run out."""
        cpu, wall = call.limits.cpu, call.limits.wall
        used = self._cpu()
        cpu_left = cpu - (used - call.cpu_start)
        wall_left = wall - call.wall_used(time.monotonic())
        if cpu_left <= 0:
            self._blame("timeout", f"used more than {cpu:g} s of CPU time in one call")
        elif wall_left <= 0:
            self._blame("wall", f"took more than {wall:g} s in one call")
        elif self._sleeps(call, used):
            many = _LOOKS_ASLEEP * _LOOK_SECONDS
            self._blame("wall", f"slept for more than {many:g} s in one call")
        else:
            again = max(min(cpu_left, wall_left, _LOOK_SECONDS), _SHORTEST_WATCH)
            self._watch = self._loop.call_later(again, self._check, call)

    def _sleeps(self, call: _Call, used: float) -> bool:
        dozing = not call.open and used - call.cpu_seen < _DOZING and self._asleep()
        call.cpu_seen = used
        call.asleep = call.asleep + 1 if dozing else 0
        return call.asleep > _LOOKS_ASLEEP

    # --- what the process says ---

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self._failure is not None:
            return
        call = self._call
        if call is None or call.result.done():
            self._blame("protocol", "spoke without being asked")
            return
        call.bytes_left -= len(data)
        if call.bytes_left < 0:
            self._blame("limit", "sent too much to the host in one call")
            return
        self._buffer += data
        while self._failure is None and (end := self._buffer.find(b"\n")) >= 0:
            line = bytes(self._buffer[:end])
            del self._buffer[: end + 1]
            self._hear(call, line)
        if self._failure is not None:
            self._buffer.clear()
        elif len(self._buffer) > call.limits.line_bytes:
            self._blame("limit", f"sent a message of more than {call.limits.line_bytes} bytes")

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def connection_lost(self, error: Exception | None) -> None:
        self._writable.set()
        if self._failure is None:
            self._mourning = self._loop.create_task(self._post_mortem())

    def _hear(self, call: _Call, line: bytes) -> None:
        if call.result.done():
            self._blame("protocol", "went on speaking after its answer")
            return
        if len(line) > call.limits.line_bytes:
            self._blame("limit", f"sent a message of more than {call.limits.line_bytes} bytes")
            return
        try:
            message = parse(line)
        except BadMessage as error:
            self._blame("protocol", f"sent a line that is no message: {error}")
            return
        if message.get("id") != call.id:
            self._blame("protocol", "answered a question that was not asked")
        elif message.keys() == {"id", "ok"}:
            call.result.set_result(message["ok"])
        elif message.keys() == {"id", "error"}:
            call.result.set_exception(self._reported(message["error"]))
        elif message.keys() == {"id", "log"}:
            self._log(message["log"])
        elif message.keys() == {"id", "ask", "tool", "data"}:
            self._asked(call, message)
        else:
            self._blame("protocol", "sent a message of no known form")

    def _log(self, text: Any) -> None:
        if isinstance(text, str) and self._log_bytes_left > 0:
            text = text[: self._log_bytes_left]
            self._log_bytes_left -= len(text.encode()) + 1
            self.logs.append(text)

    def _asked(self, call: _Call, message: dict[str, Any]) -> None:
        call.asked += 1
        call.asleep = 0
        if message["ask"] != call.asked or not isinstance(message["tool"], str):
            self._blame("protocol", "numbered its questions wrongly")
        elif call.asked > call.limits.questions:
            self._blame("limit", f"asked the host more than {call.limits.questions} times")
        else:
            self.tool_calls += 1
            if not call.open:
                call.host_since = time.monotonic()
            call.open += 1
            task = self._loop.create_task(self._serve(call, message))
            call.tasks.add(task)
            task.add_done_callback(call.tasks.discard)

    async def _serve(self, call: _Call, message: dict[str, Any]) -> None:
        reply: dict[str, Any] = {"id": call.id, "answer": message["ask"]}
        line = ""
        try:
            async with self._serving:
                await self._writable.wait()
                reply["ok"] = await call.serve(message["tool"], message["data"])
            line = json.dumps(reply)
        except RefusedByHost as refusal:
            line = json.dumps({**reply, "error": str(refusal)})
        except asyncio.CancelledError:
            raise
        except GuestFailure as failure:
            self.condemn(failure)
        except Exception as error:  # the host's own trouble is the caller's to know, unchanged
            if not call.result.done():
                call.result.set_exception(error)
            self.kill()
        call.open -= 1
        if not call.open:
            call.host_seconds += time.monotonic() - call.host_since
        if self._failure is None and self._transport is not None:
            self._transport.write(f"{line}\n".encode())

    # --- how it ends ---

    def _blame(self, kind: Kind, what: str) -> None:
        self.condemn(GuestFailure(what, kind))

    def condemn(self, failure: EngineFault | GuestFailure) -> None:
        """End the process for a reason, which whoever calls it from now on is told."""
        if self._failure is None:
            self._failure = failure
        self.kill()

    def _reported(self, error: Any) -> GuestFailure:
        """What the process itself says went wrong. Only kinds that it can know are believed."""
        kind = error.get("kind") if isinstance(error, dict) else None
        message = error.get("message") if isinstance(error, dict) else None
        if not isinstance(message, str) or kind not in self._kinds:
            return GuestFailure("failed and did not say how", "protocol")
        return GuestFailure(message, kind, reported=True)

    async def _post_mortem(self) -> None:
        """The channel is gone, and not by our hand: find out whose fault that was."""
        await asyncio.wait({self._ended}, timeout=_CLOSING_SECONDS)
        if not self._ended.done() and not self._has_died():
            self._blame("crash", "closed its channel to the host")
            return
        await asyncio.wait({self._ended}, timeout=_LAST_WORDS_SECONDS)
        if not self._ended.done():
            self.condemn(EngineFault("the jail's fork server does not say how a process ended"))
            return
        end = self._ended.result()
        code = end.code
        in_all = code == -signal.SIGKILL and end.cpu >= self.limits.total_cpu
        if end.punished:
            self._blame("protocol", "broke the rules of forks")
        elif code == OUT_OF_MEMORY:
            self._blame("memory", f"used more than {self.limits.memory_mb} MB of memory")
        elif code >= 0:
            self._blame("crash", f"ended its process (status {code})")
        elif code == -signal.SIGXCPU or in_all:
            self._blame("timeout", f"used more than {self.limits.total_cpu} s of CPU time in all")
        elif code == -signal.SIGKILL:
            self.condemn(EngineFault("a jailed process was killed from outside"))
        else:
            self._blame("crash", f"crashed ({signal.Signals(-code).name})")

    def _has_died(self) -> bool:
        if self._pidfd < 0:
            return True
        watched = select.poll()
        watched.register(self._pidfd, select.POLLIN)
        return bool(watched.poll(0))
