"""A project's files as a mapping of path → text, and the same on disk."""

import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from metamem.core.errors import DataError
from metamem.core.ids import content_id

Files = Mapping[str, str]

MOST_BYTES = 64 << 20
_IGNORED = {".git", "__pycache__", ".pytest_cache", ".hg", ".tox", ".venv", "node_modules"}
_TEXT = {"encoding": "utf-8", "errors": "surrogateescape"}  # any bytes come back as they were


def clean_path(path: str) -> str:
    """A path relative to the tree in its one spelling; ValueError where it leads out of it."""
    parts: list[str] = []
    for part in PurePosixPath(path.removeprefix("/workspace/")).parts:
        if part == "..":
            if not parts:
                raise ValueError(f"{path!r} leads out of the project")
            parts.pop()
        elif part == "/":
            raise ValueError(f"{path!r} is not inside the project; use relative paths")
        else:
            parts.append(part)
    if "\0" in path or len(path) > 300:
        raise ValueError("not a path")
    return "/".join(parts)


def tree_id(files: Files) -> str:
    """The same for equal content, whatever the order."""
    return content_id({path: _digestible(files[path]) for path in files})


def _digestible(text: str) -> str:
    return text.encode(**_TEXT).decode("latin-1")


def write_tree(files: Files, folder: Path) -> None:
    made = {folder}
    for path, text in files.items():
        place = folder / path
        if place.parent not in made:
            place.parent.mkdir(parents=True, exist_ok=True)
            made.add(place.parent)
        place.write_bytes(text.encode(**_TEXT))


def read_tree(folder: Path) -> dict[str, str]:
    """Every regular file; links are not followed, and caches and histories are left out."""
    files: dict[str, str] = {}
    size = 0
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _IGNORED)
        for name in sorted(names):
            path = Path(place, name)
            if path.is_symlink() or not path.is_file() or not name.isprintable():
                continue
            size += path.stat().st_size
            if size > MOST_BYTES:
                raise DataError(f"{folder} holds more than {MOST_BYTES >> 20} MB of files")
            files[path.relative_to(folder).as_posix()] = path.read_bytes().decode(**_TEXT)
    return files
