"""Pointers that hooks leave: which sessions have grown. They wait here until all is kept.

A pointer is claimed by another name before it is looked at, so that one that comes meanwhile is not
lost; after a crash the claimed ones are looked at again. Looking twice adds nothing.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from metamem.service.attach.hidden import Hidden, is_digest
from metamem.service.importing import claude, codex, opencode
from metamem.service.importing.sources import HOSTS, Source

DRAFT_SECONDS = 3600  # after which what a killed hook left is swept out
_FIELDS = 5
_BY_SESSION = (claude.HOST, codex.HOST)  # hosts whose files are named as their sessions are


@dataclass(frozen=True, slots=True)
class Pointer:
    """What a hook said of a session; what may be a secret in it as a digest."""

    host: str
    session: str
    transcript: str
    folder: str
    event: str

    @staticmethod
    def parse(data: bytes) -> "Pointer | None":
        parts = data.decode("utf-8", "surrogateescape").split("\0")
        if len(parts) != _FIELDS or parts[0] not in HOSTS:
            return None
        return Pointer(*parts)

    @property
    def hides(self) -> bool:
        """Whether something that says where it belongs is there as a digest alone."""
        return any(map(is_digest, (self.session, self.transcript, self.folder)))

    def sources(self, hidden: Hidden) -> list[Source]:
        """The transcript that it means, if it can be found, and those of its sub-agents."""
        found = self._source(hidden)
        if found is None or self.host != claude.HOST:
            return [] if found is None else [found]
        beside = claude.of_sub_agents(found.path)
        return [found, *(Source(self.host, path, folder=found.folder) for path in beside)]

    def _source(self, hidden: Hidden) -> Source | None:
        path = hidden.file(self.host, self.transcript) if self.transcript else None
        if self.host == opencode.HOST:
            path = path or opencode.home() / opencode.FILE
            session = hidden.session(path, self.session) if path.is_file() else ""
            return Source(self.host, path, session) if session else None
        if path is None and self.session and not self.transcript:
            path = hidden.named(self.host, self.session) if self.host in _BY_SESSION else None
        if path is None or not path.is_file():
            return None
        # A folder whose name is hidden is told by the transcript itself.
        return Source(self.host, path, folder="" if is_digest(self.folder) else self.folder)


@dataclass(frozen=True, slots=True)
class Claimed:
    pointer: Pointer | None
    file: Path

    def done(self) -> None:
        self.file.unlink(missing_ok=True)


class Spool:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def waiting(self) -> int:
        return sum(1 for _ in self._folder.glob("*.pointer")) + sum(
            1 for _ in self._folder.glob("*.claimed")
        )

    def claimed(self) -> Iterator[Claimed]:
        """Every pointer, each under a name of its own until it is done."""
        self._sweep()
        for file in sorted(self._folder.glob("*.pointer")):
            mine = file.with_name(f"{file.name[: -len('.pointer')]}.claimed")
            # One that is claimed already and this one mean the same session: one look serves both.
            try:
                file.replace(mine)
            except FileNotFoundError:
                continue
        for mine in sorted(self._folder.glob("*.claimed")):
            try:
                yield Claimed(Pointer.parse(mine.read_bytes()), mine)
            except OSError:
                continue

    def looked_at(self) -> Iterator[Claimed]:
        """Every pointer as it lies there, claimed or not."""
        for pattern in ("*.pointer", "*.claimed"):
            for file in sorted(self._folder.glob(pattern)):
                try:
                    yield Claimed(Pointer.parse(file.read_bytes()), file)
                except FileNotFoundError:
                    continue

    def _sweep(self) -> None:
        for draft in self._folder.glob("*.draft"):
            try:
                if time.time() - draft.stat().st_mtime > DRAFT_SECONDS:
                    draft.unlink()
            except FileNotFoundError:
                continue
