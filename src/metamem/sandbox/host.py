"""The host's end of the jail: starts the fork server, and has it make processes."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from metamem.core.errors import EngineFault
from metamem.sandbox import bubblewrap, clocks, gvisor, paths
from metamem.sandbox.failures import GuestFailure
from metamem.sandbox.inside import REFUSED
from metamem.sandbox.isolation import Isolation, choose
from metamem.sandbox.limits import CallLimits, ProcessLimits
from metamem.sandbox.process import End, Process

_START_SECONDS = 60
_CLEARING_SECONDS = 10
_PATIENCE = 0.002  # before another try where the fork server's mailbox is full
_MAX_MESSAGE = 1 << 16
_ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",  # sets and dicts of strings have one order, everywhere and always
    "PYTHONUTF8": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}
_PYTHON_OPTIONS = ("-S", "-s", "-P")
_BOOT = "import sys; sys.path += {search_path!r}; from metamem.sandbox.{server} import main; main()"


@dataclass(frozen=True, slots=True)
class Program:
    """What runs in the jail: an entry point by name, and what is loaded before it."""

    entry: str  # "package.module:function"
    modules: tuple[str, ...]  # packages to show in the jail
    preload: tuple[str, ...]  # modules to import once, in the fork server
    kinds: tuple[str, ...] = ()  # of failures that it may report, beside the usual


class Sandbox:
    """One fork server and its processes. Belongs to one event loop.

    Under gVisor the server is a keeper: it starts a sandbox for each process instead of forking.
    """

    def __init__(self, program: Program, *, isolation: str = "auto", forks: bool = True) -> None:
        """`forks=False` does without copies of running processes, as some kernels must."""
        self._program = program
        self.isolation: Isolation = choose(isolation)
        self._forks = forks and self.isolation != "runsc"
        self._server: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._starting = asyncio.Lock()
        self._ready: asyncio.Future[None] | None = None
        self._next_key = 1
        self._processes: dict[int, Process] = {}
        self._births: dict[int, asyncio.Future[None]] = {}
        self._spares: dict[ProcessLimits, asyncio.Task[Process]] = {}

    @property
    def can_fork(self) -> bool:
        return self._forks

    @property
    def running(self) -> bool:
        return self._control is not None

    @property
    def pid(self) -> int | None:
        """The process to look at, or to end, where all of the jail is meant."""
        return None if self._server is None else self._server.pid

    async def start(self) -> None:
        """Start the fork server, if it is not running."""
        async with self._starting:
            if self._control is not None:
                return
            self._bury()  # one that died before
            loop = asyncio.get_running_loop()
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                self._server = self._launch(theirs.fileno())
            ours.setblocking(False)
            self._control = ours
            self._ready = loop.create_future()
            loop.add_reader(ours.fileno(), self._hear)
            await self._send(self._setup())
            try:
                await asyncio.wait_for(asyncio.shield(self._ready), _START_SECONDS)
            except (TimeoutError, EngineFault) as error:
                said = self._last_words()
                await self.close()
                raise EngineFault(f"the jail's fork server did not start{said}") from error

    def _launch(self, control: int) -> subprocess.Popen[bytes]:
        server = "keeper" if self.isolation == "runsc" else "server"
        boot = _BOOT.format(search_path=self._search_path(), server=server)
        command = [str(paths.interpreter()), *_PYTHON_OPTIONS, "-c", boot, str(control)]
        if self.isolation == "bwrap":
            command = [
                *bubblewrap.read_only(paths.needed(self._program.modules), _ENVIRONMENT),
                *command,
            ]
        # The environment of whoever launches the jail must hold no secret: see bubblewrap.isolated.
        return subprocess.Popen(
            command,
            env=_ENVIRONMENT,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=(control,),
            start_new_session=True,  # a Ctrl-C is for the host to handle
        )

    def _search_path(self) -> list[str]:
        return paths.search_path(("metamem.core", "metamem.sandbox", *self._program.modules))

    def _setup(self) -> dict[str, Any]:
        setup: dict[str, Any] = {
            "entry": self._program.entry,
            "preload": self._program.preload,
            "readable": [str(path) for path in paths.needed(self._program.modules)],
            "forks": self._forks,
        }
        if self.isolation == "runsc":
            setup |= {
                "runsc": gvisor.executable(),
                "python": [str(paths.interpreter()), *_PYTHON_OPTIONS],
                "search_path": self._search_path(),
                "environment": _ENVIRONMENT,
                "folder": tempfile.gettempdir(),
            }
        return setup

    def _last_words(self) -> str:
        if self._server is None or self._server.stderr is None:
            return ""
        with suppress(subprocess.TimeoutExpired):
            self._end(self._server)
            _, said = self._server.communicate(timeout=5)
            return ": " + said.decode(errors="replace").strip()[-2000:]
        return ""

    async def close(self) -> None:
        """End the fork server and every process it made."""
        for spare in self._spares.values():
            spare.cancel()
        self._spares.clear()
        for process in list(self._processes.values()):
            process.kill()
        self._disconnect()
        await asyncio.to_thread(self._bury)

    def _bury(self) -> None:
        """Leave nothing of the server's process behind."""
        server, self._server = self._server, None
        if server is not None:
            self._end(server)
            server.wait()
            assert server.stderr is not None
            server.stderr.close()

    def _end(self, server: subprocess.Popen[bytes]) -> None:
        if self.isolation == "runsc":
            server.terminate()  # a keeper has folders to remove
            with suppress(subprocess.TimeoutExpired):
                server.wait(_CLEARING_SECONDS)
        server.kill()

    def _disconnect(self) -> None:
        if self._control is not None:
            asyncio.get_running_loop().remove_reader(self._control.fileno())
            self._control.close()
            self._control = None

    # --- processes ---

    async def spawn(self, limits: ProcessLimits) -> Process:
        """A new confined process, which waits for its first call.

        The next one is made beforehand: whoever asks for one mostly asks for another later.
        """
        await self.start()
        spare = self._spares.pop(limits, None)
        process = None
        if spare is not None:
            with suppress(EngineFault):  # whatever befell it, a new one may fare better
                process = await spare
        if process is None or not process.alive:
            process = await self._make(limits)
        if self.isolation != "runsc":  # a whole sandbox is too dear to be kept for nothing
            task = self._spares[limits] = asyncio.create_task(self._make(limits))
            task.add_done_callback(_look_at)
        return process

    async def _make(self, limits: ProcessLimits) -> Process:
        process = Process(self._new_key(), limits, self._program.kinds)
        command = {
            "op": "spawn",
            "key": process.key,
            "memory_bytes": limits.memory_mb << 20,
            "cpu_seconds": limits.total_cpu,
        }
        birth = await self._conceive(process, command)
        try:
            await birth
        except BaseException:
            self._forget(process)
            raise
        return process

    async def fork(self, parent: Process, data: str, limits: CallLimits) -> Process:
        """A copy of a running process with all its state. `data` (JSON) goes to the copy."""
        child = Process(self._new_key(), parent.limits, self._program.kinds)
        command = {"op": "grant", "key": child.key, "of": parent.key}
        birth = await self._conceive(child, command)
        try:
            await parent.call("fork", data, limits)
            await asyncio.wait_for(birth, limits.wall)
        except BaseException as error:
            # Half a fork may be out there, nameless: only its whole family can be ended.
            self._forget(child)
            with suppress(EngineFault):
                await self._send({"op": "kill", "key": parent.key})
            if isinstance(error, TimeoutError):
                error = GuestFailure("did not let itself be copied", "wall")
            elif isinstance(error, GuestFailure) and error.kind == REFUSED:
                error = EngineFault(error.what)  # the host did grant it: not the guest's fault
            if isinstance(error, EngineFault | GuestFailure):
                parent.condemn(error)
            parent.kill()
            raise error from None
        return child

    def _forget(self, process: Process) -> None:
        """Whatever still becomes of this one is ended at once."""
        self._births.pop(process.key, None)
        self._processes.pop(process.key, None)
        process.kill()

    async def _conceive(self, process: Process, command: dict[str, Any]) -> asyncio.Future[None]:
        """Make the process's channel and send its other end with the command."""
        loop = asyncio.get_running_loop()
        ours, theirs = socket.socketpair()
        with theirs:
            ours.setblocking(False)
            await loop.connect_accepted_socket(lambda: process, ours)
            birth = self._births[process.key] = loop.create_future()
            self._processes[process.key] = process
            await self._send(command, theirs.fileno())
        return birth

    def _new_key(self) -> int:
        self._next_key += 1
        return self._next_key

    async def _send(self, message: dict[str, Any], *descriptors: int) -> None:
        data = json.dumps(message).encode()
        while self._control is not None:
            try:
                socket.send_fds(self._control, [data], list(descriptors))
                return
            except BlockingIOError:
                await asyncio.sleep(_PATIENCE)
            except OSError:
                self._server_died()
        raise EngineFault("the jail's fork server died")

    # --- what the fork server says ---

    def _hear(self) -> None:
        while self._control is not None:
            try:
                data, descriptors, _, _ = socket.recv_fds(self._control, _MAX_MESSAGE, 1)
            except BlockingIOError:
                return
            except OSError:
                data, descriptors = b"", []
            if not data:
                self._server_died()
                return
            message = json.loads(data)
            getattr(self, f"_on_{message['event']}")(message, descriptors)

    def _on_ready(self, message: dict[str, Any], descriptors: Sequence[int]) -> None:
        assert self._ready is not None
        self._forks = self._forks and message["forks"]
        if not self._ready.done():
            self._ready.set_result(None)

    def _on_started(self, message: dict[str, Any], descriptors: Sequence[int]) -> None:
        process = self._processes.get(message["key"])
        birth = self._births.pop(message["key"], None)
        if process is None:
            with suppress(ProcessLookupError):  # it may have ended already
                signal.pidfd_send_signal(descriptors[0], signal.SIGKILL)
            os.close(descriptors[0])
            return
        pidfd = descriptors[0]
        if self.isolation == "runsc":  # several processes, of which some always sleep
            process.attach(pidfd, clocks.of_tree(pidfd))
        else:
            process.attach(pidfd, clocks.of_process(pidfd), clocks.sleep_of(pidfd))
        if birth is not None and not birth.done():
            birth.set_result(None)

    def _on_refused(self, message: dict[str, Any], descriptors: Sequence[int]) -> None:
        self._processes.pop(message["key"], None)
        birth = self._births.pop(message["key"], None)
        if birth is not None and not birth.done():
            birth.set_exception(
                EngineFault(f"a process could not be confined: {message['reason']}")
            )

    def _on_ended(self, message: dict[str, Any], descriptors: Sequence[int]) -> None:
        process = self._processes.pop(message["key"], None)
        if process is not None:
            process.has_ended(End(message["code"], message["cpu"], message["punished"]))

    def _server_died(self) -> None:
        """Everything it held is lost; the next spawn starts a new one."""
        self._disconnect()
        fault = EngineFault("the jail's fork server died", hint="it is started anew when needed")
        waiting = [self._ready, *self._births.values()]
        self._births.clear()
        processes, self._processes = list(self._processes.values()), {}
        for future in waiting:
            if future is not None and not future.done():
                future.set_exception(fault)
                future.exception()  # it may be that nobody waits for it
        for process in processes:
            process.engine_died()


def _look_at(spare: asyncio.Task[Process]) -> None:
    """Nobody may ever ask for a spare; that its making failed is then no news."""
    if not spare.cancelled():
        spare.exception()
