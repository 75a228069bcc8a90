"""Private folders for things that must not stay: removed by their owner, or by the next one.

A process that is killed cannot tidy up. Its folder was locked as long as it lived; whoever makes
the next folder of the same kind removes those that are not locked any more.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


def _removed(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def private_folder(
    kind: str, parent: str | None = None, remove: Callable[[Path], None] = _removed
) -> Iterator[Path]:
    """A new folder, gone afterwards. `kind` is part of its name; `remove` takes it away."""
    place = Path(parent or tempfile.gettempdir())
    _sweep(place, f"metamem-{kind}-", remove)
    new = Path(tempfile.mkdtemp(prefix="metamem-new-", dir=place))  # new until it is locked
    lock = os.open(new, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    folder = new.rename(new.with_name(new.name.replace("-new-", f"-{kind}-", 1)))
    try:
        yield folder
    finally:
        remove(folder)
        os.close(lock)


def _sweep(place: Path, prefix: str, remove: Callable[[Path], None]) -> None:
    for folder in place.glob(f"{prefix}*"):
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue  # another user's, or gone already
        try:
            if os.fstat(lock).st_uid == os.geteuid():
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove(folder)
        except BlockingIOError:
            continue  # its owner lives
        finally:
            os.close(lock)
