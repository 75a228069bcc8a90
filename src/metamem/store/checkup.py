"""Is a file an archive, of which version, and whole? Looking changes nothing."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from metamem.core.errors import DataError
from metamem.store.experiments import EXPERIMENTS
from metamem.store.schema import versions
from metamem.store.sqlite import SqliteEngine
from metamem.store.sqlite_errors import damaged


@dataclass(frozen=True, slots=True)
class Checkup:
    """What a file that is a whole archive says of itself."""

    path: Path
    versions: Mapping[str, int]  # of the schema, by component

    @property
    def is_older(self) -> bool:
        """Opening it would bring it forward."""
        return self.versions.get(EXPERIMENTS.name, 0) < EXPERIMENTS.newest

    @property
    def is_newer(self) -> bool:
        """It asks for a newer metamem."""
        return self.versions.get(EXPERIMENTS.name, 0) > EXPERIMENTS.newest

    def __str__(self) -> str:
        version = self.versions.get(EXPERIMENTS.name, 0)
        older = f", brought to {EXPERIMENTS.newest} when it is next opened" if self.is_older else ""
        size = self.path.stat().st_size / (1 << 20)
        return f"{self.path}, {size:.1f} MiB, schema version {version}{older}"


def check_file(path: str | os.PathLike[str]) -> Checkup:
    """Look at an archive without opening it for writing or bringing it forward.

    A `StoreError` where it cannot be read, a `DataError` where it is no archive or is damaged.
    """
    engine = SqliteEngine(Path(path).absolute(), create=False, read_only=True)
    try:
        with engine.reading() as execute:
            found = versions(engine, execute)
            ((said, *_), *_) = execute("PRAGMA integrity_check(1)")
    finally:
        engine.close()
    if not found:
        raise DataError(f"{engine.path} is empty: it holds no archive", hint="remove the file")
    if said != "ok":
        raise damaged(engine.path, said.replace("\n", " "))
    return Checkup(engine.path, found)
