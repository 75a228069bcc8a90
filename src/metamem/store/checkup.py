"""Is a file an archive, of which version, and whole? Looking changes nothing."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from metamem.store.experiments import EXPERIMENTS
from metamem.store.schema import versions
from metamem.store.sqlite import SqliteEngine
from metamem.store.sqlite_errors import damaged


@dataclass(frozen=True, slots=True)
class Checkup:
    """What a file that is a whole archive says of itself."""

    versions: Mapping[str, int]  # of the schema, by component

    @property
    def is_older(self) -> bool:
        """Opening it would bring it forward."""
        return self.versions.get(EXPERIMENTS.name, 0) < EXPERIMENTS.newest

    @property
    def is_newer(self) -> bool:
        """It asks for a newer metamem."""
        return self.versions.get(EXPERIMENTS.name, 0) > EXPERIMENTS.newest


def check_file(path: str | os.PathLike[str]) -> Checkup:
    """Look at an archive without opening it for writing or bringing it forward.

    A `StoreError` where it cannot be read, a `DataError` where it is no archive or is damaged.
    """
    engine = SqliteEngine(Path(path).absolute(), create=False, read_only=True)
    try:
        with engine.reading() as execute:
            found = versions(engine, execute)
            ((said, *_), *_) = execute("PRAGMA quick_check")
    finally:
        engine.close()
    if said != "ok":
        raise damaged(engine.path, said)
    return Checkup(found)
