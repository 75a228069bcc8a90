"""Private folders: gone when their owner is done, or when the next one comes."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from metamem.core.scratch import private_folder

OWNER = """
import sys, time
from metamem.core.scratch import private_folder
with private_folder("things", sys.argv[1]) as folder:
    (folder / "left").write_text("x")
    print(folder, flush=True)
    time.sleep(60)
"""


def test_a_folder_is_gone_afterwards(tmp_path: Path) -> None:
    with private_folder("things", str(tmp_path)) as folder:
        (folder / "file").write_text("x")
    assert not any(tmp_path.iterdir())


def test_what_a_killed_owner_left_goes_with_the_next_and_what_a_living_one_has_stays(
    tmp_path: Path,
) -> None:
    owners = [
        subprocess.Popen(
            [sys.executable, "-c", OWNER, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    folders = []
    for owner in owners:
        assert owner.stdout is not None
        folders.append(Path(owner.stdout.readline().strip()))
    os.kill(owners[0].pid, signal.SIGKILL)
    owners[0].wait()
    try:
        with private_folder("things", str(tmp_path)):
            assert not folders[0].exists()
            assert (folders[1] / "left").exists()
        with private_folder("others", str(tmp_path)):
            assert folders[1].exists()
    finally:
        for owner in owners:
            owner.kill()
            owner.wait()
            assert owner.stdout is not None
            owner.stdout.close()
