"""Programs in a workspace: they work, and they stay in their tree."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from metamem.core.errors import UsageError
from metamem.sandbox import bubblewrap, workspace
from metamem.sandbox.workspace import WorkspaceLimits, run_blocking, run_command

pytestmark = pytest.mark.skipif(
    not bubblewrap.works(), reason="the isolation bwrap does not work here"
)

PYTHON = Path(sys.executable).resolve().name


def python(program: str) -> list[str]:
    return [PYTHON, "-I", "-S", "-c", program]


async def test_a_command_works_in_its_tree(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("hello")
    result = await run_command(
        ["sh", "-c", "cat in.txt; pwd; tr a-z A-Z < in.txt > out.txt; echo bad >&2; exit 3"],
        tmp_path,
        30,
    )
    assert (result.exit_code, result.stdout, result.stderr) == (3, "hello/workspace\n", "bad\n")
    assert (tmp_path / "out.txt").read_text() == "HELLO"


async def test_processes_and_python_are_allowed(tmp_path: Path) -> None:
    result = await run_command(
        python("import subprocess; print(subprocess.check_output(['echo', 'child']))"), tmp_path, 30
    )
    assert "child" in result.stdout


async def test_nothing_outside_the_tree_can_be_written(tmp_path: Path) -> None:
    tree, outside = tmp_path / "tree", tmp_path / "outside"
    tree.mkdir()
    outside.write_text("whole")
    (tree / "link").symlink_to(outside)
    result = await run_command(
        [
            "sh",
            "-c",
            f"echo x > {outside}; echo x > link; echo x > /usr/x; echo x > /x; echo x > ../x",
        ],
        tree,
        30,
    )
    assert result.stderr.count("\n") == 5
    assert outside.read_text() == "whole"
    assert not Path("/usr/x").exists()


async def test_files_environment_and_processes_of_the_host_are_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree, secret = tmp_path / "tree", tmp_path / "secret"
    tree.mkdir()
    secret.write_text("canary-token")
    monkeypatch.setenv("CANARY", "canary-token")
    result = await run_command(
        ["sh", "-c", f"cat {secret}; env; cat /proc/*/environ; ls /proc; cat /etc/shadow"], tree, 30
    )
    assert "canary-token" not in result.stdout + result.stderr
    assert str(os.getpid()) not in result.stdout.split()


async def test_there_is_no_network(tmp_path: Path) -> None:
    server = await asyncio.start_server(lambda r, w: w.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    program = f"import socket; socket.create_connection(('127.0.0.1', {port}), 2); print('in')"
    outside = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-S", "-c", program, stdout=asyncio.subprocess.PIPE
    )
    assert b"in" in (await outside.communicate())[0]  # the same program works without the jail
    result = await run_command(python(program), tmp_path, 30)
    server.close()
    assert result.exit_code != 0 and "in" not in result.stdout
    assert "Connection refused" in result.stderr


async def test_namespaces_mounts_and_keys_are_refused(tmp_path: Path) -> None:
    program = (
        "import ctypes; c = ctypes.CDLL(None);"
        "print(c.unshare(0x10000000), c.mount(b'n', b'/tmp', b'tmpfs', 0, None))"
    )
    result = await run_command(python(program), tmp_path, 30)
    assert result.stdout == "-1 -1\n"


async def test_a_timeout_ends_the_whole_group(tmp_path: Path) -> None:
    """The grandchild would write a second later, had it lived."""
    command = "(setsid sh -c 'sleep 1; touch late' &) ; touch early; sleep 60"
    result = await run_command(["sh", "-c", command], tmp_path, 0.6)
    assert result.timed_out
    await asyncio.sleep(1.2)
    assert {p.name for p in tmp_path.iterdir()} <= {"early"}


async def test_cpu_memory_file_and_output_limits_hold(tmp_path: Path) -> None:
    limits = WorkspaceLimits(cpu=1, memory_mb=300, file_mb=1, output_bytes=1000)
    looped = await run_command(python("while True: pass"), tmp_path, 60, limits)
    assert (looped.exit_code, looped.ended_by) == (-9, "cpu")
    memory = await run_command(python("bytearray(400 << 20)"), tmp_path, 60, limits)
    assert "MemoryError" in memory.stderr and memory.ended_by == ""
    big = await run_command(python("open('big', 'wb').write(bytes(2 << 20))"), tmp_path, 60, limits)
    assert big.exit_code != 0 and (tmp_path / "big").stat().st_size <= 1 << 20
    loud = await run_command(python("print('x' * 5000)"), tmp_path, 60, limits)
    assert loud.truncated and len(loud.stdout) == 1000


async def test_too_many_processes_are_ended(tmp_path: Path) -> None:
    program = "import os, time\nfor _ in range(60): os.fork() or (time.sleep(30), os._exit(0))\ntime.sleep(30)"
    result = await run_command(python(program), tmp_path, 30, WorkspaceLimits(processes=20))
    assert result.too_many_processes and not result.timed_out


async def test_how_a_command_ended_is_told(tmp_path: Path) -> None:
    for command, code in (
        ("exit 3", 3),
        ("exit 200", 200),
        ("kill -9 $$", -9),
        ("kill -15 $$", -15),
        ("sh -c 'kill -24 $$'", -24),
    ):
        result = await run_command(["sh", "-c", command], tmp_path, 30)
        assert (result.exit_code, result.ended_by) == (code, "")
    slept = await run_command(["sleep", "60"], tmp_path, 0.3)
    assert (slept.exit_code, slept.ended_by) == (-9, "wall")


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGXCPU])
async def test_it_ends_the_same_where_the_host_ignores_signals(
    tmp_path: Path, number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace._hearing.cache_clear()
    with monkeypatch.context() as elsewhere:  # where the host looks for programs is nothing to it
        elsewhere.setenv("PATH", str(tmp_path))
        workspace._hearing()
    before = signal.signal(number, signal.SIG_IGN)
    try:
        result = await run_command(["sh", "-c", f"kill -{int(number)} $$"], tmp_path, 30)
    finally:
        signal.signal(number, before)
    assert (result.exit_code, result.ended_by) == (-number, "")


@pytest.mark.slow
async def test_the_cpu_time_of_a_child_counts_where_the_command_ends_with_it(
    tmp_path: Path,
) -> None:
    command = ["sh", "-c", f"{PYTHON} -I -S -c 'while True: pass'"]
    result = await run_command(command, tmp_path, 60, WorkspaceLimits(cpu=1))
    assert (result.exit_code, result.ended_by) == (-9, "cpu")
    command[-1] += "; sleep 0.5; echo survived"
    result = await run_command(command, tmp_path, 60, WorkspaceLimits(cpu=1))
    assert (result.exit_code, result.ended_by, result.stdout) == (0, "", "survived\n")


async def test_a_tree_that_grows_too_big_ends_the_command(tmp_path: Path) -> None:
    limits = WorkspaceLimits(tree_mb=8)
    steady = "import time, itertools\nfor n in itertools.count():\n    open(f'{n}', 'wb').write(bytes(1 << 20)); time.sleep(0.02)"
    grown = await run_command(python(steady), tmp_path, 60, limits)
    assert (grown.exit_code, grown.ended_by) == (-9, "tree")
    at_once = await run_command(["true"], tmp_path, 60, limits)
    assert (at_once.exit_code, at_once.ended_by) == (0, "tree")


async def test_a_command_needs_words_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        await run_command([], tmp_path, 1)
    with pytest.raises(UsageError):
        await run_command(["true"], tmp_path / "missing", 1)


async def test_words_files_and_input_can_be_given(tmp_path: Path) -> None:
    tree, shown = tmp_path / "tree", tmp_path / "shown"
    tree.mkdir()
    shown.mkdir()
    (shown / "note").write_text("seen")
    result = await run_command(
        ["sh", "-c", "cat; cat /kit/note; echo $WORD; touch /kit/x; ls -A /kit"],
        tree,
        30,
        shown={"/kit": shown},
        environment={"WORD": "said"},
        stdin=b"given ",
    )
    assert result.stdout == "given seensaid\nnote\n"
    unread = await run_command(["true"], tree, 30, stdin=b"x" * (1 << 20))
    assert unread.exit_code == 0


async def test_python_is_this_interpreter_and_proc_can_be_left_out(tmp_path: Path) -> None:
    program = "import sys, os; print(sys.version_info[:2], os.path.exists('/proc/self'))"
    for proc in (True, False):
        result = await run_command(["python", "-I", "-S", "-c", program], tmp_path, 30, proc=proc)
        assert result.stdout == f"{sys.version_info[:2]} {proc}\n"


async def test_callers_that_are_no_coroutines_get_the_same(tmp_path: Path) -> None:
    """Also while a loop is running in their own thread, as here."""
    result = run_blocking(["sh", "-c", "cat; exit 3"], tmp_path, 30, stdin=b"in")
    assert (result.exit_code, result.stdout) == (3, "in")
    tree, seen = tmp_path / "tree", tmp_path / "seen"
    tree.mkdir()
    seen.write_text("readable")
    result = run_blocking(["cat", str(seen)], tree, 30, readable=[seen])
    assert result.stdout == "readable"
    with pytest.raises(UsageError):
        run_blocking([], tmp_path, 1)


async def test_a_tree_can_be_seen_under_the_name_of_another(tmp_path: Path) -> None:
    """A copy stands in for a folder that is not seen itself."""
    real, copy = tmp_path / "real", tmp_path / "copy"
    for folder, text in ((real, "real"), (copy, "copy")):
        folder.mkdir()
        (folder / "in.txt").write_text(text)
    command = ["sh", "-c", f"cat {real}/in.txt; pwd; echo new > {real}/out.txt; ls {copy}"]
    result = await run_command(command, copy, 30, seen_as=str(real))
    assert result.stdout == f"copy{real}\n" and result.exit_code != 0
    assert (copy / "out.txt").exists() and not (real / "out.txt").exists()


@pytest.mark.parametrize("name", ["/", "/usr", "/usr/src", "/tmp", "/run", "tree", "/a/../usr"])
async def test_a_tree_hides_nothing_that_commands_need(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError):
        await run_command(["true"], tmp_path, 30, seen_as=name)


KILLED = """
import asyncio, sys
from pathlib import Path
from metamem.sandbox.workspace import run_command
async def main():
    print("begun", flush=True)
    await asyncio.gather(*(run_command(["sleep", sys.argv[2]], Path(sys.argv[1]), 60) for _ in range(6)))
