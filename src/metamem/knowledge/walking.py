"""The files of a folder that are worth indexing, and why others are not.

Ignore files are obeyed as git does, and `.metamemignore` is one for what git keeps and search should
not. Links are not followed, so that none leads round in a circle or out of the folder.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from metamem.core.errors import UsageError
from metamem.knowledge import ignoring
from metamem.knowledge.ignoring import IgnoreFile, Rules

# Never worth it, whether or not somebody has told git.
_TOOLS = """.git .hg .svn .bzr __pycache__ node_modules .venv venv .tox .nox .mypy_cache .ruff_cache
    .pytest_cache .hypothesis .eggs .idea .gradle .terraform bower_components"""
LEFT_OUT = frozenset(_TOOLS.split())
LARGEST = 1_000_000  # bytes of a file; what people write is smaller
_ENDINGS = """.png .jpg .jpeg .gif .webp .ico .bmp .tiff .pdf .zip .gz .bz2 .xz .zst .7z .tar .whl .jar .class
    .so .o .a .dylib .dll .exe .pyc .pyd .npy .npz .pt .onnx .bin .dat .db .sqlite .safetensors .gguf
    .woff .woff2 .ttf .otf .eot .mp3 .mp4 .wav .ogg .avi .mov .parquet .pkl .h5 .wasm"""
_BINARY = frozenset(_ENDINGS.split())
_SECRETS = """.env .netrc .pgpass .npmrc .pypirc .htpasswd id_rsa id_dsa id_ecdsa id_ed25519
    credentials.json"""
_SECRET_NAMES = frozenset(_SECRETS.split())
_SECRET_ENDINGS = (".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk")


@dataclass(frozen=True, slots=True)
class Found:
    """A file to be indexed, by its path in the root, with slashes."""

    path: str
    size: int
    changed: int  # nanoseconds: when it was last written to


@dataclass(frozen=True, slots=True)
class Left:
    """What is not indexed, and why. Of what cannot be read just now, what is known of it stays."""

    path: str
    why: str
    unreadable: bool = False


def walk(root: Path) -> Iterator[Found | Left]:
    """Every file of a folder, each told once, in a fixed order. A root may be a single file: whoever
    names one means it, whatever ignore files say of it; what holds secrets is left out all the same."""
    if root.is_file():
        kind = root.stat()
        if why := _why_not(root.name, kind):
            yield Left(root.name, why)
        else:
            yield Found(root.name, kind.st_size, kind.st_mtime_ns)
        return
    try:
        rules = ignoring.above(root)
    except ignoring.Unread as error:
        yield Left("", f"{error}, and nobody knows what it hides", unreadable=True)
        return
    yield from _wrong(rules)
    yield from _folder(root, "", rules)


def _folder(root: Path, inside: str, rules: Rules) -> Iterator[Found | Left]:
    pending: list[tuple[str, Rules]] = [(inside, rules)]
    while pending:
        here, above = pending.pop()
        try:
            with os.scandir(root / here) as scanned:
                entries = sorted(scanned, key=lambda entry: entry.name)
        except OSError as error:
            if not here:
                raise UsageError(f"{root} cannot be read: {error.strerror}") from error
            yield Left(here, f"the folder cannot be read: {error.strerror}", unreadable=True)
            continue
        try:
            now = ignoring.entering(above, root, here, (entry.name for entry in entries))
        except ignoring.Unread as error:
            yield Left(here, f"{error}, and nobody knows what it hides", unreadable=True)
            continue
        yield from _wrong([file for file in now if file not in above])
        folders: list[tuple[str, Rules]] = []
        for entry in entries:
            path = f"{here}{entry.name}"
            try:
                kind = entry.stat(follow_symlinks=False)
            except OSError as error:
                yield Left(path, f"it cannot be read: {error.strerror}", unreadable=True)
                continue
            if stat.S_ISDIR(kind.st_mode):
                if entry.name in LEFT_OUT:
                    yield Left(path, "a folder of tools")
                elif ignoring.ignored(now, path, folder=True):
                    yield Left(path, "ignored")
                else:
                    folders.append((path + "/", now))
            elif ignoring.ignored(now, path) and stat.S_ISREG(kind.st_mode):
                yield Left(path, "ignored")
            elif why := _why_not(entry.name, kind):
                yield Left(path, why)
            else:
                yield Found(path, kind.st_size, kind.st_mtime_ns)
        pending += reversed(folders)


def _wrong(files: Iterable[IgnoreFile]) -> Iterator[Left]:
    for file in files:
        for line in file.patterns.wrong:
            yield Left(f"{file.path}:{line}", "a line that no path can match")


def _why_not(name: str, kind: os.stat_result) -> str:
    if stat.S_ISLNK(kind.st_mode):
        return "a link"
    if not stat.S_ISREG(kind.st_mode):
        return "no plain file"
    if name == ".git":  # of a work tree or a submodule
        return "a file of git"
    low = name.lower()
    if low in _SECRET_NAMES or low.startswith(".env.") or low.endswith(_SECRET_ENDINGS):
        return "made to hold secrets"
    if os.path.splitext(low)[1] in _BINARY:  # noqa: PTH122 (this is asked of every file)
        return "binary"
    if low.endswith(".lock"):
        return "made by a program that locks versions"
    if kind.st_size > LARGEST:
        return "larger than 1 MB"
    return "" if kind.st_size else "empty"
