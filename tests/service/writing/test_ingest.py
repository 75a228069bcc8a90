"""Conversations come in as evidence: every turn once, however often and in whatever pieces."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metamem.core.errors import Denied, UsageError
from metamem.service import changing
from metamem.service.database import Database
from metamem.service.marks import fenced
from metamem.service.words import Change, Ingested, Session, Turn
from metamem.service.writing.turns import MOST, PART, split
from metamem.service.writing.writer import BATCH, Writer
from tests.service.writing.planted import drawn as planted
from tests.service.writing.support import (
    ADA,
    BOB,
    SHOP,
    assert_redrawn_alike,
    drawn,
    fact_of,
    kept,
    opened,
)

SAID = 1_683_723_600_000


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return opened(tmp_path)


def ingest(database: Database, session: Session) -> Ingested:
    return Writer(database).ingest(ADA, str(SHOP), session)


def talk(*texts: str, ids: bool = False, session: str = "s1") -> Session:
    turns = tuple(
        Turn("Ada" if at % 2 else "Bob", text, id=f"m{text[:6]}" if ids else "")
        for at, text in enumerate(texts)
    )
    return Session(session, turns, started_at=SAID)


def lines(database: Database, session: str = "s1") -> list[str]:
    mine = [fact for fact in kept(database) if fact.session == session]
    return [fact.text for fact in sorted(mine, key=lambda fact: fact.position)]


def counts(done: Ingested) -> tuple[int, int, int, int]:
    return done.stored, done.known, done.changed, done.refused


def test_ids_with_secrets_and_long_ones_keep_apart_what_they_name(database: Database) -> None:
    secrets = ["gh" + "p_" + planted(36, seed=seed) for seed in (1, 2)]
    for secret in secrets:
        for _ in range(2):  # again: adds nothing
            turns = tuple(
                Turn("Ada", f"Line {mark} of it.", id=f"{secret}{mark}" + "x" * 200)
                for mark in "ab"
            )
            done = ingest(database, Session(f"run-{secret}", turns, started_at=SAID))
        assert counts(done) == (0, 2, 0, 0)
        assert done.notes == (
            "its id holds a secret, or is too long: a digest stands in its place",
        )
    found = kept(database)
    assert len(found) == 4
    assert len({fact.session for fact in found}) == 2
    assert len({fact.origin for fact in found}) == 4
    assert not any(secret in repr(found) for secret in secrets)


def test_turns_are_facts_with_their_place_and_speaker(database: Database) -> None:
    session = Session(
        "s1",
        (
            Turn("Caroline", "I went to Rome yesterday.", said_at=SAID, id="m1"),
            Turn("bot", "How was it?", source="agent", id="m2"),
        ),
        host="claude-code",
        title="Travels",
        started_at=SAID - 1000,
        ended_at=SAID + 1000,
    )
    assert counts(ingest(database, session)) == (2, 0, 0, 0)
    first, second = kept(database)
    assert (first.type, first.author, first.session, first.position) == (
        "turn",
        "Caroline",
        "s1",
        0,
    )
    assert (first.trust, second.trust, second.position) == (3, 2, 1)
    assert first.meant_from == 1_683_590_400_000 and "rome" in first.entities
    assert second.said_at == SAID - 1000
    (row,) = drawn(database)["sessions"]
    assert row[1:] == ("s1", "claude-code", "Travels", SAID - 1000, SAID + 1000, "")
    assert_redrawn_alike(database)


@pytest.mark.parametrize("ids", [True, False])
def test_the_same_turns_again_add_nothing(database: Database, ids: bool) -> None:
    session = talk("hello", "hi", "what is up", "the sky", ids=ids)
    assert counts(ingest(database, session)) == (4, 0, 0, 0)
    before = drawn(database)
    assert counts(ingest(database, session)) == (0, 4, 0, 0)
    assert drawn(database) == before


@pytest.mark.parametrize("ids", [True, False])
def test_a_conversation_that_went_on_adds_what_is_new(database: Database, ids: bool) -> None:
    ingest(database, talk("one", "two", ids=ids))
    assert counts(ingest(database, talk("one", "two", "three", ids=ids))) == (1, 2, 0, 0)
    assert lines(database) == ["one", "two", "three"]


def test_pieces_follow_one_another_and_never_overwrite(database: Database) -> None:
    ingest(database, talk("one", "two"))
    assert counts(ingest(database, talk("three", "four"))) == (2, 0, 0, 0)
    assert counts(ingest(database, talk("three", "four"))) == (0, 2, 0, 0)  # sent once more
    assert counts(ingest(database, talk("three", "four", "five"))) == (1, 2, 0, 0)
    assert lines(database) == ["one", "two", "three", "four", "five"]


def test_other_sessions_may_say_the_same(database: Database) -> None:
    ingest(database, talk("ok", "ok"))
    assert counts(ingest(database, talk("ok", "ok", session="s2"))) == (2, 0, 0, 0)


def test_a_changed_turn_becomes_a_version(database: Database) -> None:
    one = Session("s1", (Turn("Ada", "It costs 5 euros", id="m1"), Turn("Bob", "ok", id="m2")))
    ingest(database, one)
    two = replace(one, turns=(replace(one.turns[0], text="It costs 7 euros"), one.turns[1]))
    assert counts(ingest(database, two)) == (0, 1, 1, 0)
    assert counts(ingest(database, two)) == (0, 2, 0, 0)
    assert counts(ingest(database, one)) == (0, 2, 0, 0)  # what it said before is known as well
    fact = kept(database)[0]
    assert (fact.text, fact.version) == ("It costs 7 euros", 2)
    assert_redrawn_alike(database)


def test_without_ids_a_changed_line_among_known_ones_is_a_version(database: Database) -> None:
    ingest(database, talk("one", "two", "three", "four"))
    assert counts(ingest(database, talk("one", "two", "THREE!", "four"))) == (0, 3, 1, 0)
    assert lines(database) == ["one", "two", "THREE!", "four"]


def test_what_a_person_edited_or_forgot_stays_so(database: Database) -> None:
    session = talk("my number is 5", "fine", "bye now", ids=True)
    ingest(database, session)
    first, second, _ = kept(database)
    changing.edit(database, ADA, first.id, Change("my number is not told"))
    changing.forget(database, ADA, second.id)
    assert counts(ingest(database, session)) == (0, 3, 0, 0)
    assert fact_of(database, first.id).text == "my number is not told"
    assert fact_of(database, second.id).lifecycle == "archived"


def test_a_turn_given_twice_is_stored_once(database: Database) -> None:
    turn = Turn("Ada", "one thing", id="m1")
    done = ingest(database, Session("s1", (turn, turn, replace(turn, text="two things"))))
    assert (done.stored, done.known, done.changed) == (1, 1, 1)
    assert lines(database) == ["two things"]


def test_empty_turns_and_own_words_are_refused(database: Database) -> None:
    told = fenced("- a secret plan", "recall", "r1")
    done = ingest(database, talk("", "  ", told, f"{told}\nAnd what of Rome?", "👍"))
    assert counts(done) == (2, 0, 0, 3)
    assert lines(database) == ["And what of Rome?", "👍"]
    assert any("memory told" in note for note in done.notes)


def test_a_long_turn_is_split_and_nothing_of_it_is_lost(database: Database) -> None:
    words = [f"word{n}" for n in range(2500)]
    session = talk("short", " ".join(words), "end", ids=True)
    done = ingest(database, session)
    assert done.stored == 3 and "split into" in done.notes[0]
    assert " ".join(lines(database)[1:-1]).split() == words
    assert max(len(line) for line in lines(database)) <= PART
    assert counts(ingest(database, session)) == (0, 3, 0, 0)
    shorter = replace(
        session, turns=(session.turns[0], replace(session.turns[1], text="cut"), session.turns[2])
    )
    assert counts(ingest(database, shorter)) == (0, 2, 1, 0)
    assert lines(database) == ["short", "cut", "end"]
    assert_redrawn_alike(database)


def test_a_huge_turn_is_cut_and_that_is_told(database: Database) -> None:
    done = ingest(database, talk("word " * (MOST // 4)))
    assert any("cut to" in note for note in done.notes)


def test_words_after_an_image_are_kept(database: Database) -> None:
    image = "data:image/png;base64," + "iVBORw0KGgo" * 30_000
    ingest(database, talk(f"look: {image} Is that Rome?"))
    assert lines(database) == ["look: [data: image/png] Is that Rome?"]


def test_no_secret_is_cut_in_two(database: Database, tmp_path: Path) -> None:
    key = "gh" + "p_" + "a1B2" * 9
    for more in range(0, 40, 3):
        text = "x" * 900 + " "
        text = (text * 300)[: MOST - more] + f" {key} and more"
        ingest(database, talk(text, session=f"s{more}"))
    database.close()
    raw = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert key[:8].encode() not in raw


@given(st.text(max_size=300).map(lambda text: text * 60))
def test_splitting_loses_no_words(text: str) -> None:
    pieces = split(text.strip())
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(0 < len(piece) <= PART for piece in pieces)


def test_more_is_known_of_a_session_later(database: Database) -> None:
    ingest(database, Session("s1", (), started_at=SAID))
    ingest(database, Session("s1", (), title="Travels", ended_at=SAID + 5))
    ingest(database, Session("s1", (), host="codex"))
    (row,) = drawn(database)["sessions"]
    assert row[1:] == ("s1", "codex", "Travels", SAID, SAID + 5, "")
    assert_redrawn_alike(database)


def test_rights_and_ids_are_asked_for(database: Database) -> None:
    with pytest.raises(Denied):
        Writer(database).ingest(BOB, str(SHOP), talk("one"))
    with pytest.raises(UsageError):
        ingest(database, Session(" ", ()))
    with pytest.raises(UsageError):
        ingest(database, Session("s1", (Turn("Ada", "x", source="king"),)))


@pytest.mark.slow
def test_more_than_a_batch_comes_in(database: Database) -> None:
    session = talk(*(f"line {n}" for n in range(BATCH * 2 + 7)))
    assert ingest(database, session).stored == BATCH * 2 + 7
    assert counts(ingest(database, session))[:2] == (0, BATCH * 2 + 7)
    assert lines(database) == [f"line {n}" for n in range(BATCH * 2 + 7)]


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.text("abc \n", min_size=1, max_size=5), min_size=1, max_size=12),
    st.lists(st.integers(0, 12), min_size=1, max_size=6),
    st.booleans(),
)
def test_growing_pieces_in_any_number_give_the_whole_conversation(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], cuts: list[int], ids: bool
) -> None:
    turns = tuple(
        Turn("Ada", text, id=f"m{at}" if ids else "", said_at=SAID + at)
        for at, text in enumerate(texts)
    )
    database = opened(tmp_path_factory.mktemp("service"))
    for cut in (*cuts, len(turns)):
        ingest(database, Session("s1", turns[:cut]))
        ingest(database, Session("s1", turns[max(0, cut - 2) : cut]))
    assert lines(database) == [text.strip() for text in texts if text.strip()]
    assert_redrawn_alike(database)
    database.close()
