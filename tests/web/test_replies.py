"""Replies that are kept: once, for a day, to whoever asked, and nothing of what was erased."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from metamem.core.access import Caller
from metamem.core.errors import Busy, Conflict, Denied, UsageError
from metamem.service.database import Database, now_ms
from metamem.service.problems import problem
from metamem.service.tables import SERVICE
from metamem.store.schema import upgrade
from metamem.store.sql.base import insert
from metamem.store.sqlite import SqliteEngine
from metamem.web.replies import DAY_MS, Replies

LAST = ("DELETE FROM replies",)
ADA, BOB = Caller("acme", "ada"), Caller("acme", "bob")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = Database(tmp_path / "memory.db")
    yield made
    made.close()


class Work:
    def __init__(self) -> None:
        self.done = 0

    def __call__(self) -> tuple[int, str]:
        self.done += 1
        return 200, f'"{self.done}"'


def allowed() -> None:
    pass


def test_the_same_request_is_carried_out_once(database: Database) -> None:
    work = Work()
    assert Replies(database).once(ADA, "k", b"x", work, allowed) == ((200, '"1"'), False)
    # Another process, later.
    assert Replies(database).once(ADA, "k", b"x", work, allowed) == ((200, '"1"'), True)
    assert Replies(database).once(BOB, "k", b"x", work, allowed) == ((200, '"2"'), False)
    with pytest.raises(Conflict):
        Replies(database).once(ADA, "k", b"y", work, allowed)
    with pytest.raises(Conflict):  # a key with other rights of the same person
        Replies(database).once(Caller("acme", "ada", key="1"), "k", b"x", work, allowed)
    assert work.done == 2


def test_what_failed_is_tried_again(database: Database) -> None:
    replies, work = Replies(database), Work()

    def failing() -> tuple[int, str]:
        raise Denied("not yet")

    with pytest.raises(Denied):
        replies.once(ADA, "k", b"x", failing, allowed)
    assert replies.once(ADA, "k", b"x", work, allowed) == ((200, '"1"'), False)


def test_an_earlier_reply_is_shown_only_to_whoever_may_see_it(database: Database) -> None:
    replies, work = Replies(database), Work()
    replies.once(ADA, "k", b"x", work, allowed)

    def refuse() -> None:
        raise Denied("no more")

    with pytest.raises(Denied):
        replies.once(ADA, "k", b"x", work, refuse)


def test_two_at_once_are_not_both_carried_out(database: Database) -> None:
    replies, begun, end = Replies(database), threading.Event(), threading.Event()

    def slow() -> tuple[int, str]:
        begun.set()
        end.wait(10)
        return 200, '"slow"'

    thread = threading.Thread(target=replies.once, args=(ADA, "k", b"x", slow, allowed))
    thread.start()
    begun.wait(10)
    with pytest.raises(Busy) as told:
        replies.once(ADA, "k", b"x", Work(), allowed)
    assert problem(told.value).retry_after
    end.set()
    thread.join()
    assert replies.once(ADA, "k", b"x", Work(), allowed) == ((200, '"slow"'), True)


def test_replies_end_after_a_day(database: Database) -> None:
    replies, work = Replies(database), Work()
    replies.once(ADA, "k", b"x", work, allowed)
    with database.writing() as execute:
        execute("UPDATE replies SET at = ?", (now_ms() - DAY_MS - 1,))
    assert replies.once(ADA, "k", b"y", work, allowed) == ((200, '"2"'), False)


def test_nothing_that_was_erased_meanwhile_is_kept(database: Database) -> None:
    def during() -> tuple[int, str]:
        stone = {"tenant": "acme", "what": "a scope", "at": now_ms(), "decided_by": "ada"}
        with database.writing() as execute:
            insert(execute, "tombstones", {**stone, "reason": "asked", "counts": "{}"})
        return 200, '"the erased text"'

    Replies(database).once(ADA, "k", b"x", during, allowed)
    with database.reading() as execute:
        assert execute("SELECT COUNT(*) FROM replies") == [(0,)]


@pytest.mark.parametrize("key", ["", " ", "a b", "ä", "x" * 201, "a\n"])
def test_keys_have_a_form(database: Database, key: str) -> None:
    with pytest.raises(UsageError):
        Replies(database).once(ADA, key, b"x", Work(), allowed)


def test_a_key_is_in_no_file(database: Database, tmp_path: Path) -> None:
    key = "ghp_" + "A1b2C3d4E5f6G7h8I9j0" + "K1l2M3n4O5p6Q7r8"
    Replies(database).once(ADA, key, b"x", Work(), allowed)
    with database.reading() as execute:
        ((ada,),) = execute("SELECT key FROM replies")
    Replies(database).once(BOB, key, b"x", Work(), allowed)
    with database.reading() as execute:
        digests = {kept for (kept,) in execute("SELECT key FROM replies")}
    assert len(digests) == 2 and ada in digests  # what is one's own is no other's
    files = [file for file in tmp_path.iterdir() if file.is_file()]
    assert any(file.name.endswith("-wal") for file in files)
    assert not [file for file in files if key.encode() in file.read_bytes()]


def test_replies_under_keys_as_they_came_go_with_an_upgrade(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    older = SqliteEngine(path, create=True)
    upgrade(older, [replace(SERVICE, steps=SERVICE.steps[: SERVICE.steps.index(LAST)])])
    with older.writing() as execute:
        execute(f"INSERT INTO replies VALUES ('acme', 'ada', 'k', {now_ms()}, 'd', '[200, null]')")
    older.close()
    newer = Database(path)
    with newer.reading() as execute:
        assert execute("SELECT COUNT(*) FROM replies") == [(0,)]
    newer.close()
