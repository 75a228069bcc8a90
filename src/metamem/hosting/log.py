"""The log of experiences in a folder: one file, one line each. The log is the truth."""

import asyncio
import fcntl
import hashlib
import json
import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from metamem.core.errors import DataError, StoreError, UsageError
from metamem.hosting.durable import sync_folder

LOG = "experiences.jsonl"


@dataclass(frozen=True, slots=True)
class _End:
    """The end of the last whole line."""

    size: int = 0  # bytes before it
    length: int = 0  # lines before it
    digest: str = hashlib.sha256().hexdigest()  # of all of them


class FileLog:
    """Appended and flushed to disk before it counts. A write that never finished is dropped."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOG
        self._writing = Lock()
        self._hash = hashlib.sha256()  # of every line
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._path.touch()
            sync_folder(folder)
            self._end = self._scan()
        except OSError as error:
            raise UsageError(
                f"the memory at {folder} cannot be opened: {error.strerror}"
            ) from error

    def _scan(self) -> _End:
        size = length = 0
        with self._path.open("r+b") as file:
            for line in file:
                if not line.endswith(b"\n"):  # its update never returned
                    file.truncate(size)
                    break
                size += len(line)
                length += 1
                self._hash.update(line)
        return _End(size, length, self._hash.hexdigest())

    async def length(self) -> int:
        return self._end.length

    async def append(self, line: str) -> int:
        return await asyncio.to_thread(self._append, line.encode() + b"\n")

    def _append(self, data: bytes) -> int:
        with self._writing, self._path.open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            end = self._end
            if os.fstat(file.fileno()).st_size != end.size:
                raise StoreError(
                    f"{self._path} was changed by somebody else while this memory was open",
                    hint="open the memory again; one process at a time may write to it",
                )
            try:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            except OSError as error:
                os.ftruncate(file.fileno(), end.size)  # half a line must not precede the next
                raise StoreError(f"{self._path} cannot be written: {error.strerror}") from error
            self._hash.update(data)
            self._end = _End(end.size + len(data), end.length + 1, self._hash.hexdigest())
            return end.length

    async def read(self, start: int = 0) -> AsyncIterator[tuple[int, str | None]]:
        for position, line in enumerate(self._lines()):
            if position < start:
                continue
            try:
                text = line.decode().removesuffix("\n")
                json.loads(text)
            except ValueError as error:
                raise DataError(f"{self._path}, line {position + 1} is damaged: {error}") from error
            yield position, text

    async def digest(self, position: int) -> str:
        end = self._end
        if position > end.length:
            raise UsageError(f"{self._path} has {end.length} lines, not {position}")
        if position == end.length:
            return end.digest
        before = hashlib.sha256()
        for number, line in enumerate(self._lines()):
            if number == position:
                break
            before.update(line)
        return before.hexdigest()

    def _lines(self) -> Iterator[bytes]:
        """As far as this log knows of them."""
        left = self._end.length
        with self._path.open("rb") as file:
            while left:
                yield file.readline()
                left -= 1
