"""The strongest isolation: gVisor, whose own kernel stands between a guest and the machine's.

Everything here is about its program, `runsc`: how it is called, and what it is told to show.
"""

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path

from metamem.core.scratch import private_folder
from metamem.sandbox import confine, paths

_TEST_SECONDS = 30
_TEST_MEMORY = 1 << 30
_CONFIG, _ROOT, _STATE = "config.json", "root", "state"  # in a bundle's folder
# gVisor has these whether asked or not, unless something else lies there.
_NOT_SHOWN = ("/proc", "/sys", "/tmp")


def executable() -> str | None:
    return shutil.which("runsc")


@cache
def works() -> bool:
    """Whether runsc is here and may run an interpreter in a sandbox."""
    program = executable()
    if program is None:
        return False
    with bundles_folder(tempfile.gettempdir()) as folder:
        python = [str(paths.interpreter()), "-I", "-S", "-c", "pass"]
        write_bundle(folder, python, {}, paths.needed(()), memory_bytes=_TEST_MEMORY)
        try:
            ended = subprocess.run(
                command(program, folder),
                env={},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_TEST_SECONDS,
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
    return ended.returncode == 0


def command(program: str, bundle: Path) -> list[str]:
    """Runs a bundle in the foreground: when runsc dies, the sandbox does."""
    name = f"metamem-{secrets.token_hex(8)}"  # one of its own on the whole machine
    options = [
        f"--root={bundle / _STATE}",
        "--network=none",
        "--ignore-cgroups",
        "--overlay2=none",
        "--file-access-mounts=exclusive",  # nothing shown changes, so it may be remembered
    ]
    if os.geteuid() != 0:
        options.append("--rootless")
    return [program, *options, "run", f"--bundle={bundle}", name]


def write_bundle(
    folder: Path,
    argv: Sequence[str],
    environment: Mapping[str, str],
    shown: Iterable[Path],
    *,
    memory_bytes: int,
) -> None:
    """Write what runsc is to run into an empty folder: `shown` and nothing else, read-only."""
    root = folder / _ROOT
    root.mkdir()
    (folder / _STATE).mkdir()
    mounts = [
        {"destination": place, "type": "tmpfs", "source": "none", "options": ["ro"]}
        for place in _NOT_SHOWN
    ]
    for path in shown:
        if path.is_symlink():
            link = root / path.relative_to("/")
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(path.readlink())
        else:
            options = ["ro", "rbind", "nosuid", "nodev"]
            mounts.append(
                {
                    "destination": str(path),
                    "type": "bind",
                    "source": str(path),
                    "options": options,
                }
            )
    config = {
        "ociVersion": "1.0.2",
        "hostname": "jail",
        "root": {"path": _ROOT, "readonly": True},
        "mounts": mounts,
        "process": {
            "args": list(argv),
            "env": [f"{name}={value}" for name, value in environment.items()],
            "cwd": "/",
            "user": {"uid": 0, "gid": 0},  # a root with no capabilities, in a kernel of its own
            "capabilities": {},
            "noNewPrivileges": True,
            "rlimits": [
                {"type": kind, "soft": value, "hard": value}
                for kind, value in confine.fixed_limits(memory_bytes).items()
            ],
        },
        "linux": {
            "namespaces": [{"type": kind} for kind in ("pid", "network", "ipc", "uts", "mount")]
        },
    }
    (folder / _CONFIG).write_text(json.dumps(config))


def remove_bundle(folder: Path) -> None:
    """Remove a bundle, or a folder of them. What is shown in them is shown to runsc alone; should
    it ever be seen from here too, then nothing is removed."""
    if f" {folder}" in Path("/proc/self/mountinfo").read_text():
        print(f"not removed, since something is mounted there: {folder}", file=sys.stderr)
        return
    shutil.rmtree(folder, ignore_errors=True)


def bundles_folder(parent: str) -> AbstractContextManager[Path]:
    return private_folder("runsc", parent, remove_bundle)
