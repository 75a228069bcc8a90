"""What lies in a tree after somebody untrusted worked in it: nothing is left out or followed."""

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from metamem.core.errors import DataError

MOST_BYTES = 64 << 20
MOST_ENTRIES = 100_000
MOST_DEPTH = 100  # folders within folders; each takes a descriptor while it is looked at
LEAST_COUNTED = 1024  # bytes that the emptiest entry takes of a limit: names take room, too
_CHUNK = 1 << 20

Kind = Literal["file", "folder", "link", "other"]  # other: a pipe, a socket, a device
_KINDS: dict[int, Kind] = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing in a tree. Equal entries cannot be told apart by what is in them or who may use it."""

    kind: Kind
    mode: int  # permissions, with the set-user and sticky bits
    sha256: str = ""  # of a file's content, or of where a link points to


@dataclass(frozen=True, slots=True)
class _Found:
    path: str
    name: str
    folder: int  # a descriptor
    status: os.stat_result


def manifest(
    folder: Path, *, most_bytes: int = MOST_BYTES, most_entries: int = MOST_ENTRIES
) -> dict[str, Entry]:
    """Everything in a folder by its path, the folder itself (`.`) included.

    Nothing is ignored, neither caches nor histories nor empty folders, and no link is followed. So
    two trees with equal manifests are equal, but for times, owners and extended attributes.
    """
    entries: dict[str, Entry] = {}
    left = most_bytes
    try:
        for found in _walk(folder):
            if len(entries) == most_entries:
                raise DataError(f"{folder} holds more than {most_entries} files and folders")
            kind: Kind = _KINDS.get(stat.S_IFMT(found.status.st_mode), "other")
            content = ""
            if kind == "link":
                target = os.readlink(os.fsencode(found.name), dir_fd=found.folder)
                content = hashlib.sha256(target).hexdigest()
            elif kind == "file":
                size, content = _digest(found, left)
                left -= size
                if left < 0:
                    raise DataError(f"{folder} holds more than {most_bytes >> 20} MB of files")
            entries[found.path] = Entry(kind, stat.S_IMODE(found.status.st_mode), content)
    except OSError as error:
        raise DataError(f"{folder} cannot be read: {error}") from error
    return entries


def is_over(folder: Path, most_bytes: int) -> bool:
    """Whether a tree takes more room than that on the disk. It may be in use meanwhile.

    What cannot be read is not counted; what is nested too deep to be looked at counts as too much.
    """
    try:
        return room(folder, most_bytes) > most_bytes
    except DataError:
        return True
    except OSError:
        return False


def room(folder: Path, most_bytes: int | None = None) -> int:
    """How much room a tree takes on the disk; counted no further than just past the most, if any."""
    taken = 0
    for found in _walk(folder, lenient=True):
        taken += max(found.status.st_blocks * 512, LEAST_COUNTED)
        if most_bytes is not None and taken > most_bytes:
            break
    return taken


def _walk(top: Path, lenient: bool = False) -> Iterator[_Found]:
    """By descriptors and not by paths, which may be too long or lead elsewhere by now."""
    folders = [_Folder(os.fspath(top), None, "")]
    try:
        yield _Found(".", ".", folders[0].descriptor, os.fstat(folders[0].descriptor))
        while folders:
            folder = folders[-1]
            name = next(folder.names, None)
            if name is None:
                folders.pop().close()
                continue
            path = folder.prefix + name
            try:
                status = os.stat(name, dir_fd=folder.descriptor, follow_symlinks=False)
                yield _Found(path, name, folder.descriptor, status)
                if stat.S_ISDIR(status.st_mode):
                    if len(folders) > MOST_DEPTH:
                        raise DataError(f"{top} holds folders more than {MOST_DEPTH} deep")
                    folders.append(_Folder(name, folder.descriptor, f"{path}/"))
            except OSError:
                if not lenient:
                    raise
    finally:
        for folder in folders:
            folder.close()


class _Folder:
    """An open folder, and the names in it that are still to be looked at."""

    def __init__(self, name: str, within: int | None, prefix: str) -> None:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
        self.descriptor = os.open(name, flags, dir_fd=within)
        self.prefix = prefix
        try:
            self.names = iter(sorted(os.listdir(self.descriptor)))  # noqa: PTH208 (no path)
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        os.close(self.descriptor)


def _digest(found: _Found, most: int) -> tuple[int, str]:
    """Reads little more than it may, however long the file turns out to be."""
    descriptor = os.open(
        found.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=found.folder
    )
    digest, size = hashlib.sha256(), 0
    with os.fdopen(descriptor, "rb") as file:
        while size <= most and (chunk := file.read(_CHUNK)):
            digest.update(chunk)
            size += len(chunk)
    return size, digest.hexdigest()
