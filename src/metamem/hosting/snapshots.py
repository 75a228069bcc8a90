"""Snapshots of memories in a folder. They save time and nothing else: the log is the truth."""

import asyncio
import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from metamem.core.errors import StoreError
from metamem.core.ids import canonical_json, short
from metamem.core.protocols import ExperienceLog
from metamem.hosting.durable import sync_folder, write_whole

_FORMAT = 1
_FOLDER = "snapshots"
_WORDS = {
    "embedder": "another embedder",
    "toolbox": "another version of the toolbox",
    "format": "another version of metamem",
    "design": "another design",
    "seed": "another seed",
    "rollout": "another rollout",
    "model": "another model, or none",
}


@dataclass(frozen=True, slots=True)
class Identity:
    """All that a state depends on besides the log."""

    design: str
    seed: int
    embedder: str  # its fingerprint
    toolbox: str
    rollout: str  # frozen | streaming
    model: str = ""  # the fingerprint of the one that is asked; empty: none


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state after a number of experiences."""

    position: int  # in the log
    failed: int  # experiences before it that the design could not take in
    state: bytes  # only a jail may open this
    log_digest: str  # names what lies before the position
    skipped: tuple[int, ...] = ()  # positions of what the design died of


class Misfit(Exception):
    """A snapshot that is there and cannot be used. The message says why."""


class SnapshotFolder:
    """One snapshot for each design, seed and rollout: the newest."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / _FOLDER

    async def newest(self, wanted: Identity, log: ExperienceLog) -> Snapshot | None:
        """The snapshot that fits, or None where there is none; raises `Misfit`."""
        path = self._path(wanted)
        try:
            content = await asyncio.to_thread(path.read_bytes)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Misfit(f"it cannot be read: {error.strerror}") from error
        header, state = _parsed(content)
        for name, value in {"format": _FORMAT, **asdict(wanted)}.items():
            if header.get(name, "") != value:  # older ones name no model
                raise Misfit(f"it was made with {_WORDS[name]}")
        if header["sha256"] != hashlib.sha256(state).hexdigest():
            raise Misfit("it is damaged")
        position = header["position"]
        if position > await log.length() or await log.digest(position) != header["log"]:
            raise Misfit("the log was changed since")
        skipped = tuple(header.get("skipped", ()))
        return Snapshot(position, header["failed"], state, header["log"], skipped)

    async def keep(self, made: Identity, snapshot: Snapshot) -> None:
        """Put a snapshot in the place of the one before, durably. Raises OSError."""
        header = {
            "format": _FORMAT,
            **asdict(made),
            "position": snapshot.position,
            "failed": snapshot.failed,
            "skipped": list(snapshot.skipped),
            "log": snapshot.log_digest,
            "sha256": hashlib.sha256(snapshot.state).hexdigest(),
        }
        content = canonical_json(header).encode() + b"\n" + snapshot.state
        await asyncio.to_thread(write_whole, self._path(made), content)

    async def erase(self) -> None:
        """Delete every snapshot, because something that the log held must not be known any more.

        The memories of the log are closed before, without keeping one: `close(keep=False)`.
        """
        try:
            await asyncio.to_thread(self._erase)
        except OSError as error:
            raise StoreError(
                f"the snapshots in {self._folder} cannot be erased: {error.strerror}"
            ) from error

    def _erase(self) -> None:
        if self._folder.exists():
            for path in self._folder.iterdir():
                path.unlink()
            sync_folder(self._folder)

    def _path(self, identity: Identity) -> Path:
        name = f"{short(identity.design)}-{identity.seed}-{identity.rollout}.snapshot"
        return self._folder / name


def _parsed(content: bytes) -> tuple[dict[str, Any], bytes]:
    line, _, state = content.partition(b"\n")
    try:
        header = json.loads(line)
        if not isinstance(header, dict) or not isinstance(header["position"], int):
            raise ValueError
    except (ValueError, KeyError):
        raise Misfit("it is damaged") from None
    return header, state
