"""A sign of life: does a process work on the run now? A lock that ends with the process."""

import weakref
from contextlib import ExitStack, suppress
from pathlib import Path

from metamem.core.errors import Busy, StoreError
from metamem.store.runlock import lock_file

_NAME = "working"


def _locks(root: Path) -> Path:
    return root / ".alive"


class SignOfLife:
    """Given as long as this object lives. Whoever looks holds the lock for a moment, so giving it
    is tried again and again and never an error."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._held = ExitStack()
        self._given = False
        weakref.finalize(self, self._held.close)

    def give(self) -> None:
        if self._given and _locks(self._root).is_dir():
            return
        self._held.close()  # whoever removes the folder takes the sign away with it
        with suppress(StoreError):
            self._held.enter_context(lock_file(_locks(self._root), _NAME))
            self._given = True


def seen(root: Path) -> bool:
    """Whether some process gives its sign of life."""
    if not _locks(root).is_dir():
        return False
    try:
        with lock_file(_locks(root), _NAME):
            return False
    except Busy:
        return True
