"""What holds for every method: copies, sharing, locks, and what death does."""

import os
import signal
from collections.abc import Callable
from functools import partial
from tempfile import TemporaryFile
from threading import Thread

from metamem.core.errors import Busy, StoreError
from metamem.store.archive import Archive
from metamem.store.conformance.support import (
    ODD_TEXT,
    Check,
    Opener,
    design,
    in_child,
    in_children,
    refused,
    row,
    same,
    with_evaluation,
)
from metamem.store.experiments import EXPERIMENTS
from metamem.store.records import Place, PromotionRecord, Subject

WRITERS = 4
WRITES = 20
RACES = 10


def erasing_is_the_only_way_to_delete(open_archive: Opener) -> None:
    with open_archive() as archive:
        methods = {name for name in dir(archive) if not name.startswith("_")}
        known = {name for name in dir(Archive) if not name.startswith("_")}
        same(methods - known, set(), "what the archive can do beyond the contract")


def what_is_returned_belongs_to_the_caller(open_archive: Opener) -> None:
    with open_archive() as archive:
        archive.create_run("r", {"list": [1], "nested": {"a": 1}})
        config = archive.run("r").config
        config["list"].append(2)
        config["nested"].clear()
        same(archive.run("r").config, {"list": [1], "nested": {"a": 1}}, "the config")
        archive.designs().append(None)  # type: ignore[arg-type]
        same(archive.designs(), [])


def components_are_told_with_their_versions(open_archive: Opener) -> None:
    with open_archive() as archive:
        found = archive.components()
        same(found.get(EXPERIMENTS.name), EXPERIMENTS.newest, "the version of experiments")


def commits_are_seen_at_once(open_archive: Opener) -> None:
    with open_archive() as one, open_archive() as other:
        key = with_evaluation(one)
        for number in range(5):
            writer, reader = (one, other) if number % 2 else (other, one)
            writer.add_rows(key, [row(repeat=number)])
            found = reader.evaluation(key)
            same(len(found.rows) if found else 0, number + 1, "the number of rows seen")


