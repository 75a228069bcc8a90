"""What a process holds in memory follows what others do to the database."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from metamem.service import changing, facts, picture
from metamem.service.recall import narrowing, recaller, snapshots
from metamem.service.sight import sight
from metamem.service.words import Ask, Draft, Lifecycle
from tests.service.recall.engine import ADA, BOB, BOTH, HOME, SHOP, Memory, memory

ELSEWHERE = """
import sys
from pathlib import Path
from tests.service.recall.engine import memory
with memory(Path(sys.argv[1])) as there:
    for text in sys.argv[2:]:
        assert there.keep(text)[0].outcome == "stored"
"""


def move(there: Memory, fact: str, to: Lifecycle) -> None:
    with there.database.writing() as execute:
        view = sight(execute, ADA, "write")
        (scope,) = view.scopes
        _, found = facts.by_id(execute, view, fact)
        changing.moved(execute, scope, found, to, by="ada", reason="")


def edit(there: Memory, fact: str, text: str) -> None:
    with there.database.writing() as execute:
        view = sight(execute, ADA, "write")
        (scope,) = view.scopes
        _, found = facts.by_id(execute, view, fact)
        changing.changed(execute, scope, found, {"text": text}, None, by="ada", reason="")


def test_what_another_process_writes_is_in_the_next_recall(tmp_path: Path) -> None:
    with memory(tmp_path) as here:
        here.keep("The shop runs on PostgreSQL 16.")
        here.recaller.embed_waiting()
        assert here.texts("which postgresql") == ["The shop runs on PostgreSQL 16."]
        said = "Invoices are numbered by the postgresql sequence of the year."
        subprocess.run([sys.executable, "-c", ELSEWHERE, str(tmp_path), said], check=True)
        assert said in here.texts("which postgresql")
        found = here.recaller.recall(ADA, Ask("which postgresql"))
        assert found.waiting == 1
        here.recaller.embed_waiting()
        assert here.recaller.recall(ADA, Ask("which postgresql")).waiting == 0


@pytest.mark.parametrize("lifecycle", ["archived", "superseded", "merged"])
def test_what_is_not_active_is_not_recalled_from_a_warm_memory(
    tmp_path: Path, lifecycle: Lifecycle
) -> None:
    with memory(tmp_path) as here, memory(tmp_path) as other:
        texts = [f"Server {n} keeps the postgresql backups of week {n}." for n in range(30)]
        written = here.keep(*texts)
        here.recaller.embed_waiting()
        assert texts[7] in here.texts("postgresql backups of week 7")
        move(other, written[7].id, lifecycle)
        assert texts[7] not in here.texts("postgresql backups of week 7")
        assert texts[8] in here.texts("postgresql backups of week 8")
        move(other, written[7].id, "active")
        assert texts[7] in here.texts("postgresql backups of week 7")


@pytest.mark.parametrize("large", [6000, 20])
def test_what_is_gone_counts_for_nothing_in_the_scores_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: int
) -> None:
    monkeypatch.setattr(narrowing, "LARGE", large)
    ask = Ask("which database does the shop run on", floor=0.0)

    def scores(there: Memory) -> list[tuple[str, float, float]]:
        found = there.recaller.recall(ADA, ask)
        return [(item.fact.id, item.score, item.why["relevance"]) for item in found.items]

    with memory(tmp_path) as here:
        kept = here.keep(
            *(f"Host {n} serves the shop in hall {n}." for n in range(40)),
            "The shop runs on the database PostgreSQL 16.",
            *(
                f"Databases fill a long and winding list, of which this is part {n}."
                for n in range(3)
            ),
        )
        here.recaller.embed_waiting()
        before = scores(here)
        for one in kept[-3:]:
            move(here, one.id, "superseded")
        with memory(tmp_path) as anew:
            assert scores(here) == scores(anew) != before


def test_a_fact_that_was_archived_before_it_was_ever_seen_comes_back(tmp_path: Path) -> None:
    with memory(tmp_path) as here:
        written = here.keep(*(f"Room {n} has the key number {n}." for n in range(20)))
        move(here, written[3].id, "archived")
        assert "Room 3 has the key number 3." not in here.texts("key of room 3")
        move(here, written[3].id, "active")
        assert "Room 3 has the key number 3." in here.texts("key of room 3")


def test_an_edited_fact_is_found_by_its_new_words_alone(tmp_path: Path) -> None:
    with memory(tmp_path) as here, memory(tmp_path) as other:
        written = here.keep(*(f"Shelf {n} holds apples." for n in range(20)))
        here.recaller.embed_waiting()
        assert here.texts("shelf 4")
        edit(other, written[4].id, "Shelf 4 holds zucchini.")
        assert here.texts("where is the zucchini")[0] == "Shelf 4 holds zucchini."
        assert here.recaller.recall(ADA, Ask("zucchini")).waiting == 1
        assert here.recaller.embed_waiting().embedded == 1
        assert here.recaller.recall(ADA, Ask("zucchini")).waiting == 0
        assert "Shelf 4 holds apples." not in here.texts("shelf 4 apples")


def test_a_picture_made_anew_is_read_anew(tmp_path: Path) -> None:
    with memory(tmp_path) as here:
        here.keep("The shop runs on PostgreSQL 16.")
        assert here.texts("which postgresql")
        with here.database.writing() as execute:
            picture.redraw(execute)
        assert here.texts("which postgresql") == ["The shop runs on PostgreSQL 16."]


def test_facts_deleted_without_an_event_are_gone_from_a_warm_memory(tmp_path: Path) -> None:
    with memory(tmp_path) as here, memory(tmp_path) as other:
        here.keep("The shop runs on PostgreSQL 16.", "The till is from 1987.")
        here.recaller.embed_waiting()
        assert here.texts("which postgresql")
        with other.database.writing() as execute:
            numbers = [n for (n,) in execute("SELECT number FROM facts WHERE text LIKE '%Post%'")]
            picture.remove_facts(execute, numbers)
            execute("UPDATE scopes SET generation = generation + 1000000")
        assert "The shop runs on PostgreSQL 16." not in here.texts("which postgresql")
        assert here.texts("how old is the till") == ["The till is from 1987."]


def test_scopes_stay_apart_in_a_warm_memory(tmp_path: Path) -> None:
    with memory(tmp_path) as here:
        here.keep("The password hint of the shop is a fish.")
        here.keep("The password hint at home is a bird.", caller=BOB, scope=HOME)
        here.recaller.embed_waiting()
        assert len(here.texts("password hint", BOTH)) == 2
        for _ in range(2):
            assert here.texts("password hint", ADA) == ["The password hint of the shop is a fish."]
            assert here.texts("password hint", BOB) == ["The password hint at home is a bird."]


def test_memory_is_bounded_and_nothing_is_missed_by_that(tmp_path: Path) -> None:
    with memory(tmp_path, index_bytes=1) as here:
        here.keep("The shop runs on PostgreSQL 16.")
        here.keep("At home runs a postgresql, too.", caller=BOB, scope=HOME)
        for _ in range(3):
            assert len(here.texts("which postgresql", BOTH)) == 2
        assert here.recaller.metrics()["index_bytes"] < 5000


def test_a_snapshot_is_followed_by_whoever_begins_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "LARGE", 10)
    monkeypatch.setattr(recaller, "LARGE", 10)
    with memory(tmp_path) as here:
        written = here.keep(*(f"Drawer {n} holds the tool number {n}." for n in range(40)))
        here.recaller.embed_waiting()
        with here.database.reading() as execute:
            assert execute("SELECT facts FROM catalogs") == [(40,)]
        move(here, written[5].id, "archived")
        edit(here, written[6].id, "Drawer 6 holds a harmonica.")
        here.keep("Drawer 41 holds a trumpet.")
    with memory(tmp_path) as begun:
        assert "Drawer 5 holds the tool number 5." not in begun.texts("drawer 5 tool number 5")
        assert begun.texts("harmonica")[0] == "Drawer 6 holds a harmonica."
        assert begun.texts("trumpet")[0] == "Drawer 41 holds a trumpet."
        assert "Drawer 7 holds the tool number 7." in begun.texts("drawer 7 tool number 7")
        with begun.database.writing() as execute:
            picture.redraw(execute)
    with memory(tmp_path) as begun:  # a snapshot that cannot be followed is not used
        assert begun.texts("trumpet")[0] == "Drawer 41 holds a trumpet."


@pytest.mark.slow
def test_many_threads_recall_while_one_writes(tmp_path: Path) -> None:
    with memory(tmp_path, background=True) as here:
        ids = {
            w.id for w in here.keep(*(f"Crate {n} holds bolts of size {n}." for n in range(200)))
        }
        done = Event()

        def ask(thread: int) -> int:
            asked = 0
            while not done.is_set() or asked < 5:
                n = (thread * 31 + asked) % 200
                found = here.recaller.recall(ADA, Ask(f"bolts of size {n}", floor=0.0))
                assert all(item.fact.lifecycle == "active" for item in found.items)
                asked += 1
            return asked

        with ThreadPoolExecutor(8) as pool:
            asking = [pool.submit(ask, n) for n in range(8)]
            for n in range(60):
                (new,) = here.writer.remember(
                    ADA, str(SHOP), [Draft(f"Crate {1000 + n} holds nuts of width {n}.")]
                )
                ids.add(new.id)
                if n % 3 == 0:
                    gone = sorted(ids)[n]
                    ids.discard(gone)
                    move(here, gone, "archived")
            done.set()
            assert sum(each.result() for each in asking) >= 40
        for n in range(60):
            assert f"Crate {1000 + n} holds nuts of width {n}." in here.texts(
                f"crate {1000 + n} nuts of width {n}"
            )
