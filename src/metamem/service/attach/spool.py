"""Pointers that hooks leave: which sessions have grown. They wait here until all is kept.

A pointer is claimed by another name before it is looked at, so that one that comes meanwhile is not
lost; after a crash the claimed ones are looked at again. Looking twice adds nothing.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from metamem.service.importing import claude, codex, opencode
from metamem.service.importing.sources import HOSTS, Source

DRAFT_SECONDS = 3600  # after which what a killed hook left is swept out
_FIELDS = 5


@dataclass(frozen=True, slots=True)
class Pointer:
    """What a hook said of a session."""

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

    def sources(self) -> list[Source]:
        """The transcript that it means, if it can be found, and those of its sub-agents."""
        found = self._source()
        if found is None or self.host != claude.HOST:
            return [] if found is None else [found]
        beside = claude.of_sub_agents(found.path)
        return [found, *(Source(self.host, path, folder=self.folder) for path in beside)]

    def _source(self) -> Source | None:
        path = Path(self.transcript) if self.transcript else None
        if self.host == opencode.HOST:
            path = path or opencode.home() / opencode.FILE
            return Source(self.host, path, self.session) if path.is_file() else None
        if path is None and self.session:
            module = {codex.HOST: codex, claude.HOST: claude}.get(self.host)
            found = module.files() if module else ()
            path = next((p for p in found if self.session in p.name), None)
        if path is None or not path.is_file():
            return None
        return Source(self.host, path, folder=self.folder)


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
