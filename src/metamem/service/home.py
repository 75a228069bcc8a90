"""Where the memories of this machine's user live."""

from pathlib import Path

from metamem.core.homes import data_folder

MEMORY_VARIABLE = "METAMEM_MEMORY"


def memory_folder(given: str | Path | None = None) -> Path:
    """The folder that was given, or METAMEM_MEMORY, or the user's data folder: one for all projects,
    unlike the archive of experiments, which lies where one works."""
    return data_folder(given, MEMORY_VARIABLE)


def usual_folder() -> Path:
    """The one of a process whose environment names none."""
    return data_folder(None, "")
