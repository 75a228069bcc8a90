"""Data files out of installed packages: read where they lie, checked, no code of theirs imported."""

import importlib.util
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from metamem.core import extras
from metamem.core.errors import Broken, ModelUnavailable


def folder_of(package: str, command: str) -> Path:
    """Where a package lies; `command` is what installs it where it is not."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModelUnavailable(
            f"the package {package.replace('_', '-')} is not installed", hint=command
        )
    return Path(next(iter(spec.submodule_search_locations)))


@dataclass(frozen=True, slots=True)
class PackagedFile:
    """A file that decides results: only the content that metamem was tested with is accepted."""

    package: str
    path: str
    digest: str  # SHA-256 of that content
    requirement: str  # what pip has to install for it

    def read(self) -> bytes:
        """The content. Another one is `Broken`: nobody may quietly go on with something else."""
        path = folder_of(self.package, extras.pip(self.requirement)) / self.path
        try:
            content = path.read_bytes()
        except OSError as error:
            raise ModelUnavailable(
                f"{path} cannot be read: {error.strerror}",
                hint=extras.pip(self.requirement, again=True),
            ) from error
        if sha256(content).hexdigest() != self.digest:
            raise Broken(
                f"{path} is not the file that metamem was tested with",
                hint=f"install it anew: {extras.pip(self.requirement, again=True)}",
            )
        return content