asyncio.run(main())
"""


async def test_no_command_outlives_a_host_that_was_killed_whenever_that_was(tmp_path: Path) -> None:
    """Also not one that had only just begun: by then bubblewrap may not yet have asked to die with it."""
    for delay in (0.0, 0.002, 0.01, 0.03, 0.1):
        sign = f"4242.{os.getpid()}"
        host = await asyncio.create_subprocess_exec(
            sys.executable, "-c", KILLED, str(tmp_path), sign, stdout=asyncio.subprocess.PIPE
        )
        assert host.stdout is not None
        await host.stdout.readline()
        await asyncio.sleep(delay)
        host.kill()
        await host.wait()
        for _ in range(100):
            left = [p for p in Path("/proc").glob("[0-9]*/cmdline") if sign in _text(p)]
            if not left:
                break
            await asyncio.sleep(0.1)
        assert not left


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


async def test_a_command_that_is_given_up_at_any_moment_of_its_beginning_is_ended(
    tmp_path: Path,
) -> None:
    """Also while its namespaces are being made: what was just begun would wait for ever."""

    def left() -> list[str]:
        told = (path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if _is_there(path))  # fmt: skip
        return [each.decode() for each in told if os.fsencode(tmp_path) in each]

    for number in range(60):
        task = asyncio.ensure_future(run_command(["sleep", "600"], tmp_path, 900))
        await asyncio.sleep(number * 0.0005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(asyncio.shield(task), 60)
    for _ in range(600):
        if not left():
            break
        await asyncio.sleep(0.1)
    assert left() == []


def _is_there(about: Path) -> bool:
    try:
        return bool(about.read_bytes())
    except OSError:
        return False
