"""The outer wall: namespaces made by bubblewrap, with an empty file system but for what is shown."""

import os
import shutil
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

_TEST_SECONDS = 20


def executable() -> str | None:
    return shutil.which("bwrap")


@cache
def works() -> bool:
    """Whether bubblewrap is here and may make its namespaces."""
    program = executable()
    if program is None:
        return False
    command = [program, "--unshare-all", "--ro-bind", "/", "/", "true"]
    try:
        return (
            subprocess.run(
                command, env={"PATH": os.defpath}, capture_output=True, timeout=_TEST_SECONDS
            ).returncode
            == 0
        )
    except (OSError, subprocess.TimeoutExpired):
        return False


def show(paths: Iterable[Path]) -> list[str]:
    """Options that show paths read-only, symbolic links as links."""
    options: list[str] = []
    for path in paths:
        if path.is_symlink():
            options += ["--symlink", str(path.readlink()), str(path)]
        else:
            options += ["--ro-bind", str(path), str(path)]
    return options


def isolated(environment: dict[str, str]) -> list[str]:
    """bubblewrap with namespaces of its own, no capabilities and nothing to see yet.

    bubblewrap must itself be started with a clean environment: its first process keeps it.
    """
    program = executable()
    assert program is not None
    options = [program, "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    options.append("--clearenv")
    for name, value in environment.items():
        options += ["--setenv", name, value]
    return options


def read_only(paths: Iterable[Path], environment: dict[str, str]) -> list[str]:
    """Everything before the program's own words. Nothing in there is writable, not even the root."""
    return [*isolated(environment), *show(paths), "--remount-ro", "/", "--chdir", "/"]
