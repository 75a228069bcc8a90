"""A schema comes in components, each a list of steps from one version to the next.

Steps are plain SQL that SQLite and PostgreSQL both take, but for two types each engine fills in:
`{bytes}` and `{sequence}` (a key that grows with every row). A step that was released is never
edited: a change is a new step at the end.

A component says of each of its tables whether rows stay for good or may be erased; none may ever
be changed. The engine guards that inside the database. The guards are taken off while steps run,
since a step may have to rewrite what is there. Components that this program does not know are
left alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from metamem.core.errors import DataError, StoreError
from metamem.store.engine import Engine, Execute

VERSION_TABLE = "component_versions"
OLD_VERSION_TABLE = "archive_schema"  # of archives with one component


@dataclass(frozen=True, slots=True)
class Component:
    """Tables that belong together. `steps[n]` leads from version n to n + 1."""

    name: str
    steps: Sequence[Sequence[str]]
    append_only: tuple[str, ...] = ()
    erasable: tuple[str, ...] = ()

    @property
    def newest(self) -> int:
        return len(self.steps)

    @property
    def tables(self) -> tuple[str, ...]:
        return (*self.append_only, *self.erasable)


def upgrade(engine: Engine, components: Sequence[Component]) -> None:
    """Bring an archive to the newest version of some components, all steps or none.

    What is brought forward is copied first, where the engine can; an empty archive, or a
    component that is new to it, starts at version 0.
    """
    with engine.reading() as execute:
        if not _behind(engine, versions(engine, execute), components):
            return
    with engine.writing() as execute:
        engine.alone(execute, "schema")
        # Asked again: another process may have upgraded while this one waited.
        found = versions(engine, execute)
        behind = _behind(engine, found, components)
        moved = [c.name for c in behind if c.name in found]
        if moved:
            engine.keep_copy("-".join(f"{name}-{found[name]}" for name in moved))
        for component in behind:
            _bring_forward(engine, execute, component, found.get(component.name, 0))


def versions(engine: Engine, execute: Execute) -> Mapping[str, int]:
    """The version of every component that is there; nothing for an empty database."""
    tables = engine.tables(execute)
    if not tables:
        return {}
    if VERSION_TABLE in tables:
        found = dict(
            execute(f"SELECT component, MAX(version) FROM {VERSION_TABLE} GROUP BY component")
        )
    elif OLD_VERSION_TABLE in tables:
        ((version,),) = execute(f"SELECT MAX(version) FROM {OLD_VERSION_TABLE}")
        found = {"experiments": version} if version is not None else {}
    else:
        raise DataError(
            f"{engine.place} is a database of something else, not an archive",
            hint="name another file",
        )
    if not found:
        raise DataError(f"{engine.place} does not say its schema version", hint="restore a backup")
    return {str(name): int(version) for name, version in found.items()}


def _behind(
    engine: Engine, found: Mapping[str, int], components: Sequence[Component]
) -> list[Component]:
    """The components that have steps to take."""
    for component in components:
        version = found.get(component.name, 0)
        if version > component.newest:
            raise StoreError(
                f"{engine.place} has schema version {version} of {component.name}; this metamem"
                f" knows up to {component.newest}",
                hint="upgrade metamem to open it",
            )
    return [c for c in components if found.get(c.name, 0) < c.newest]


def _bring_forward(engine: Engine, execute: Execute, component: Component, version: int) -> None:
    for statement in engine.unguard(execute, component.tables):
        execute(statement)
    for number, step in enumerate(component.steps[version:], start=version + 1):
        for statement in step:
            execute(statement.format_map(engine.types))
        if VERSION_TABLE in engine.tables(execute):
            columns, values = "(component, version) VALUES (?, ?)", (component.name, number)
            execute(f"INSERT INTO {VERSION_TABLE} {columns}", values)
        else:
            execute(f"INSERT INTO {OLD_VERSION_TABLE} (version) VALUES (?)", (number,))
    there = engine.tables(execute)
    for statement in engine.guard(
        append_only=[table for table in component.append_only if table in there],
        erasable=[table for table in component.erasable if table in there],
    ):
        execute(statement)
