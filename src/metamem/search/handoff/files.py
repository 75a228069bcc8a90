"""Reading and writing in folders where somebody else writes, too.

Nothing here follows a link in the last place of a path, waits for a pipe, or reads more than it
was told to; and nobody ever sees half of what is written here.
"""

import os
import secrets
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from metamem.core.errors import DataError, StoreError, UsageError

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def opened(folder: Path) -> Iterator[int]:
    """A descriptor of a real folder, so that what is done in it happens nowhere else."""
    try:
        descriptor = os.open(folder, _READ | os.O_DIRECTORY)
    except OSError as error:
        raise UsageError(f"{folder} is not a folder that is there: {error.strerror}") from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def read(folder: Path, name: str, limit: int) -> bytes | None:
    """What a plain file in a folder holds; None where it is missing. Anything else is refused.

    The name may lead into folders within; no link is followed on that way either.
    """
    *within, last = name.split("/")
    if {"", ".", ".."} & {*within, last}:
        raise DataError(f"{name!r} is no file of a folder")
    with ExitStack() as held:
        place = held.enter_context(opened(folder))
        for part in within:
            try:
                place = os.open(part, _READ | os.O_DIRECTORY, dir_fd=place)
            except FileNotFoundError:
                return None
            except (OSError, ValueError) as error:
                raise DataError(f"{folder / name} is not a plain file: {error}") from error
            held.callback(os.close, place)
        return _read(place, last, limit, folder / name)


def read_file(path: Path, limit: int) -> bytes:
    """What a plain file holds that somebody named by its path."""
    try:
        place = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    try:
        found = _read(place, path.name, limit, path)
    finally:
        os.close(place)
    if found is None:
        raise UsageError(f"there is no file {path}")
    return found


def _read(place: int, name: str, limit: int, shown: Path) -> bytes | None:
    try:
        descriptor = os.open(name, _READ, dir_fd=place)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise DataError(f"{shown} is not a plain file: {error}") from error
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise DataError(f"{shown} is not a plain file")
        if about.st_size > limit:
            raise DataError(f"{shown} is longer than {limit} bytes")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            content = file.read(limit + 1)  # it may have grown since
    finally:
        os.close(descriptor)
    if len(content) > limit:
        raise DataError(f"{shown} is longer than {limit} bytes")
    return content


def make_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """A folder with all its files at once, in place of whatever had its name."""
    new = folder.with_name(f".new-{folder.name}")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with opened(folder.parent) as place:
            _remove(place, new.name)
            new.mkdir()
            for name, content in files.items():
                (new / name).parent.mkdir(exist_ok=True)
                (new / name).write_bytes(content)
            _remove(place, folder.name)
            new.rename(folder)
    except OSError as error:
        raise StoreError(f"{folder} cannot be written: {error}") from error


def remove(folder: Path, name: str) -> None:
    """Away with a file, a link or a folder in a folder, if it is there."""
    with opened(folder) as place:
        try:
            _remove(place, name)
        except OSError as error:
            raise StoreError(f"{folder / name} cannot be removed: {error}") from error


def _remove(place: int, name: str) -> None:
    try:
        os.unlink(name, dir_fd=place)
    except FileNotFoundError:
        pass
    except (IsADirectoryError, PermissionError):  # which of the two depends on the system
        shutil.rmtree(name, dir_fd=place)


def add(folder: Path, name: str, content: bytes) -> bool:
    """Put a file into a folder, whole; False where there is something of that name already."""
    with opened(folder) as place, _written(place, content) as draft:
        try:
            os.link(draft, name, src_dir_fd=place, dst_dir_fd=place, follow_symlinks=False)
        except FileExistsError:
            return False
        except OSError as error:
            raise StoreError(f"{folder / name} cannot be written: {error}") from error
        os.fsync(place)
        return True


def put(folder: Path, name: str, content: bytes) -> None:
    """Put a file into a folder, whole, in place of whatever had its name."""
    with opened(folder) as place, _written(place, content) as draft:
        try:
            os.replace(draft, name, src_dir_fd=place, dst_dir_fd=place)
        except OSError as error:
            raise StoreError(f"{folder / name} cannot be written: {error}") from error


@contextmanager
def _written(place: int, content: bytes) -> Iterator[str]:
    """The name of a hidden file that holds the content, until the block ends."""
    name = f".draft-{secrets.token_hex(8)}"
    try:
        with os.fdopen(os.open(name, _WRITE, 0o644, dir_fd=place), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise StoreError(f"a file cannot be written: {error}") from error
    try:
        yield name
    finally:
        with suppress(OSError):  # it has its new name, or the folder is gone
            os.unlink(name, dir_fd=place)
