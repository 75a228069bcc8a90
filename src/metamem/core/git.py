"""What git says about a repository of somebody's: nothing in it is changed, and no program of it is run."""

import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

# Settings of a repository can name programs that git would run, and places that it would fetch from;
# none of them is needed here.
_GIT = (
    *("git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0"),
    *("-c", "protocol.allow=never"),
)
_SECONDS = 0.1  # that a call is given at least


class GitFailed(Exception):
    """Git said no, took too long, or is not there."""


def ask_git(
    folder: str | Path,
    words: Sequence[str],
    until: float,
    environment: Mapping[str, str] | None = None,
    most: int = 32 << 20,
) -> bytes:
    """What git prints, up to so many bytes and a moment of the monotonic clock; more is a failure."""
    given = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    given |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        with subprocess.Popen(
            [*_GIT, "-C", str(folder), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=given | dict(environment or {}),
        ) as process:
            assert process.stdout is not None
            timer = threading.Timer(max(_SECONDS, until - time.monotonic()), process.kill)
            timer.start()
            try:
                read = process.stdout.read(most + 1)
                if len(read) > most:
                    process.kill()
            finally:
                timer.cancel()
    except (OSError, ValueError):  # there is no git, or a name holds a zero
        raise GitFailed from None
    if process.returncode:
        raise GitFailed
    return read
