"""The workspace profile: whole programs, one writable tree, no network. For coding and tools."""

import asyncio
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from metamem.core.blocking import finished
from metamem.core.errors import UsageError
from metamem.sandbox import bubblewrap, paths, seccomp
from metamem.sandbox.isolation import choose
from metamem.sandbox.watch import EndedBy, Watch

WORKSPACE = "/workspace"  # where every command finds its tree
_PROGRAMS = "/run/programs"  # `python` in there is this interpreter, whatever the system has
_SYSTEM = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc/ld.so.cache",
    "/etc/alternatives",
)
# bubblewrap dies with its parent, unless that was gone before it could say so. Hence a command says that
# it is there, and begins when it is told to: nobody tells it any more where the host was killed meanwhile.
_READY = b"\x06"
_SHELL = (
    "printf '\\006' >&2 && read -r _ &&"
    ' ulimit -c 0 && ulimit -t "$1" && ulimit -v "$2" && ulimit -f "$3" && shift 3 && exec "$@"'
)
# A command inherits which signals are ignored, and must not end otherwise for who started it: workers
# ignore Ctrl-C, `nohup` ignores hang-ups, and a native library may ignore whatever it likes.
_ALL_SIGNALS_HEARD = ("env", "--default-signal", "--")
_STARTED_WITH = {"PATH": os.defpath}
_NO_INPUT = " </dev/null"
_SIGNALS = range(1, 65)


@dataclass(frozen=True, slots=True)
class WorkspaceLimits:
    """Limits of one command. CPU, memory and file size hold for each of its processes.

    The processes and the tree are looked at now and then: a moment may pass before it is ended.
    """

    cpu: int = 60  # seconds
    memory_mb: int = 2048
    file_mb: int = 64
    tree_mb: int = 1024  # on the disk, what was there before included
    processes: int = 128
    output_bytes: int = 1 << 20  # kept of stdout, and of stderr; what comes after is dropped


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a command ended. A negative exit code is the signal that ended it."""

    exit_code: int
    stdout: str
    stderr: str
    ended_by: EndedBy = ""  # the limit that ended it; `tree` also where that is over in the end
    truncated: bool = False  # more was written than was kept

    @property
    def timed_out(self) -> bool:
        return self.ended_by == "wall"

    @property
    def too_many_processes(self) -> bool:
        return self.ended_by == "processes"


async def run_command(
    argv: Sequence[str],
    tree: Path,
    seconds: float,
    limits: WorkspaceLimits | None = None,
    *,
    readable: Sequence[Path] = (),
    shown: Mapping[str, Path] | None = None,
    environment: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    proc: bool = True,
    pinned: Sequence[str] = (),
    fixed: Sequence[str] = (),
    seen_as: str = WORKSPACE,
) -> CommandResult:
    """Run a command with `tree` as its only writable folder, seen as /workspace or under another name.

    `readable` paths are seen where they are, `shown` ones under the name given, both read-only.
    Of what is in the tree, `pinned` names cannot be moved or replaced, and `fixed` ones not changed.
    Without `proc` there is no /proc, through which a process could reach into itself and others.
    """
    limits = limits or WorkspaceLimits()
    choose("bwrap")  # raises JailUnavailable with what to do: here nothing less will do
    if not argv or not tree.is_dir():
        raise UsageError("a command needs words and a folder to work in")
    if not can_be_seen_as(seen_as):
        raise UsageError(f"a tree that is seen as {seen_as} hides what every command needs")
    with _file(seccomp.workspace()) as rules, _file(_own_packages()) as packages:
        command = _command(
            argv,
            tree,
            limits,
            readable,
            shown or {},
            environment or {},
            proc,
            pinned,
            fixed,
            seen_as,
            bool(stdin),
            rules,
            packages,
        )
        process = await _started(command, (rules, packages))
    assert process.stdin and process.stdout and process.stderr
    ready = asyncio.Event()
    readers = asyncio.gather(
        _read(process.stdout, limits.output_bytes),
        _read(process.stderr, limits.output_bytes, ready),
    )
    feeding = asyncio.create_task(_feed(process.stdin, stdin, ready))
    watch = Watch(process.pid, tree, limits.processes, limits.tree_mb << 20)
    over = asyncio.create_task(watch.until_over())
    ended = asyncio.create_task(process.wait())
    by: EndedBy = ""
    try:
        await asyncio.wait({ended, over}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if not ended.done():
            by = over.result() if over.done() else "wall"
        elif _by_signal(ended.result()) in (-signal.SIGXCPU, -signal.SIGKILL):
            by = "cpu" if watch.may_have_used(limits.cpu) else ""
    finally:
        over.cancel()
        feeding.cancel()
        _end(process)
        code = await ended
        (stdout, cut_out), (stderr, cut_err) = await readers
    if not by and await watch.tree_is_over():
        by = "tree"
    return CommandResult(_by_signal(code), stdout, stderr, by, cut_out or cut_err)


async def _started(command: Sequence[str], files: Sequence[int]) -> asyncio.subprocess.Process:
    """A process, begun to the end also where nobody waits for it any more: only then can all of it be ended."""
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            *command,
            env=_STARTED_WITH,
            # A pipe and not a file: what was read from it cannot be read again by anyone.
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            pass_fds=files,
            start_new_session=True,
        )
    )
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        process = await starting
        _end(process)
        await process.wait()
        raise


def _end(process: asyncio.subprocess.Process) -> None:
    """Whatever it has come to. The kernel ends its process namespace with it; where that was only just being
    made, what is to live in it waits for its parent, and is of the same group still."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    if process.stdin is not None:
        process.stdin.close()  # nobody waits any more to be told to begin


