"""What SQLite's engine does beyond the contract of every engine."""

import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Event, Thread

import pytest

from metamem.core.errors import ScrubDue, StoreError, UsageError
from metamem.store.conformance.engines import NOTES, note, notes
from metamem.store.schema import Component, upgrade
from metamem.store.sqlite import READERS, SqliteEngine


@pytest.fixture
def engine(tmp_path: Path) -> SqliteEngine:
    made = SqliteEngine(tmp_path / "archive.db")
    upgrade(made, [NOTES])
    return made


def started(action: Callable[[], object]) -> Thread:
    thread = Thread(target=action, daemon=True)
    thread.start()
    return thread


def test_a_durable_block_syncs_its_commit_and_others_do_not(engine: SqliteEngine) -> None:
    level = "PRAGMA synchronous"
    with engine.writing(durable=True) as execute:
        assert execute(level) == [(2,)]  # FULL
    with engine.writing() as execute:
        assert execute(level) == [(1,)]  # NORMAL
    with pytest.raises(ZeroDivisionError), engine.writing(durable=True):
        raise ZeroDivisionError
    with engine.writing() as execute:
        assert execute(level) == [(1,)]
    engine.close()


def test_a_scrub_that_waits_lets_others_read(
    engine: SqliteEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("metamem.store.sqlite.SCRUB_SECONDS", 60.0)
    note(engine, "a")
    old = sqlite3.connect(engine.path, isolation_level=None)
    old.execute("BEGIN")
    old.execute("SELECT * FROM notes").fetchall()
    note(engine, "b")
    scrub = started(engine.scrub)
    for _ in range(20):
        assert notes(engine) == ["a", "b"]
    assert scrub.is_alive()
    old.close()
    scrub.join(30)
    assert not scrub.is_alive()
    assert engine.path.with_name("archive.db-wal").stat().st_size == 0
    engine.close()


def test_a_reader_of_this_process_is_told_of_like_any_other(
    engine: SqliteEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("metamem.store.sqlite.SCRUB_SECONDS", 0.05)
    reading, done = Event(), Event()

    def read() -> None:
        with engine.reading() as execute:
            execute("SELECT * FROM notes")
            reading.set()
            done.wait(30)

    note(engine, "a")
    reader = started(read)
    assert reading.wait(30)
    note(engine, "b")
    with pytest.raises(ScrubDue, match="still in the log"):
        engine.scrub()
    done.set()
    reader.join(30)
    engine.scrub()
    engine.close()


def test_closing_waits_for_those_who_read_and_then_says_so(engine: SqliteEngine) -> None:
    reading, done = Event(), Event()
    seen: list[object] = []

    def read() -> None:
        with engine.reading() as execute:
            reading.set()
            done.wait(30)
            seen.append(execute("SELECT COUNT(*) FROM notes"))

    reader = started(read)
    assert reading.wait(30)
    closing = started(engine.close)
    assert closing.is_alive()
    done.set()
    closing.join(30)
    reader.join(30)
    assert seen == [[(0,)]]
    engine.close()
    for block in (engine.reading, engine.writing):
        with pytest.raises(StoreError, match="closed"), block():
            pass


def test_those_who_wait_for_a_connection_are_told_that_it_was_closed(engine: SqliteEngine) -> None:
    held, done = [Event() for _ in range(READERS)], Event()
    told: list[str] = []

    def hold(begun: Event) -> None:
        with engine.reading():
            begun.set()
            done.wait(30)

    def wait() -> None:
        try:
            with engine.reading():
                pass
        except StoreError as error:
            told.append(error.message)

    holders = [started(partial(hold, begun)) for begun in held]
    assert all(begun.wait(30) for begun in held)
    waiter = started(wait)
    closing = started(engine.close)
    waiter.join(30)
    assert told == [f"{engine.path} is closed"]
    done.set()
    for thread in (*holders, closing):
        thread.join(30)
        assert not thread.is_alive()


def test_a_block_may_end_in_another_thread(engine: SqliteEngine) -> None:
    """As servers do that hand a request from thread to thread."""
    for block in (engine.reading, engine.writing):
        held = block()
        started(held.__enter__).join(30)
        held.__exit__(None, None, None)
    note(engine, "a")
    assert notes(engine) == ["a"]
    engine.close()


def test_an_engine_for_reading_alone_does_not_write(engine: SqliteEngine) -> None:
    note(engine, "a")
    engine.close()
    looking = SqliteEngine(engine.path, create=False, read_only=True)
    assert notes(looking) == ["a"]
    with pytest.raises(UsageError, match="reading alone"):
        note(looking, "b")
    looking.close()
    assert [file.name for file in engine.path.parent.iterdir()] == ["archive.db"]


@pytest.mark.parametrize("name", ["", "Notes", "my-notes", "notes2", "a b"])
def test_a_component_needs_a_plain_name(name: str) -> None:
    with pytest.raises(UsageError, match="component"):
        Component(name, ())


def test_a_table_is_listed_once() -> None:
    with pytest.raises(UsageError, match="twice"):
        Component("notes", (), append_only=("a",), changeable=("b", "a"))
