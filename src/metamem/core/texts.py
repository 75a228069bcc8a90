"""Files that a person named, read as text."""

from pathlib import Path

from metamem.core.errors import UsageError


def read_text(path: Path) -> str:
    """What a file says, or an error that tells which file it was and what is wrong with it."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        why = error.strerror or str(error)
        raise UsageError(f"{path} cannot be read: {why}") from error
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path} cannot be read: byte {error.start + 1} is no UTF-8", hint="give a text file"
        ) from error
