"""Where things are kept that can be made again: never needed, only quicker."""

import os
from pathlib import Path

VARIABLE = "METAMEM_CACHE"


def cache_folder() -> Path:
    """$METAMEM_CACHE, else metamem's part of the user's cache."""
    if given := os.environ.get(VARIABLE):
        return Path(given).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "metamem"
