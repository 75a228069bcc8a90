"""Where what belongs to this machine's user lives, whatever folder one works in."""

import os
from pathlib import Path


def data_folder(given: str | Path | None, variable: str, *inside: str) -> Path:
    """The folder that was given, or that the variable names, or one in the user's data folder."""
    named = str(given or os.environ.get(variable, ""))
    if named:
        return Path(named).expanduser().absolute()
    data = os.environ.get("XDG_DATA_HOME", "")
    base = Path(data) if data and Path(data).is_absolute() else Path("~/.local/share").expanduser()
    return base.joinpath("metamem", *inside)