def _by_signal(code: int) -> int:
    """What ends by a signal is told as a shell does it: 128 and its number."""
    return 128 - code if code - 128 in _SIGNALS else code


def run_blocking(
    argv: Sequence[str],
    tree: Path,
    seconds: float,
    limits: WorkspaceLimits | None = None,
    *,
    readable: Sequence[Path] = (),
    shown: Mapping[str, Path] | None = None,
    environment: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    proc: bool = True,
) -> CommandResult:
    """`run_command` for callers that are not coroutines, whether or not a loop is running."""
    return finished(
        run_command(
            argv,
            tree,
            seconds,
            limits,
            readable=readable,
            shown=shown,
            environment=environment,
            stdin=stdin,
            proc=proc,
        )
    )


def _command(
    argv: Sequence[str],
    tree: Path,
    limits: WorkspaceLimits,
    readable: Sequence[Path],
    shown_as: Mapping[str, Path],
    extra: Mapping[str, str],
    proc: bool,
    pinned: Sequence[str],
    fixed: Sequence[str],
    seen_as: str,
    reads: bool,
    rules: int,
    packages: int,
) -> list[str]:
    environment = {
        "HOME": "/tmp",
        "LANG": "C.UTF-8",
        "PATH": f"{_PROGRAMS}:{paths.interpreter().parent}:{os.defpath}",
        **extra,
    }
    python = str(paths.interpreter())
    return [
        *bubblewrap.isolated(environment),
        *("--tmpfs", "/tmp"),  # before what is to be seen there
        *bubblewrap.show([*_shown_always(), *readable]),
        *(word for name, path in shown_as.items() for word in ("--ro-bind", str(path), name)),
        *("--symlink", python, f"{_PROGRAMS}/python", "--symlink", python, f"{_PROGRAMS}/python3"),
        *("--ro-bind-data", str(packages), f"{_PROGRAMS}/pyvenv.cfg"),
        *(("--proc", "/proc") if proc else ()),
        *("--dev", "/dev"),
        *("--bind", str(tree.resolve()), seen_as),
        *_within(tree, "--bind", pinned, seen_as),
        *_within(tree, "--ro-bind", fixed, seen_as),
        *("--remount-ro", "/", "--chdir", seen_as),
        *("--seccomp", str(rules)),
        *("/bin/sh", "-c", _SHELL if reads else _SHELL + _NO_INPUT, "sh"),
        *(str(limits.cpu), str(limits.memory_mb << 10), str(limits.file_mb << 11)),
        *(_hearing() if "=" not in argv[0] else ()),  # which `env` would take for a variable
        *argv,
    ]


@cache
def _hearing() -> tuple[str, ...]:
    """What to begin a command with, so that it ignores no signal; nothing where `env` cannot do it."""
    try:
        # Looked for where commands find it, and not where this process would at this moment.
        tried = subprocess.run(
            [*_ALL_SIGNALS_HEARD, "true"], capture_output=True, env=_STARTED_WITH
        )
    except OSError:
        return ()
    return () if tried.returncode else _ALL_SIGNALS_HEARD


def _within(tree: Path, how: str, names: Sequence[str], seen_as: str) -> list[str]:
    """Places of the tree that are mounted once more, on themselves."""
    inside = [(tree.resolve() / name, f"{seen_as}/{name}") for name in names]
    return [word for path, seen in inside for word in (how, str(path), seen)]


def can_be_seen_as(name: str) -> bool:
    """Whether a tree can have that name in the jail: it is a place of its own, and hides nothing."""
    place = Path(name)
    if not place.is_absolute() or ".." in place.parts or len(place.parts) < 2:
        return False
    kept = [Path(_PROGRAMS), Path("/tmp"), *_shown_always()]
    return not any(one.is_relative_to(place) for one in kept) and not any(
        place.is_relative_to(one) for one in ("/proc", "/dev", "/run", *_SYSTEM)
    )


@cache
def _shown_always() -> tuple[Path, ...]:
    system = (Path(p) for p in _SYSTEM if Path(p).exists())
    return (*system, *(p for p in paths.interpreter_paths() if not p.is_relative_to("/usr")))


def _own_packages() -> bytes:
    """Says that `python` has a folder of packages of its own, which is not there.

    Without it the packages of this machine's interpreter would be loaded in part, which takes
    longer than most commands do, and could be imported here and not elsewhere.
    """
    home = paths.interpreter().parent
    return f"home = {home}\ninclude-system-site-packages = false\n".encode()


@contextmanager
def _file(content: bytes) -> Iterator[int]:
    """The descriptor of a file without a name."""
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.seek(0)
        yield file.fileno()


async def _feed(pipe: asyncio.StreamWriter, data: bytes, ready: asyncio.Event) -> None:
    """Tell a command to begin once it is there, and give it what it is to read."""
    await ready.wait()
    with suppress(ConnectionError):  # a command need not read what it is given
        pipe.write(b"\n" + data)
        await pipe.drain()
    pipe.close()


async def _read(
    stream: asyncio.StreamReader, limit: int, ready: asyncio.Event | None = None
) -> tuple[str, bool]:
    """Everything is read, so that nobody blocks; only so much is kept. `ready` is set by the first that
    comes, which is no part of what the command says, or the words of a jail that could not be made."""
    kept = bytearray()
    cut = False
    if ready is not None:
        first = await stream.read(1)
        kept += first if first != _READY else b""
        ready.set()
    while chunk := await stream.read(1 << 16):
        room = limit - len(kept)
        kept += chunk[:room]
        cut = cut or len(chunk) > room
    return kept.decode(errors="replace"), cut
