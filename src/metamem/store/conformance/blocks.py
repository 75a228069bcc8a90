"""Blocks of an engine: moments that are read, writes that are whole, and what goes wrong in them."""

import os
import signal
from threading import Event, Thread

from metamem.core.errors import Conflict, Guarded, StoreError, UsageError
from metamem.store.conformance.engines import (
    NOTES,
    PATIENCE,
    EngineCheck,
    EngineOpener,
    aside,
    note,
    notes,
    opened,
)
from metamem.store.conformance.support import in_child, refused, same
from metamem.store.schema import upgrade
from metamem.store.sql.base import insert


def readers_do_not_wait_for_a_writer(open_engine: EngineOpener) -> None:
    with opened(open_engine, NOTES) as engine:
        note(engine, "a")
        with engine.writing() as execute:
            insert(execute, "notes", {"id": "b"})
            aside(lambda: same(notes(engine), ["a"], "what is seen of a write under way"))
        same(notes(engine), ["a", "b"], "what is seen after it")


def a_block_that_reads_is_one_moment(open_engine: EngineOpener) -> None:
    with opened(open_engine, NOTES) as engine:
        count = "SELECT COUNT(*) FROM notes"
        with engine.reading() as execute:
            same(execute(count), [(0,)])
            aside(lambda: note(engine, "a"))
            same(execute(count), [(0,)], "what is seen of a later write")
        same(notes(engine), ["a"])


def more_threads_read_than_there_are_connections(open_engine: EngineOpener) -> None:
    with opened(open_engine, NOTES) as engine:
        note(engine, "a")
        go, seen = Event(), []

        def read() -> None:
            with engine.reading() as execute:
                seen.append(execute("SELECT id FROM notes"))
                go.wait(PATIENCE)

        threads = [Thread(target=read, daemon=True) for _ in range(40)]
        for thread in threads:
            thread.start()
        go.set()
        for thread in threads:
            thread.join(PATIENCE)
        same(seen, [[("a",)]] * len(threads), "what each has read")


def a_block_that_reads_cannot_write(open_engine: EngineOpener) -> None:
    with opened(open_engine, NOTES) as engine:
        with refused(UsageError, "cannot write"), engine.reading() as execute:
            insert(execute, "notes", {"id": "a"})
        same(notes(engine), [])
        note(engine, "b")
        same(notes(engine), ["b"])


def a_thread_has_one_block_at_a_time(open_engine: EngineOpener) -> None:
    with opened(open_engine, NOTES) as engine:
        blocks = (engine.reading, engine.writing)
        for outer in blocks:
            for inner in blocks:
                with outer() as execute:
                    with refused(UsageError, "block"), inner():
                        pass
                    same(execute("SELECT COUNT(*) FROM notes"), [(0,)], "the block that was first")
            for other in (engine.scrub, engine.close):
                with outer(), refused(UsageError, "block"):
                    other()
        note(engine, "a")
        same(notes(engine), ["a"])


def nothing_is_run_after_its_block(open_engine: EngineOpener) -> None:
    with opened(open_engine, NOTES) as engine:
        for block in (engine.reading, engine.writing):
            with block() as execute:
                pass
            with refused(UsageError, "ended"):
                execute("SELECT 1")


def what_a_block_raises_goes_through_and_undoes_it(open_engine: EngineOpener) -> None:
    with opened(open_engine, NOTES) as engine:
        for block in (engine.reading, engine.writing):
            for raised in (
                UnicodeDecodeError("utf-8", b"\xff", 0, 1, "the caller's own"),
                OverflowError("the caller's own"),
                KeyboardInterrupt(),
            ):
                try:
                    with block() as execute:
                        if block == engine.writing:
                            insert(execute, "notes", {"id": "a"})
                        raise raised
                except BaseException as error:
                    same(error is raised, True, "getting the caller's own error")
        same(notes(engine), [])


def durable_writes_are_kept(open_engine: EngineOpener) -> None:
    def write_and_die() -> None:
        engine = open_engine("one")
        upgrade(engine, [NOTES])
        note(engine, "a")
        note(engine, "b", durable=True)
        note(engine, "c")
        os.kill(os.getpid(), signal.SIGKILL)

    same(in_child(write_and_die), signal.SIGKILL, "the child's status")
    with opened(open_engine, NOTES) as engine:
        same(notes(engine), ["a", "b", "c"])


def what_is_taken_and_what_is_guarded_are_told_apart(open_engine: EngineOpener) -> None:
    with opened(open_engine, NOTES) as engine:
        with engine.writing() as execute:
            insert(execute, "notes", {"id": "a"})
            insert(execute, "seen", {"seq": 1, "note": "a"})
        with refused(Conflict), engine.writing() as execute:
            insert(execute, "notes", {"id": "a"})
        with refused(Conflict), engine.writing() as execute:
            insert(execute, "seen", {"seq": 1, "note": "b"})
        for statement in (
            "UPDATE notes SET text = 'x'",
            "UPDATE seen SET note = 'x'",
            "DELETE FROM seen",
            "UPDATE component_versions SET version = 7",
            "DELETE FROM component_versions",
        ):
            with refused(Guarded), engine.writing() as execute:
                execute(statement)
        with refused(StoreError), engine.writing() as execute:
            execute("nonsense")
        with engine.writing() as execute:
            insert(execute, "marks", {"note": "a", "colour": "red"})
            execute("UPDATE marks SET colour = 'blue'")
            execute("DELETE FROM marks")
            execute("DELETE FROM notes")


CHECKS: tuple[EngineCheck, ...] = (
    readers_do_not_wait_for_a_writer,
    a_block_that_reads_is_one_moment,
    more_threads_read_than_there_are_connections,
    a_block_that_reads_cannot_write,
    a_thread_has_one_block_at_a_time,
    nothing_is_run_after_its_block,
    what_a_block_raises_goes_through_and_undoes_it,
    durable_writes_are_kept,
    what_is_taken_and_what_is_guarded_are_told_apart,
)
