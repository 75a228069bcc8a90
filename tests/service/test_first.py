"""A fact is written, recalled, forgotten and restored; others do not see it."""

import time
from pathlib import Path

import pytest

from metamem.core.access import Caller, Scope
from metamem.core.errors import Denied, UnknownName
from metamem.service import picture
from metamem.service.service import MemoryService
from metamem.service.words import Ask, Change, Draft, Listing, Session, Turn

SHOP = Scope("acme", "project", "webshop")
ADA = Caller("acme", "ada", reads=frozenset({SHOP}), writes=frozenset({SHOP}))
BOB = Caller("acme", "bob")


@pytest.fixture
def service(tmp_path: Path) -> MemoryService:
    made = MemoryService(tmp_path)
    made.make_scope(SHOP)
    return made


def test_a_fact_comes_back_until_it_is_forgotten(service: MemoryService) -> None:
    (written,) = service.remember(ADA, str(SHOP), [Draft("The shop runs on PostgreSQL 16.")])
    assert [i.fact.id for i in service.recall(ADA, Ask("which postgresql")).items] == [written.id]
    assert service.forget(ADA, written.id).lifecycle == "archived"
    assert not service.recall(ADA, Ask("which postgresql")).items
    service.restore(ADA, written.id)
    assert service.recall(ADA, Ask("which postgresql")).items
    assert [v.lifecycle for v in service.history(ADA, written.id)] == [
        "active",
        "archived",
        "active",
    ]


def test_whoever_has_no_right_learns_nothing(service: MemoryService) -> None:
    (written,) = service.remember(ADA, str(SHOP), [Draft("The shop runs on PostgreSQL 16.")])
    assert not service.recall(BOB, Ask("which postgresql")).items
    with pytest.raises(Denied):
        service.recall(BOB, Ask("which postgresql", scopes=(str(SHOP),)))
    with pytest.raises(UnknownName):
        service.get(BOB, written.id)
    assert not service.browse(BOB, Listing()).facts


def test_the_picture_can_be_made_anew_from_the_log(service: MemoryService) -> None:
    first, second = service.remember(ADA, str(SHOP), [Draft("One."), Draft("Two.")])
    service.remember(ADA, str(SHOP), [Draft("Three.", supersedes=first.id)])
    service.forget(ADA, second.id)
    every = Listing(lifecycle=())
    before = service.browse(ADA, every)
    with service.database.writing() as execute:
        assert picture.redraw(execute) == 5
    assert service.browse(ADA, every) == before


def test_vectors_follow_every_write_though_nobody_asks(service: MemoryService) -> None:
    def all_made() -> None:
        until = time.monotonic() + 60
        while service.counts(ADA)["waiting"]["vectors"]:
            assert time.monotonic() < until, "no vectors were made"
            time.sleep(0.02)

    service.ingest(ADA, str(SHOP), Session("s1", (Turn("Ada", "The till is green."),)))
    all_made()
    (fact,) = service.browse(ADA, Listing()).facts
    service.edit(ADA, fact.id, Change(text="The till is blue."))
    all_made()
    service.forget(ADA, fact.id)
    service.restore(ADA, fact.id)
    all_made()
    assert service.metrics()["facts_embedded"] >= 3
