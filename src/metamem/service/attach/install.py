"""Attaching and detaching: what would change is known before anything does, and it can be undone.

A receipt says what a file was and what we made of it. Detaching gives back the very bytes where the
file is still as we left it; where somebody changed it since, our entries alone are taken out.
"""

import difflib
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metamem.core.errors import DataError, StoreError
from metamem.service.attach.hosts import Attachment
from metamem.service.attach.places import Meeting
from metamem.service.attach.settings import Part


@dataclass(frozen=True, slots=True)
class Edit:
    """One file as it is and as it would be; None for no file."""

    path: Path
    before: bytes | None
    after: bytes | None
    receipt: dict[str, Any] | None = None  # what detaching has to know

    @property
    def changes(self) -> bool:
        return self.before != self.after

    def diff(self) -> str:
        """As people read changes."""
        old, new = (_lines(each) for each in (self.before, self.after))
        names = (str(self.path) if self.before is not None else "/dev/null",
                 str(self.path) if self.after is not None else "/dev/null")  # fmt: skip
        return "\n".join(difflib.unified_diff(old, new, *names, lineterm=""))


class Installer:
    def __init__(self, meeting: Meeting) -> None:
        self._meeting = meeting

    def attaching(self, attachment: Attachment) -> list[Edit]:
        """What attaching would change. All files are read first: one that cannot be, stops all."""
        return [self._attaching(part) for part in attachment.parts]

    def detaching(self, attachment: Attachment) -> list[Edit]:
        """What detaching would change."""
        return [self._detaching(part) for part in attachment.parts]

    def apply(self, edits: Sequence[Edit]) -> list[Path]:
        """Change all files or none; the paths of copies of what they were."""
        for edit in edits:
            if _bytes(edit.path) != edit.before:
                raise StoreError(f"{edit.path} was changed meanwhile", hint="try again")
        copies = [self._copy(edit) for edit in edits if edit.before is not None and edit.changes]
        done: list[Edit] = []
        try:
            for edit in edits:
                if edit.receipt is not None:  # before the file: a crash in between does no harm
                    _write(self._receipt(edit.path), json.dumps(edit.receipt).encode())
                if edit.changes:
                    _write(edit.path, edit.after)
                    done.append(edit)
        except StoreError as error:
            for edit in reversed(done):
                _write(edit.path, edit.before)
            raise StoreError(
                error.message, hint="nothing was changed; let it be written, and try again"
            ) from None
        for edit in edits:
            if edit.receipt is None:
                self._receipt(edit.path).unlink(missing_ok=True)
                self._drop_copies(edit)
        return [copy for copy in copies if copy.exists()]

    def _attaching(self, part: Part) -> Edit:
        now = _bytes(part.path)
        receipt = self._read_receipt(part.path)
        if receipt is not None and _digest(now) == receipt["written"]:
            original = _unpacked(receipt["original"])
        else:
            original = now
            if now is not None:
                kept = part.detached(_text(part.path, now), None)
                original = None if kept is None else kept.encode("utf-8")
        text = None if original is None else _text(part.path, original)
        made = part.attached(text)
        if made is None:
            return Edit(part.path, now, None)
        after = made.encode("utf-8")
        about = {
            "path": str(part.path),
            "original": None if original is None else original.decode("utf-8"),
            "written": _digest(after),
            "made": part.made(text),
        }
        return Edit(part.path, now, after, about)

    def _detaching(self, part: Part) -> Edit:
        now, receipt = _bytes(part.path), self._read_receipt(part.path)
        if now is None:
            return Edit(part.path, None, None)
        if receipt is not None and _digest(now) == receipt["written"]:
            return Edit(part.path, now, _unpacked(receipt["original"]))
        made = None if receipt is None else receipt["made"]
        kept = part.detached(_text(part.path, now), made)
        return Edit(part.path, now, None if kept is None else kept.encode("utf-8"))

    def _receipt(self, path: Path) -> Path:
        return self._meeting.receipts / f"{_name(path)}.json"

    def _read_receipt(self, path: Path) -> dict[str, Any] | None:
        try:
            read = json.loads(self._receipt(path).read_bytes())
            return read if {"original", "written", "made"} <= read.keys() else None
        except (OSError, ValueError, AttributeError):
            return None  # then our entries are known by their commands alone

    def _drop_copies(self, edit: Edit) -> None:
        """A host's settings may hold its keys: no copy stays where the file has its very bytes again."""
        copies = list((self._meeting.folder / "backups").glob(f"*.{_name(edit.path)}.*"))
        if any(copy.read_bytes() == edit.after for copy in copies):
            for copy in copies:
                copy.unlink()

    def _copy(self, edit: Edit) -> Path:
        assert edit.before is not None
        folder = self._meeting.folder / "backups"
        for number in _numbers():
            copy = folder / f"{edit.path.name}.{_name(edit.path)}.{number}"
            if not copy.exists():
                _write(copy, edit.before)
                return copy
            if copy.read_bytes() == edit.before:
                return copy
        raise AssertionError


def _numbers() -> Iterator[int]:
    number = 1
    while True:
        yield number
        number += 1


def _bytes(path: Path) -> bytes | None:
    try:
        if path.exists() and not path.is_file():  # a pipe would have us wait for who writes to it
            raise DataError(f"{path} is no file", hint="nothing was changed")
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DataError(
            f"{path} cannot be read: {error.strerror}", hint="nothing was changed"
        ) from None


def _text(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise DataError(f"{path} is not UTF-8", hint="nothing was changed") from None


def _unpacked(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8")


def _digest(data: bytes | None) -> str:
    return "" if data is None else hashlib.blake2b(data, digest_size=16).hexdigest()


def _name(path: Path) -> str:
    return hashlib.blake2b(str(path).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()


def _lines(data: bytes | None) -> list[str]:
    return [] if data is None else data.decode("utf-8", "replace").splitlines()


def _write(path: Path, data: bytes | None) -> None:
    """All of the file, or as it was before; with the rights that it had. None takes it away."""
    target = path.resolve()  # a link to a file elsewhere stays a link
    try:
        if data is None:
            target.unlink(missing_ok=True)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
        file, draft = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(file, "wb") as opened:
                opened.write(data)
                opened.flush()
                os.fsync(opened.fileno())
            Path(draft).chmod(mode)
            Path(draft).replace(target)
        except BaseException:
            with suppress(OSError):
                Path(draft).unlink()
            raise
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}") from None
