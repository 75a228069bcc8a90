"""Is a file an archive, of which version, and whole? Looking changes nothing."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from metamem.core.errors import DataError
from metamem.store.experiments import EXPERIMENTS
from metamem.store.schema import Component, versions
from metamem.store.sqlite import SqliteEngine
from metamem.store.sqlite_errors import damaged


@dataclass(frozen=True, slots=True)
class Checkup:
    """What a file that is a whole archive says of itself."""

    path: Path
    versions: Mapping[str, int]  # of the schema, by component
    newest: Mapping[str, int]  # of the components that were asked about

    @property
    def is_older(self) -> bool:
        """Opening it would bring it forward."""
        return any(self.versions.get(name, 0) < newest for name, newest in self.newest.items())

    @property
    def is_newer(self) -> bool:
        """It asks for a newer metamem."""
        return any(self.versions.get(name, 0) > newest for name, newest in self.newest.items())

    @property
    def unjudged(self) -> tuple[str, ...]:
        """Components that it holds and that were not asked about."""
        return tuple(sorted(set(self.versions) - set(self.newest)))

    def __str__(self) -> str:
        size = self.path.stat().st_size / (1 << 20)
        told = [f"{self.path}, {size:.1f} MiB", *map(self._version, self.newest)]
        if self.unjudged:
            told.append(f"and what was not looked at: {', '.join(self.unjudged)}")
        return ", ".join(told)

    def _version(self, name: str) -> str:
        version, newest = self.versions.get(name, 0), self.newest[name]
        of = "" if len(self.newest) == 1 else f" of {name}"
        older = f", brought to {newest} when it is next opened" if version < newest else ""
        return f"schema version {version}{of}{older}"


def check_file(
    path: str | os.PathLike[str], components: Sequence[Component] = (EXPERIMENTS,)
) -> Checkup:
    """Look at an archive without opening it for writing or bringing it forward.

    A `StoreError` where it cannot be read, a `DataError` where it is no archive or is damaged.
    Whether it is older or newer is judged by the components given.
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
    return Checkup(engine.path, found, {c.name: c.newest for c in components})
