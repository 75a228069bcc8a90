"""What the checks of an engine are made of."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread

from metamem.store.conformance.support import same
from metamem.store.engine import Engine, Execute
from metamem.store.schema import Component, Thing, upgrade
from metamem.store.sql.base import insert

EngineOpener = Callable[[str], Engine]
EngineCheck = Callable[[EngineOpener], None]

PATIENCE = 30.0  # seconds, for what should take none


def _erase_note(execute: Execute, identifier: str) -> list[Thing]:
    execute("DELETE FROM notes WHERE id = ?", (identifier,))
    return [("margin", f"{identifier} in the margin")]


NOTES = Component(
    name="notes",
    steps=(
        (
            "CREATE TABLE notes (id TEXT NOT NULL PRIMARY KEY, text TEXT NOT NULL DEFAULT '{}')",
            "CREATE TABLE seen (seq {sequence}, note TEXT NOT NULL)",
            "CREATE TABLE marks (note TEXT NOT NULL PRIMARY KEY, colour TEXT NOT NULL)",
        ),
    ),
    append_only=("seen",),
    erasable=("notes",),
    changeable=("marks",),
    erasers={"note": _erase_note},
)


@contextmanager
def opened(open_engine: EngineOpener, *components: Component) -> Iterator[Engine]:
    engine = open_engine("one")
    try:
        upgrade(engine, components)
        yield engine
    finally:
        engine.close()


def notes(engine: Engine) -> list[str]:
    with engine.reading() as execute:
        return [found for (found,) in execute("SELECT id FROM notes ORDER BY id")]


def note(engine: Engine, name: str, *, durable: bool = False) -> None:
    with engine.writing(durable=durable) as execute:
        insert(execute, "notes", {"id": name})


def aside(action: Callable[[], None]) -> None:
    """Do something in another thread, and demand that it comes to an end."""
    failures: list[BaseException] = []

    def act() -> None:
        try:
            action()
        except BaseException as error:
            failures.append(error)

    thread = Thread(target=act, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    same(thread.is_alive(), False, "waiting for ever")
    for failure in failures:
        raise failure
