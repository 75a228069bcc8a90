"""A schema comes in components, each a list of steps from one version to the next.

Steps are plain SQL that SQLite and PostgreSQL both take, but for a few words that each engine
fills in: `{bytes}`, `{sequence}` (a key that grows with every row) and `{clustered}` (rows that lie
in the order of their key). Where that is not enough, a statement is one text for each dialect. A
step that was released is never edited: a change is a new step at the end.

A component says of each of its tables whether rows stay for good, may be erased, or may be changed.
The engine guards the first two inside the database. The guards are taken off while steps run, since
a step may have to rewrite what is there, and are made what the component says whenever it is opened.
Components that this program does not know are left alone.

The table of versions belongs to no component, so that each can be alone in a database.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from metamem.core.errors import DataError, StoreError, UsageError
from metamem.store.engine import ACTIONS, FIRST, Engine, Execute, Guard

VERSION_TABLE = "component_versions"
OLD_VERSION_TABLE = "archive_schema"  # of archives with one component
_CLOSING = 4  # older programs, which ask the old table, do not know it and ask for an upgrade

Statement = str | Mapping[str, str]  # by dialect, where it must differ
Thing = tuple[str, str]  # kind and id
# Deletes the content of one thing, given its id, inside the transaction of the erasure. Returns what
# else lost its content with it, so that whoever asks for that can be told.
Eraser = Callable[[Execute, str], Iterable[Thing]]

_NAME = re.compile(r"[a-z][a-z_]*")


@dataclass(frozen=True, slots=True)
class Component:
    """Tables that belong together. `steps[n]` leads from version n to n + 1."""

    name: str
    steps: Sequence[Sequence[Statement]]
    append_only: tuple[str, ...] = ()
    erasable: tuple[str, ...] = ()
    changeable: tuple[str, ...] = ()
    erasers: Mapping[str, Eraser] = field(default_factory=dict)  # by kind of what holds data

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise UsageError(f"{self.name!r} cannot be the name of a component", hint="a-z and _")
        twice = {table for table in self.tables if self.tables.count(table) > 1}
        if twice:
            raise UsageError(f"{self.name} lists {min(twice)} twice", hint="each table once")

    @property
    def newest(self) -> int:
        return len(self.steps)

    @property
    def tables(self) -> tuple[str, ...]:
        return (*self.append_only, *self.erasable, *self.changeable)

    @property
    def guards(self) -> set[Guard]:
        kept = {Guard(self.name, table, action) for table in self.append_only for action in ACTIONS}
        return kept | {Guard(self.name, table, "UPDATE") for table in self.erasable}


def upgrade(engine: Engine, components: Sequence[Component]) -> None:
    """Bring an archive to the newest version of some components, all steps or none.

    What is brought forward is copied first, where the engine can; an empty archive, or a
    component that is new to it, starts at version 0.
    """
    with engine.reading() as execute:
        if not _behind(engine, versions(engine, execute), components):
            _check_tables(engine, execute, components)
            if not any(_off(engine, execute, components)):
                return
    with engine.writing() as execute:
        engine.alone(execute, "schema")
        # Asked again: another process may have upgraded while this one waited.
        found = versions(engine, execute)
        behind = _behind(engine, found, components)
        moved = [c.name for c in behind if c.name in found]
        if moved:
            engine.keep_copy("-".join(f"{name}-{found[name]}" for name in moved))
        _make_version_table(engine, execute)
        for component in behind:
            _bring_forward(engine, execute, component, found.get(component.name, 0))
        _check_tables(engine, execute, components)
        superfluous, missing = _off(engine, execute, components)
        for guard in superfluous:
            engine.take_off(execute, guard)
        for guard in missing:
            engine.put_on(execute, guard)


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
        found = {FIRST: version} if version is not None else {}
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


def _make_version_table(engine: Engine, execute: Execute) -> None:
    there = engine.tables(execute)
    if VERSION_TABLE in there:
        return
    execute(
        f"CREATE TABLE {VERSION_TABLE} (component TEXT NOT NULL, version BIGINT NOT NULL,"
        " PRIMARY KEY (component, version))"
    )
    if OLD_VERSION_TABLE in there:
        execute(
            f"INSERT INTO {VERSION_TABLE} (component, version)"
            f" SELECT ?, version FROM {OLD_VERSION_TABLE}",
            (FIRST,),
        )
        execute(f"INSERT INTO {OLD_VERSION_TABLE} (version) VALUES (?)", (_CLOSING,))


def _bring_forward(engine: Engine, execute: Execute, component: Component, version: int) -> None:
    for guard in engine.guards(execute):
        if guard.component == component.name:
            engine.take_off(execute, guard)
    for number, step in enumerate(component.steps[version:], start=version + 1):
        for statement in step:
            execute(_in_words_of(engine, statement, component))
        execute(
            f"INSERT INTO {VERSION_TABLE} (component, version) VALUES (?, ?)",
            (component.name, number),
        )


def _in_words_of(engine: Engine, statement: Statement, component: Component) -> str:
    if not isinstance(statement, str):
        if engine.dialect not in statement:
            raise StoreError(
                f"the component {component.name} cannot live in {engine.place}",
                hint=f"it has steps for {', '.join(sorted(statement))}, not {engine.dialect}",
            )
        statement = statement[engine.dialect]
    for word, meant in engine.types.items():  # these and no other braces: SQL may hold JSON
        statement = statement.replace(f"{{{word}}}", meant)
    return statement


def _check_tables(engine: Engine, execute: Execute, components: Sequence[Component]) -> None:
    """A name that is misspelt would leave its table without a guard."""
    there = engine.tables(execute)
    for component in components:
        for table in component.tables:
            if table not in there:
                raise UsageError(
                    f"the component {component.name} lists {table}, and no step of it makes that",
                    hint="list tables as the steps name them",
                )


def _off(
    engine: Engine, execute: Execute, components: Sequence[Component]
) -> tuple[set[Guard], set[Guard]]:
    """The guards that should not be on, and those that should and are not."""
    there = engine.guards(execute)
    ours = {component.name for component in components}
    due = {Guard(FIRST, VERSION_TABLE, action) for action in ACTIONS}
    due |= {guard for component in components for guard in component.guards}
    return {guard for guard in there - due if guard.component in ours}, due - there
