"""numpy brings no threads of its own to programs that run for long."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from metamem.service.attach.places import daemon_command

ONE = "OPENBLAS_NUM_THREADS"


def said(command: list[str]) -> str:
    clean = {name: value for name, value in os.environ.items() if name != ONE}
    return subprocess.run(command, env=clean, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_the_program_has_one_thread_when_all_is_loaded() -> None:
    code = (
        "from metamem.cli.running import program; import os, sys; program(); assert 'numpy' in sys.modules;"
        f" print(os.environ['{ONE}'], len(os.listdir('/proc/self/task')))"
    )
    assert said([sys.executable, "-c", code]).split() == ["1", "1"]


def test_the_daemon_says_so_before_it_loads_anything(tmp_path: Path) -> None:
    program = tmp_path / "metamem" / "service" / "attach" / "daemon.py"
    program.parent.mkdir(parents=True)
    for folder in list(program.parents)[:3]:  # a package like the real one, which would win else
        (folder / "__init__.py").touch()
    program.write_text(f"import os\ndef main(folder): print(os.environ['{ONE}'], folder)\n")
    *words, _, memories = daemon_command(tmp_path / "memory")
    assert said([*words, str(tmp_path), memories]).split() == ["1", memories]
