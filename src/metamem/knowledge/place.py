"""Where indexes live: a folder each, for all projects of this machine's user."""

import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from metamem.core.errors import Busy, StoreError, UnknownName, UsageError
from metamem.core.homes import data_folder
from metamem.store.runlock import lock_file

FILE = "index.db"
_LOCKS = ".locks"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def store_folder(given: Path | None = None) -> Path:
    """The folder that was given, or METAMEM_KNOWLEDGE, or one in the user's data folder."""
    return data_folder(given, "METAMEM_KNOWLEDGE", "knowledge")


def names(store: Path) -> list[str]:
    """The indexes that are there."""
    try:
        return sorted(each.name for each in store.iterdir() if (each / FILE).is_file())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreError(f"{store} cannot be read: {error.strerror}") from error


def folder_of(store: Path, name: str) -> Path:
    """The folder of an index that is there."""
    checked(name)
    if not (store / name / FILE).is_file():
        known = ", ".join(names(store))
        raise UnknownName(
            f"there is no index called {name!r} in {store}",
            hint=f"known: {known}" if known else "metamem knowledge index PATH makes one",
        )
    return store / name


def checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot name an index", hint="use letters, digits, . _ and -, at most 64"
        )
    return name


def name_for(root: Path) -> str:
    """What an index of a folder is called, unless somebody says."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", root.name).strip("-._")[:64]
    return name or "root"


def forget(store: Path, name: str) -> None:
    """Remove an index. What it was made of stays as it is."""
    folder = folder_of(store, name)
    with writing(store, name):
        remove(folder)


def remove(folder: Path) -> None:
    """Remove the folder of an index, which nobody else may be changing."""
    try:
        (folder / FILE).unlink()  # first: from now on there is no such index
        shutil.rmtree(folder)
    except OSError as error:
        raise StoreError(f"{folder} cannot be removed: {error.strerror}") from error


@contextmanager
def writing(store: Path, name: str) -> Iterator[None]:
    """One process at a time changes an index; whoever comes second is told."""
    try:
        store.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise StoreError(f"{store} cannot be made: {error.strerror}") from error
    with ExitStack() as held:
        try:
            held.enter_context(lock_file(store / _LOCKS, name))
        except Busy:
            raise Busy(f"another process is changing the index {name}") from None
        yield
