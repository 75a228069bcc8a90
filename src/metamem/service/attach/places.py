"""Where the hook and the daemon meet: one folder of the user's own, in the folder of memories."""

import os
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from metamem.core.errors import StoreError, UsageError

PROGRAM = "metamem_hook.py"
SOCKET = "socket"
LOCK = "lock"
STARTING = "starting"
START = "start"


@dataclass(frozen=True, slots=True)
class Meeting:
    """The folder `attach` inside the folder of memories."""

    memories: Path

    @property
    def folder(self) -> Path:
        return self.memories / "attach"

    @property
    def spool(self) -> Path:
        return self.folder / "spool"

    @property
    def receipts(self) -> Path:
        return self.folder / "receipts"

    @property
    def socket(self) -> Path:
        return self.folder / SOCKET

    def make(self) -> None:
        """Make the folder, for its owner alone, and say in it how the daemon is started."""
        if os.name == "nt":
            raise UsageError("the daemon needs unix sockets, which are not used on Windows")
        try:
            for folder in (self.folder, self.spool, self.receipts):
                folder.mkdir(parents=True, exist_ok=True)
                folder.chmod(0o700)
            if self.folder.stat().st_uid != os.getuid():
                raise UsageError(f"{self.folder} belongs to somebody else")
            written = b"\0".join(map(os.fsencode, daemon_command(self.memories)))
            start = self.folder / START
            if not start.is_file() or start.read_bytes() != written:
                start.write_bytes(written)
                start.chmod(0o600)
        except OSError as error:
            raise StoreError(f"{self.folder} cannot be made: {error.strerror}") from None


def daemon_command(memories: Path) -> list[str]:
    """What starts the daemon of a folder of memories, with this interpreter."""
    source = str(Path(__file__).parents[3])  # the host's environment may not know of it
    return [sys.executable, "-P", "-c", _RUN, source, str(memories)]


# Before numpy loads: a thread of it for each core would cost more than it gives.
_RUN = (
    "import os, sys; os.environ.setdefault('OPENBLAS_NUM_THREADS', '1');"
    " sys.path.insert(0, sys.argv[1]);"
    " from metamem.service.attach.daemon import main; main(sys.argv[2])"
)


def hook_command(kind: str, host: str, meeting: Meeting) -> str:
    """The line that a host's shell runs. It ends well whatever becomes of the interpreter or of
    this package: a host takes some exit codes for an order to stop."""
    program = Path(__file__).with_name(PROGRAM)
    words = [sys.executable, "-I", "-S", str(program), kind, host, str(meeting.folder)]
    return f"{shlex.join(words)} 2>/dev/null || true"


def is_own(command: object) -> bool:
    """Whether a command of a host's settings is our hook, of this version or another."""
    return isinstance(command, str) and f"/{PROGRAM}" in command


def memories_of(command: str) -> str | None:
    """The folder of memories that a hook's command was written for; None where it says none."""
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    for place, word in enumerate(words):
        if word.endswith(f"/{PROGRAM}") and len(words) > place + 3:
            return str(Path(words[place + 3]).parent)
    return None
