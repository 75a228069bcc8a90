"""The jail's end of the channel: reads requests, runs them, answers. Nothing here is a guard.

Code in the same process can change all of this; the host and the kernel hold what must hold.
"""

import asyncio
import errno
import json
import os
import sys
import traceback
from collections.abc import Coroutine
from typing import Any, Protocol

from metamem.sandbox import libc, seccomp
from metamem.sandbox.confine import CHANNEL, MAX_FILES, die_with_parent
from metamem.sandbox.eventloop import JailLoop

REFUSED = "refused"  # a copy that the host wanted and the fork server did not make
OUT_OF_MEMORY = 77  # the exit status of a process that had no memory left to say so
_CHUNK = 1 << 16
_LONGEST_ERROR = 8000


class ToolError(RuntimeError):
    """The host could not do what a guest asked of it."""


class Failure(Exception):
    """A failure that has its own kind."""

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind


class Service(Protocol):
    """What runs in the jail."""

    in_tasks: bool  # whether its code may ask which task it runs in

    def handle(self, operation: str, data: Any) -> Coroutine[Any, Any, Any]: ...

    def forked(self, data: Any) -> None:
        """Called in the new process after a fork."""
        ...

    def explain(self, error: BaseException) -> str:
        """An error in words that help whoever wrote the code."""
        ...


class Link:
    """One jailed process's way to the host."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._request = 0  # the id of the request being served; 0 between requests
        self._asked = 0
        self._open: dict[int, asyncio.Future[Any]] = {}  # questions without answer, in order
        self._answers: dict[int, dict[str, Any]] = {}  # those that came and were not yet given out
        self._loop = self._new_loop()
        asyncio.events.new_event_loop = self._new_loop  # for `asyncio.run` in a guest
        asyncio.set_event_loop(self._loop)

    def _new_loop(self) -> JailLoop:
        return JailLoop(self._await_answers)

    async def ask(self, tool: str, data: Any) -> Any:
        """Ask the host for something; raises ToolError where it cannot."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._open[self._put(tool, data)] = future
        return await future

    def ask_now(self, tool: str, data: Any) -> Any:
        """Like `ask`, for code that cannot await: nothing else runs until the host has answered."""
        number = self._put(tool, data)
        while number not in self._answers:
            self._receive()
        answer = self._answers.pop(number)
        if "error" in answer:
            raise ToolError(answer["error"])
        return answer["ok"]

    def log(self, message: str) -> None:
        if self._request:  # a finaliser may speak when nobody listens
            self._write({"id": self._request, "log": _clean(message)})

    def serve(self, service: Service) -> None:
        """Serve requests until the host goes away."""
        sys.stdout = sys.stderr = printed = _LogWriter(self)
        while True:
            request = self._read()
            if "op" not in request:
                continue  # the answer to a question that its call did not wait for
            for future in self._open.values():
                future.cancel()
            self._open.clear()
            self._answers.clear()
            self._request, self._asked = request["id"], 0
            try:
                self._serve_one(service, request, printed)
            except MemoryError:
                self._report("memory", "out of memory")
            except Failure as failure:
                self._report(failure.kind, str(failure))
            except BaseException as error:
                self._report("crash", service.explain(error))
            self._request = 0

    def _serve_one(self, service: Service, request: dict[str, Any], printed: "_LogWriter") -> None:
        if request["op"] == "fork":
            if _fork():
                self._buffer.clear()
                service.forked(request["data"])
                return  # of the new process nothing was asked
            value = None
        else:
            work = service.handle(request["op"], request["data"])
            run = self._loop.run_until_complete if service.in_tasks else self._loop.run
            value = run(work)
        printed.end()
        self._write({"id": self._request, "ok": value})

    def _report(self, kind: str, message: str) -> None:
        error = {"kind": kind, "message": _clean(message)[:_LONGEST_ERROR]}
        try:
            self._write({"id": self._request, "error": error})
        except MemoryError:
            os._exit(OUT_OF_MEMORY)

    def _await_answers(self) -> bool:
        if not self._open:
            return False
        while not self._open.keys() <= self._answers.keys():
            self._receive()
        for number, future in self._open.items():
            answer = self._answers.pop(number)
            if future.cancelled():
                continue
            if "error" in answer:
                future.set_exception(ToolError(answer["error"]))
            else:
                future.set_result(answer["ok"])
        self._open.clear()
        return True

    def _put(self, tool: str, data: Any) -> int:
        self._asked += 1
        self._write({"id": self._request, "ask": self._asked, "tool": tool, "data": data})
        return self._asked

    def _receive(self) -> None:
        answer = self._read()
        if answer["id"] == self._request:  # else it belongs to a call that did not wait for it
            self._answers[answer["answer"]] = answer

    def _read(self) -> dict[str, Any]:
        while (end := self._buffer.find(b"\n")) < 0:
            data = os.read(CHANNEL, _CHUNK)
            if not data:
                os._exit(0)  # the host is gone
            self._buffer += data
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        message: dict[str, Any] = json.loads(line)
        return message

    def _write(self, message: dict[str, Any]) -> None:
        line = memoryview(json.dumps(message, allow_nan=False).encode() + b"\n")
        while line:
            line = line[os.write(CHANNEL, line) :]


def _clean(text: str) -> str:
    """Text that can be written as UTF-8."""
    return text.encode(errors="replace").decode()


class _LogWriter:
    """What a guest prints goes to its log."""

    encoding = "utf-8"

    def __init__(self, link: Link) -> None:
        self._link = link
        self._rest = ""

    def write(self, text: str) -> int:
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            self._link.log(line)
        return len(text)

    def flush(self) -> None:
        """Whole lines have gone already; the rest goes when the call ends."""

    def end(self) -> None:
        if self._rest:
            self.write("\n")

    def isatty(self) -> bool:
        return False


def _fork() -> bool:
    """Copy this process, if the host has granted it. True in the copy."""
    os.closerange(CHANNEL + 1, MAX_FILES)  # the server refuses to copy a process with open files
    try:
        child = libc.fork(seccomp.FORK_FLAGS) == 0
    except OSError as error:
        if error.errno == errno.EPERM:
            raise Failure("the fork server refused to make a copy", REFUSED) from None
        raise
    if not child:
        return False
    try:
        die_with_parent()  # a fork does not inherit this
        # The server puts the copy's own channel in the old one's place. That it answers also
        # shows that it lived when the line above was run: from here on its death ends the copy.
        libc.syscall(seccomp.MARKER)
    except OSError:
        os._exit(0)  # the server is gone
    return True


def last_line_in(error: BaseException, filename: str) -> int | None:
    """The last line of one file that an error passed through."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == filename]
    return lines[-1] if lines else None
