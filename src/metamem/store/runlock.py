"""One process per run: an operating-system lock that ends with the process, however it dies."""

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from metamem.core.errors import Busy, StoreError
from metamem.core.ids import ID_LENGTH

_held: set[int] = set()


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
    # Hashed: a run may be called anything, a file may not.
    name = hashlib.sha256(run_id.encode(errors="surrogatepass")).hexdigest()[:ID_LENGTH]
    try:
        folder.mkdir(exist_ok=True)
        descriptor = os.open(folder / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise _failure(run_id, error) from error
    _held.add(descriptor)
    owner = os.getpid()
    try:
        _take(descriptor, run_id)
        yield
    finally:
        if os.getpid() == owner:
            _held.discard(descriptor)
            os.close(descriptor)  # also unlocks


def _take(descriptor: int, run_id: str) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        pid = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
        holder = f"process {pid}" if pid else "another process"
        raise Busy(
            f"{holder} is at work on the run {run_id!r}",
            hint="wait for it to end, or stop it; the run can then be resumed",
        ) from None
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    except OSError as error:
        raise _failure(run_id, error) from error


def _failure(run_id: str, error: OSError) -> StoreError:
    return StoreError(
        f"the run {run_id!r} cannot be locked: {error}",
        hint="make sure that the archive's folder can be written to",
    )
