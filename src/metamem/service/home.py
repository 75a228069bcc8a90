"""Where the memories of this machine's user live."""

import os
from pathlib import Path


def memory_folder(given: str | Path | None = None) -> Path:
    """The folder that was given, or METAMEM_MEMORY, or the user's data folder: one for all projects,
    unlike the archive of experiments, which lies where one works."""
    named = str(given or os.environ.get("METAMEM_MEMORY", ""))
    if named:
        return Path(named).expanduser().absolute()
    data = os.environ.get("XDG_DATA_HOME", "")
    base = Path(data) if data and Path(data).is_absolute() else Path("~/.local/share").expanduser()
    return base / "metamem"
