"""One process per run: an operating-system lock that ends with the process, however it dies."""

import fcntl
import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from metamem.core.errors import Busy, StoreError
from metamem.core.ids import ID_LENGTH

_held: set[int] = set()
_TRIES, _PAUSE = 5, 0.01  # whoever looks holds the lock for a moment, and must not be in the way


def _drop_in_child() -> None:
    """A forked child shares its parent's locks and would keep them alive after a kill -9.

    Closing the child's descriptor leaves the parent's lock as it is.
    """
    for descriptor in _held:
        os.close(descriptor)
    _held.clear()


os.register_at_fork(after_in_child=_drop_in_child)


@contextmanager
def lock_file(folder: Path, run_id: str) -> Iterator[None]:
    """Hold the lock of a run, or raise `Busy`. Lock files stay: removing them would race."""
    try:
        folder.mkdir(exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        descriptor = os.open(_path(folder, run_id), flags, 0o644)
    except OSError as error:
        raise _failure(folder, run_id, error) from error
    _held.add(descriptor)
    owner = os.getpid()
    try:
        _take(descriptor, folder, run_id)
        yield
    finally:
        if os.getpid() == owner:
            _held.discard(descriptor)
            os.close(descriptor)  # also unlocks


def is_held(folder: Path, run_id: str) -> bool:
    """Whether some process holds the lock of a run now. Looking leaves nothing behind."""
    try:
        descriptor = os.open(_path(folder, run_id), os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise _failure(folder, run_id, error) from error
    try:
        return not _locked(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


def _path(folder: Path, run_id: str) -> Path:
    # Hashed: a run may be called anything, a file may not.
    name = hashlib.sha256(run_id.encode(errors="surrogatepass")).hexdigest()[:ID_LENGTH]
    return folder / f"{name}.lock"


def _locked(descriptor: int, how: int) -> bool:
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _take(descriptor: int, folder: Path, run_id: str) -> None:
    for attempt in range(_TRIES):
        if _locked(descriptor, fcntl.LOCK_EX):
            break
        if attempt < _TRIES - 1:
            time.sleep(_PAUSE)
    else:
        pid = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
        holder = f"process {pid}" if pid else "another process"
        raise Busy(
            f"{holder} is at work on the run {run_id!r}",
            hint="wait for it to end, or stop it; the run can then be resumed",
        )
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    except OSError as error:
        raise _failure(folder, run_id, error) from error


def _failure(folder: Path, run_id: str, error: OSError) -> StoreError:
    return StoreError(
        f"{run_id!r} cannot be locked: {error.strerror}",
        hint=f"make sure that {folder} can be made and written to",
    )
