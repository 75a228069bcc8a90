"""JSON lines that another program keeps adding to. Each look reads only what is new.

A line is read once it is whole. A file that was replaced or cut short is begun anew; lines that are damaged or
too long are counted and left out.
"""

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

from metamem.core import extras
from metamem.core.documents import read_json
from metamem.core.errors import DataError, NotInstalled
from metamem.service.importing.transcript import Record

HEAD = 256  # bytes by which a file is known again
LONGEST = 32_000_000  # bytes of a line; more is damage
CHUNK = 1 << 20
UNPACKED = 500_000_000  # bytes of a compressed file
PACKED = ".zst"


@dataclass(frozen=True, slots=True)
class Place:
    """Where reading stopped, and in which file."""

    offset: int = 0
    head: str = ""  # digest of the first bytes, as many as there were
    head_bytes: int = 0

    def to_json(self) -> dict[str, Any]:
        return {"offset": self.offset, "head": self.head, "head_bytes": self.head_bytes}

    @staticmethod
    def from_json(given: dict[str, Any]) -> "Place":
        return Place(int(given["offset"]), str(given["head"]), int(given["head_bytes"]))


@dataclass(slots=True)
class Tail:
    """What is new in a file. Iterate over `records` first; then the rest is known."""

    path: Path
    place: Place  # where the next look begins
    restarted: bool  # the file is another one than it was
    damaged: int = 0
    _unfinished: bool = False  # take the last line though no line break ends it

    def records(self) -> Iterator[Record]:
        with _opened(self.path) as file:
            file.seek(self.place.offset)
            rest, offset = b"", self.place.offset
            left_out = 0  # bytes of a line that is too long, of which nothing is kept
            while chunk := file.read(CHUNK):
                *whole, rest = (rest + chunk).split(b"\n")
                for line in whole:
                    offset += left_out + len(line) + 1
                    if left_out:
                        self.damaged, left_out = self.damaged + 1, 0
                    else:
                        yield from self._record(line)
                if left_out or len(rest) > LONGEST:
                    left_out, rest = left_out + len(rest), b""
            if self._unfinished and left_out:
                offset += left_out
                self.damaged += 1
            elif self._unfinished and rest:
                offset += len(rest)
                yield from self._record(rest)
            self.place = _placed(file, offset)

    def _record(self, line: bytes) -> Iterator[Record]:
        if not line.strip():
            return
        try:
            read = read_json(line)
        except ValueError:
            self.damaged += 1
            return
        if isinstance(read, dict):
            yield read
        else:
            self.damaged += 1


def tail(path: Path, place: Place | None) -> Tail:
    """What a file has more than at the last look; all of it where it is another file."""
    begin = place or Place()
    packed = path.name.endswith(PACKED)  # is never added to
    with _opened(path) as file:
        same = not begin.offset or (
            _digest(file, begin.head_bytes) == begin.head
            and (packed or os.fstat(file.fileno()).st_size >= begin.offset)
        )
    return Tail(path, begin if same else Place(), not same, _unfinished=packed)


def whole(path: Path) -> Tail:
    """All of a file that nobody adds to, its last line, too."""
    return Tail(path, Place(), restarted=False, _unfinished=True)


def last(path: Path, size: int) -> Place:
    """The place of the first line that begins in the last so many bytes of a file."""
    with _opened(path) as file:
        begin = os.fstat(file.fileno()).st_size - size
        if begin <= 0:
            return Place()
        file.seek(begin - 1)
        file.readline(LONGEST)
        return _placed(file, file.tell())


def _placed(file: IO[bytes], offset: int) -> Place:
    size = min(HEAD, offset)
    return Place(offset, _digest(file, size), size)


def _digest(file: IO[bytes], size: int) -> str:
    file.seek(0)
    return blake2b(file.read(size), digest_size=16).hexdigest()


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    if path.exists() and not path.is_file():  # whoever opens a pipe waits for its writer
        raise DataError(f"{path} cannot be read: it is no plain file")
    try:
        with _unpacked(path) if path.name.endswith(PACKED) else path.open("rb") as file:
            yield file
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None


def _unpacked(path: Path) -> IO[bytes]:
    """A compressed file, unpacked in memory: nothing of it may reach the disk unredacted."""
    try:
        import zstandard
    except ImportError:
        raise NotInstalled(
            f"{path.name} is compressed, and zstandard is not installed",
            hint=extras.pip("zstandard>=0.22"),
        ) from None
    with path.open("rb") as packed:
        try:
            read = zstandard.ZstdDecompressor().stream_reader(packed).read(UNPACKED + 1)
        except zstandard.ZstdError as error:
            raise DataError(f"{path} cannot be unpacked: {error}") from None
    if len(read) > UNPACKED:
        raise DataError(f"{path} has more than {UNPACKED} bytes when it is unpacked")
    return io.BytesIO(read)
