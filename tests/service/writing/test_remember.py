"""Drafts become facts: what was stored, what was not, and why."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metamem.core.access import Caller
from metamem.core.errors import Denied, UsageError
from metamem.service.connecting import connect
from metamem.service.database import Database
from metamem.service.marks import fenced
from metamem.service.words import Change, Draft
from metamem.service.writing.writer import BATCH, Writer
from metamem.store.engine import Execute
from tests.service.writing.support import (
    ADA,
    BOB,
    DROPPER,
    SHOP,
    assert_redrawn_alike,
    fact_of,
    kept,
    links,
    opened,
    remember,
)


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return opened(tmp_path)


def test_all_that_is_known_of_a_fact_is_kept(database: Database) -> None:
    said = 1_683_723_600_000  # 10 May 2023
    draft = Draft(
        "Yesterday Grace moved `orders.py` to PostgreSQL 16.",
        type="decision",
        source="user",
        origin="notes.md",
        author="Grace",
        said_at=said,
        entities=("The Shop",),
        importance=0.9,
        pinned=True,
    )
    (written,) = remember(database, draft)
    fact = fact_of(database, written.id)
    assert (fact.type, fact.author, fact.origin, fact.trust) == ("decision", "Grace", "notes.md", 3)
    assert {"grace", "orders.py", "postgresql 16", "the shop"} <= set(fact.entities)
    assert fact.meant_from == 1_683_590_400_000 and fact.meant_to == 1_683_676_799_999
    assert (fact.importance, fact.pinned, fact.said_at) == (0.9, True, said)
    assert_redrawn_alike(database)


def test_names_that_the_scope_knows_are_found_in_small_letters(database: Database) -> None:
    remember(database, "The project is called Blue Heron")
    (written,) = remember(database, "we ship blue heron on the ferry")
    assert "blue heron" in fact_of(database, written.id).entities


def test_a_plain_word_is_a_name_when_it_was_one_more_than_once(database: Database) -> None:
    (before,) = remember(database, "we saw it with ada")
    remember(database, "Yesterday we met Ada.", "Then we asked Ada for help.")
    (after,) = remember(database, "we ate soup with ada")
    assert "ada" not in fact_of(database, before.id).entities
    assert "ada" in fact_of(database, after.id).entities


def test_the_same_again_is_told_and_not_stored(database: Database) -> None:
    (first,) = remember(database, "The shop runs on PostgreSQL 16.")
    again = remember(database, "the  shop runs on postgresql 16", "New one here", "new one  here!")
    assert [w.outcome for w in again] == ["duplicate", "stored", "duplicate"]
    assert again[0].id == first.id
    assert again[2].id == again[1].id
    assert len(kept(database)) == 2


def test_who_is_trusted_more_takes_the_place(database: Database) -> None:
    rule = "Always run make test before pushing"
    (tool,) = remember(database, Draft(rule, source="tool"))
    assert tool.quarantined
    (user,) = remember(database, Draft(rule, type="instruction", source="user"))
    assert (user.outcome, user.quarantined, user.superseded) == ("stored", False, (tool.id,))
    (later,) = remember(database, Draft(rule, source="outside"))
    assert (later.outcome, later.id) == ("duplicate", user.id)
    assert [fact.id for fact in kept(database)] == [user.id]
    assert_redrawn_alike(database)


def test_junk_is_refused_and_the_rest_is_stored(database: Database) -> None:
    results = remember(database, "", "Thanks!", fenced("x", "recall", "r1"), "Ada prefers tea.")
    assert [w.outcome for w in results] == ["refused", "refused", "refused", "stored"]
    assert all(w.reason and not w.id for w in results[:3])
    assert [fact.text for fact in kept(database)] == ["Ada prefers tea."]


def test_a_correction_takes_the_place_of_the_one_it_is_about(database: Database) -> None:
    old, other = remember(database, "The shop uses MySQL.", "Ada prefers tea.")
    (new,) = remember(database, Draft("We switched from MySQL to PostgreSQL.", source="user"))
    assert new.superseded == (old.id,)
    assert fact_of(database, old.id).lifecycle == "superseded"
    assert (new.id, old.id, "supersedes") in links(database)
    assert fact_of(database, other.id).lifecycle == "active"
    assert_redrawn_alike(database)


def test_of_the_type_correction_no_further_words_are_needed(database: Database) -> None:
    (old,) = remember(database, "The default port is 8080.")
    (new,) = remember(database, Draft("The default port is 9090.", type="correction"))
    assert new.superseded == (old.id,)


def test_inside_of_one_batch_as_well(database: Database) -> None:
    old, new = remember(database, "Ada works at Google.", "Ada no longer works at Google.")
    assert new.superseded == (old.id,)
    assert fact_of(database, old.id).lifecycle == "superseded"


def test_what_was_over_can_be_so_again_in_the_same_batch(database: Database) -> None:
    old, over, again = remember(
        database, "The shop uses MySQL.", "The shop no longer uses MySQL.", "the shop uses mysql"
    )
    assert over.superseded == (old.id,)
    assert again.outcome == "stored" and again.id != old.id
    assert_redrawn_alike(database)


def test_what_is_not_sure_is_only_told(database: Database) -> None:
    (one,) = remember(database, "The API timeout is 30 seconds.")
    (two,) = remember(database, "The API timeout is 60 seconds.")
    assert two.superseded == ()
    assert [(c.fact, c.kind) for c in two.candidates] == [(one.id, "contradicts")]
    assert two.candidates[0].text == "The API timeout is 30 seconds."
    # Now two facts could be meant: none is replaced, both are told.
    (three,) = remember(database, "Actually the API timeout is 90 seconds.")
    assert three.superseded == ()
    assert {c.fact for c in three.candidates} == {one.id, two.id}
    assert {(three.id, one.id, "contradicts"), (three.id, two.id, "contradicts")} <= links(database)
    assert all(fact.lifecycle == "active" for fact in kept(database))


def test_nobody_corrects_whom_one_should_trust_more(database: Database) -> None:
    (old,) = remember(database, Draft("The shop uses MySQL.", source="user"))
    (new,) = remember(database, Draft("We switched from MySQL to PostgreSQL.", source="tool"))
    assert new.superseded == () and new.candidates[0].fact == old.id
    (given,) = remember(database, Draft("It uses Oracle.", source="tool", supersedes=old.id))
    assert given.outcome == "refused" and "more trusted" in given.reason
    assert fact_of(database, old.id).lifecycle == "active"


def test_near_repeats_are_linked(database: Database) -> None:
    (one,) = remember(database, "The nightly backup starts at 02:00 UTC.")
    (two,) = remember(database, "Nightly backup starts at 02:00 UTC, always")
    assert two.outcome == "stored"
    assert (two.id, one.id, "repeats") in links(database)


def test_a_decision_does_not_contradict_an_office(database: Database) -> None:
    remember(database, "The decision is on the table.")
    (new,) = remember(database, "The office is off the main street.")
    assert new.candidates == () and links(database) == set()


def test_a_place_that_cannot_be_taken_is_told(database: Database) -> None:
    (old,) = remember(database, "One thing.")
    missing, first, second = remember(
        database,
        Draft("Two things.", supersedes="f0"),
        Draft("Three things.", supersedes=old.id),
        Draft("Four things.", supersedes=old.id),
    )
    assert (missing.outcome, first.outcome, second.outcome) == ("refused", "stored", "refused")
    assert "f0" in missing.reason and "superseded" in second.reason
    assert sorted(fact.text for fact in kept(database)) == ["Three things."]


def test_whoever_may_only_write_learns_nothing(database: Database) -> None:
    remember(database, "The API timeout is 30 seconds.")
    drafts = [Draft("The API timeout is 30 seconds"), Draft("The API timeout is 60 seconds.")]
    same, new = Writer(database).remember(DROPPER, str(SHOP), drafts)
    assert (same.outcome, same.id) == ("duplicate", "")
    assert new.outcome == "stored" and new.candidates == ()


def test_whoever_may_not_write_is_refused(database: Database) -> None:
    with pytest.raises(Denied):
        Writer(database).remember(BOB, str(SHOP), [Draft("One thing.")])
    with pytest.raises(Denied):
        Writer(database).remember(BOB, str(SHOP), [])
    assert kept(database) == []


@pytest.mark.parametrize(
    "draft",
    [
        Draft("x y", type="nonsense"),
        Draft("x y", source="nobody"),
        Draft("x y", importance=7),
        Draft("x y", importance=float("nan")),
        Draft("x y", said_at=10**18),
        Draft("x y", meant_from=2, meant_to=1),
        Draft("x y", entities="not a list"),  # type: ignore[arg-type]
        Draft(7),  # type: ignore[arg-type]
    ],
)
def test_what_makes_no_sense_is_an_error_and_stores_nothing(
    database: Database, draft: Draft
) -> None:
    with pytest.raises(UsageError):
        remember(database, "Fine thing.", draft)
    assert kept(database) == []


def test_a_quota_is_asked_before_anything_is_stored(database: Database) -> None:
    asked: list[tuple[str, int]] = []

    def check(execute: Execute, caller: Caller, scope: int, new: int) -> None:
        asked.append((caller.who, new))
        if new > 2:
            raise UsageError("too many")

    writer = Writer(database, check)
    writer.remember(ADA, str(SHOP), [Draft("One thing."), Draft("one thing"), Draft("Two things.")])
    with pytest.raises(UsageError):
        writer.remember(ADA, str(SHOP), [Draft(f"Number {n} is kept") for n in range(3)])
    assert asked == [("ada", 2), ("ada", 3)]
    assert len(kept(database)) == 2


@pytest.mark.slow
def test_more_than_a_batch_is_kept_in_order(database: Database) -> None:
    texts = [f"Customer {n} ordered {n * 7} lamps" for n in range(BATCH + 20)]
    results = remember(database, *texts)
    assert [fact.text for fact in kept(database)] == texts
    assert [fact.id for fact in kept(database)] == [w.id for w in results]
    assert_redrawn_alike(database)


TEXTS = st.text(max_size=60) | st.sampled_from(
    [
        "The shop uses MySQL.",
        "The shop no longer uses MySQL.",
        "The shop uses PostgreSQL",
        "We switched from MySQL to Redis",
        "Actually the shop uses MySQL",
        "the shop uses mysql",
    ]
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.lists(st.tuples(TEXTS, st.sampled_from(("user", "agent", "tool"))), max_size=6),
        max_size=6,
    )
)
def test_whatever_is_written_can_be_redrawn_and_nothing_is_there_twice(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[tuple[str, str]]]
) -> None:
    database = opened(tmp_path_factory.mktemp("service"))
    stored = 0
    for batch in batches:
        results = remember(database, *(Draft(text, source=source) for text, source in batch))
        assert len(results) == len(batch)
        stored += sum(w.outcome == "stored" for w in results)
    assert len(kept(database, ())) == stored
    with database.reading() as execute:
        rows = execute("SELECT digest FROM facts WHERE lifecycle = 'active'")
    assert len(rows) == len(set(rows))
    assert_redrawn_alike(database)
    database.close()


def test_what_is_nothing_but_a_secret_or_data_is_refused(tmp_path: Path) -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEabc\n-----END RSA PRIVATE KEY-----"
    with connect(tmp_path) as memory:
        texts = (
            key,
            "w" * 8001,
            f"The dump is {'w' * 2000} as ada told",
            "It stands as [data] there",
        )
        *refused, cut, whole = memory.remember("local/project/x", [Draft(text) for text in texts])
        assert [one.outcome for one in refused] == ["refused", "refused"]
        assert refused[0].reason == "nothing is left of it but a secret"
        assert refused[1].reason == "nothing is left of it but data that is no text"
        assert (cut.outcome, "taken out" in cut.reason) == ("stored", True)
        assert (whole.outcome, whole.reason) == ("stored", "")
        with pytest.raises(UsageError, match="nothing is left"):
            memory.edit(cut.id, Change(text=key))
