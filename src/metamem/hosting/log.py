"""The log of experiences in a folder: one file, one line each. The log is the truth."""

import asyncio
import fcntl
import hashlib
import json
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from metamem.core.errors import DataError, StoreError, UsageError
from metamem.hosting.durable import sync_folder

LOG = "experiences.jsonl"


class FileLog:
    """Appended and flushed to disk before it counts. A write that never finished is dropped."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOG
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._path.touch()
            sync_folder(folder)
            self._scan()
        except OSError as error:
            raise UsageError(
                f"the memory at {folder} cannot be opened: {error.strerror}"
            ) from error

    def _scan(self) -> None:
        """Find the end of the last whole line, and what names all of them."""
        self._size = self._length = 0
        self._digest = hashlib.sha256()
        with self._path.open("r+b") as file:
            for line in file:
                if not line.endswith(b"\n"):  # its update never returned
                    file.truncate(self._size)
                    break
                self._size += len(line)
                self._length += 1
                self._digest.update(line)

    async def length(self) -> int:
        return self._length

    async def append(self, line: str) -> int:
        return await asyncio.to_thread(self._append, line.encode() + b"\n")

    def _append(self, data: bytes) -> int:
        with self._path.open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if os.fstat(file.fileno()).st_size != self._size:
                raise StoreError(
                    f"{self._path} was changed by somebody else while this memory was open",
                    hint="open the memory again; one process at a time may write to it",
                )
            try:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            except OSError as error:
                os.ftruncate(file.fileno(), self._size)  # half a line must not precede the next
                raise StoreError(f"{self._path} cannot be written: {error.strerror}") from error
        self._size += len(data)
        self._digest.update(data)
        self._length += 1
        return self._length - 1

    async def read(self, start: int = 0) -> AsyncIterator[str]:
        for number, line in enumerate(self._lines(), 1):
            if number <= start:
                continue
            try:
                text = line.decode().removesuffix("\n")
                json.loads(text)
            except ValueError as error:
                raise DataError(f"{self._path}, line {number} is damaged: {error}") from error
            yield text

    async def digest(self, position: int) -> str:
        if position == self._length:
            return self._digest.hexdigest()
        before = hashlib.sha256()
        for number, line in enumerate(self._lines()):
            if number == position:
                break
            before.update(line)
        return before.hexdigest()

    def _lines(self) -> Iterator[bytes]:
        """As far as this log knows of them."""
        left = self._length
        with self._path.open("rb") as file:
            while left:
                yield file.readline()
                left -= 1
