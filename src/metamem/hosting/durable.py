"""Files that are there whole or not at all, whenever the machine stops."""

import os
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Put a file in the place of another. Whoever reads sees the one or the other."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.draft")  # always the same: a dead process leaves but one
    with draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Have the names in a folder outlive the machine's power."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