def threads_and_writers_take_turns(open_archive: Opener) -> None:
    """Each of several archive objects is used by several threads at once."""
    with open_archive() as one, open_archive() as other:
        key = with_evaluation(one, planned=WRITERS * WRITES)
        failures: list[Exception] = []

        def write(archive: Archive, number: int) -> None:
            try:
                for repeat in range(WRITES):
                    archive.add_rows(key, [row(f"task {number}", repeat)])
                    archive.evaluation(key)
            except Exception as error:
                failures.append(error)

        threads = [
            Thread(target=write, args=((one, other)[number % 2], number))
            for number in range(WRITERS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        same(failures, [], "what failed")
        found = other.evaluation(key)
        same(found.complete if found else False, True, "having every row")


def of_many_who_are_first_one_is(open_archive: Opener) -> None:
    """Several processes add the same things, and different things under one name, at once."""
    with open_archive() as archive:
        archive.create_run("r", {})
        archive.add_design(design())
    with TemporaryFile() as told:

        def race(number: int) -> None:
            with open_archive() as archive:
                wins = [won for turn in range(RACES) for won in _race(archive, turn, number)]
            os.write(told.fileno(), bytes(wins))

        ended = in_children([partial(race, number) for number in range(WRITERS)])
        same(ended, [0] * WRITERS, "how they ended")
        told.seek(0)
        said = told.read()
    each = len(said) // WRITERS
    wins = [sum(said[thing::each]) for thing in range(each)]
    same(wins, [1] * (5 * RACES), "how many were first at each thing")


def _race(archive: Archive, turn: int, number: int) -> list[bool]:
    entry = PromotionRecord(
        subject=Subject("design", design().id),
        place=Place("domain", f"{turn}"),
        ordinal=0,
        decision="promoted",
        decided_by=f"process {number}",
        reason="",
        evidence={},
        at="now",
    )
    return [
        archive.add_design(design(turn + 1)),
        archive.create_run(f"{turn}", {}),
        archive.put_blob(f"{turn}", b"the same"),
        _first(lambda: archive.put_blob(f"own {turn}", b"%d" % number)),
        _first(lambda: archive.add_promotion(entry)),
    ]


def _first(add: Callable[[], bool]) -> bool:
    try:
        return add()
    except StoreError:
        return False


def forked_processes_open_their_own(open_archive: Opener) -> None:
    with open_archive() as archive:
        archive.add_design(design(1))

        def use_the_parents() -> None:
            with refused(StoreError, "open"):
                archive.designs()

        def open_own() -> None:
            with open_archive() as own:
                own.add_design(design(2))

        same(in_child(use_the_parents), 0, "the child's status")
        same(in_child(open_own), 0, "the child's status")
        same([record.id for record in archive.designs()], [design(1).id, design(2).id])


def what_was_written_outlives_the_process(open_archive: Opener) -> None:
    def write_and_die() -> None:
        archive = open_archive()
        key = with_evaluation(archive)
        archive.add_rows(key, [row(repeat=number) for number in range(50)])
        os.kill(os.getpid(), signal.SIGKILL)

    same(in_child(write_and_die), signal.SIGKILL, "the child's status")
    with open_archive() as archive:
        same(len(archive.evaluations()[0].rows), 50, "the number of rows")


def runs_are_locked_by_one_at_a_time(open_archive: Opener) -> None:
    mine = f"process {os.getpid()}"
    with open_archive() as one, open_archive() as other:
        same(one.run_is_held("r"), False, "a run that nobody holds being held")
        with one.lock_run("r"):
            same([one.run_is_held("r"), other.run_is_held("r")], [True] * 2, "a held run's state")
            with refused(Busy, mine, "'r'"), one.lock_run("r"):
                pass
            with refused(Busy, mine), other.lock_run("r"):
                pass
            with other.lock_run("another"), one.lock_run(ODD_TEXT):
                pass
            same(in_child(_expect_busy(open_archive, mine)), 0, "the child's status")
            other.create_run("r", {})  # the lock is for those who ask for it
        same(other.run_is_held("r"), False, "a run that was let go being held")
        with other.lock_run("r"):
            pass
        try:
            with one.lock_run("r"):
                raise KeyboardInterrupt
        except KeyboardInterrupt:
            pass
        with other.lock_run("r"):
            pass


def _expect_busy(open_archive: Opener, holder: str) -> Callable[[], None]:
    def expect_busy() -> None:
        with open_archive() as archive, refused(Busy, holder), archive.lock_run("r"):
            pass

    return expect_busy


def locks_end_with_their_process(open_archive: Opener) -> None:
    def lock_and_die() -> None:
        with open_archive().lock_run("r"):
            os.kill(os.getpid(), signal.SIGKILL)

    def release_too_early() -> None:
        """A child that leaves its parent's block must not let go of the parent's lock."""
        held.__exit__(None, None, None)

    same(in_child(lock_and_die), signal.SIGKILL, "the child's status")
    with open_archive() as archive:
        same(archive.run_is_held("r"), False, "a run whose process died being held")
    with open_archive() as archive:
        held = archive.lock_run("r")
        with held:
            same(in_child(_expect_busy(open_archive, f"process {os.getpid()}")), 0)
            same(in_child(release_too_early), 0)
            same(in_child(_expect_busy(open_archive, f"process {os.getpid()}")), 0)
        with archive.lock_run("r"):
            pass


def locks_are_not_handed_on_to_children(open_archive: Opener) -> None:
    """The lock's owner dies by kill -9 while a child that it forked lives on."""
    (begun, begin), (ended, end) = os.pipe(), os.pipe()

    def lock_fork_and_die() -> None:
        with open_archive().lock_run("r"):
            if os.fork() == 0:
                os.close(end)
                os.write(begin, b".")
                os.read(ended, 1)  # until the checking process closes its end
                os._exit(0)
            os.read(begun, 1)
            os.kill(os.getpid(), signal.SIGKILL)

    same(in_child(lock_fork_and_die), signal.SIGKILL, "the child's status")
    try:
        with open_archive() as archive, archive.lock_run("r"):
            pass
    finally:
        for descriptor in (begun, begin, ended, end):
            os.close(descriptor)


def a_closed_archive_says_so(open_archive: Opener) -> None:
    archive = open_archive()
    archive.close()
    archive.close()
    with refused(StoreError, "closed"):
        archive.designs()
    with refused(StoreError, "closed"):
        archive.add_design(design())
    with open_archive() as reopened:
        same(reopened.designs(), [])


CHECKS: tuple[Check, ...] = (
    erasing_is_the_only_way_to_delete,
    what_is_returned_belongs_to_the_caller,
    components_are_told_with_their_versions,
    commits_are_seen_at_once,
    threads_and_writers_take_turns,
    of_many_who_are_first_one_is,
    forked_processes_open_their_own,
    what_was_written_outlives_the_process,
    runs_are_locked_by_one_at_a_time,
    locks_end_with_their_process,
    locks_are_not_handed_on_to_children,
    a_closed_archive_says_so,
)
