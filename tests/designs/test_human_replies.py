"""What the model-asking designs read out of replies, their cards, and the helpers they share."""

import ast
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.core.types import Experience, Message, Step
from metamem.designs import library, text
from metamem.designs.human import g_memory, observational, reasoning_bank
from metamem.report.card import says
from tests.designs.scripted import NAMES

_WORDS = st.text("abc xyz", min_size=1).map(str.strip).filter(bool)


def test_the_library_can_tell_which_need_a_model_without_running_them():
    needing = []
    for name in library.names():
        for node in ast.parse(library.load(name).source).body:
            match node:
                case ast.Assign([ast.Name("NEEDS_MODEL")], ast.Constant(True)):
                    needing.append(name)
    assert tuple(needing) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_design_has_a_card_that_names_its_source(name):
    source = library.load(name).source
    assert {"stores", "retrieves", "forgets"} <= set(says(source))
    card = ast.get_docstring(ast.parse(source)) or ""
    assert "arXiv" in card or "no paper" in card
    assert "ALMA" in card or name == "observational"
    assert "Without a model" in card


# --- replies ---


@given(st.text())
def test_items_of_any_reply_are_whole(reply):
    for item in reasoning_bank.items(reply):
        assert item["title"] and item["content"]


@given(st.lists(st.tuples(_WORDS, _WORDS, _WORDS), max_size=4), st.booleans())
def test_items_are_read_back(wanted, same_line):
    gap = " " if same_line else "\n"
    reply = "Because it looked first.\n" + "\n".join(
        f"# Memory Item {n}\n## Title{gap}{t}\n## Description{gap}{d}\n## Content{gap}{c}"
        for n, (t, d, c) in enumerate(wanted, 1)
    )
    found = [(i["title"], i["description"], i["content"]) for i in reasoning_bank.items(reply)]
    assert found == wanted


@given(st.text(), st.integers(0, 5))
def test_operations_of_any_reply_are_known_and_in_order(reply, most):
    found = g_memory.operations(reply, most)
    assert len(found) <= most
    assert [kind for kind, _, _ in found] == sorted(
        (kind for kind, _, _ in found), key=("REMOVE", "AGREE", "EDIT", "ADD").index
    )


_OPERATIONS = st.lists(
    st.tuples(st.sampled_from(["ADD", "EDIT", "AGREE", "REMOVE"]), st.integers(1, 99), _WORDS),
    max_size=6,
)


@given(_OPERATIONS, st.sampled_from(["", "- ", "* "]))
def test_operations_are_read_back(wanted, bullet):
    reply = "\n".join(
        f"{bullet}{kind}{'' if kind == 'ADD' else f' {n}'}: {words}" for kind, n, words in wanted
    )
    expected = [(kind, 0 if kind == "ADD" else n, words) for kind, n, words in wanted]
    assert sorted(g_memory.operations(reply, 9)) == sorted(expected)


def test_an_operation_ends_with_its_line():
    found = g_memory.operations("AGREE 1\nADD: New.\nADDRESS: none", 4)
    assert found == [("AGREE", 1, ""), ("ADD", 0, "New.")]
    assert g_memory.numbered("Here:\n1.\n2. two\n 3) three\n2. two") == ["two", "three"]


@given(st.text(), st.integers(1, 50))
def test_notes_of_any_reply_are_lines_within_the_cap(reply, longest):
    for line in observational.note_lines(reply, longest, 0.6):
        assert line and len(line) <= longest and "\n" not in line


@given(st.lists(_WORDS, min_size=1, max_size=5))
def test_notes_are_read_back_with_and_without_tags(wanted):
    lines = ["Date: 1 May", *(f"- [low] {words}" for words in wanted)]
    body = "\n".join(lines)
    assert observational.note_lines(f"<observations>\n{body}\n</observations>", 99, 0.6) == lines
    assert observational.note_lines(f"Here you are:\n{body}\nThat is all.", 99, 0.6) == lines
    assert observational.note_lines(f"<observations>\n{body}", 99, 0.6) == []


# --- the helpers they share ------------------------------------------------------------------


@given(st.text(), st.integers(0, 60))
def test_a_shortened_text_keeps_both_ends(value, most):
    short = text.shorten(value, most)
    assert len(short) <= max(most, 0)
    if len(value) <= most:
        assert short == value
    elif most >= 9:
        head, _, tail = short.partition(" [...] ")
        assert value.startswith(head) and value.endswith(short.rpartition(" [...] ")[2])
        assert head or tail


@given(st.lists(st.text(max_size=9)), st.integers(0, 60))
def test_the_ends_of_a_list_are_kept_in_order(pieces, most):
    kept = text.ends(pieces, most)
    if sum(map(len, pieces)) <= most:
        assert kept == pieces
    elif len(pieces) > 2:
        assert (kept[0], kept[-1]) == (pieces[0], pieces[-1])
        notes = [n for n, piece in enumerate(kept) if piece.endswith("parts left out ...]")]
        assert len(notes) == 1
        (note,) = notes
        gone = int(kept[note].split()[1])
        assert [*kept[:note], *pieces[note : note + gone], *kept[note + 1 :]] == pieces
        assert sum(map(len, kept)) - len(kept[note]) <= max(most, len(pieces[0] + pieces[-1]))


@given(st.text(), st.text())
def test_tagged_gives_what_is_inside(before, inside):
    plain = inside.replace("<", "").strip()
    noise = before.replace("<", "")
    assert text.tagged(f"{noise}<tag>{plain}</tag>", "tag") == plain
    assert text.tagged(f"<tag>old</tag>{noise}<TAG>\n{plain}\n</Tag>{noise}", "tag") == plain
    assert text.tagged(f"{noise}<tag>{plain}", "tag") == ""
    assert text.tagged(f"</tag>{noise}<tag>", "tag") == ""


@given(st.text(), st.text(), st.integers(1, 80))
def test_a_revision_is_nothing_or_a_beginning_within_the_bound(old, new, most):
    made = text.revised(old, new, most)
    assert len(made) <= most
    assert new.strip().startswith(made)


def test_circles_are_told_from_prose():
    rng = random.Random(0)
    prose = " ".join(f"{rng.choice('abcdefg')}{rng.randrange(500)}" for _ in range(1000))
    assert not text.repetitive(prose)
    assert not text.repetitive("short " * 100)
    for loop in ("a", "ab cd ", "the same line once more, and then again\n", prose[:500]):
        assert text.repetitive(loop * (20_000 // len(loop)))
    notes = "\n".join(
        f"- [low] (10:{n}) the agent went to place {n} and saw thing {n * 7}" for n in range(60)
    )
    assert not text.repetitive(notes)


_TEXT = st.text(st.characters(exclude_characters="\n>"), max_size=60)


@given(st.lists(st.tuples(_TEXT, _TEXT), min_size=1, max_size=30), st.integers(20, 50))
def test_a_transcript_is_bounded_and_keeps_first_and_last(steps, each):
    made = Experience(
        "g", "o", (), tuple(Step(f"a{n} {a}", o) for n, (a, o) in enumerate(steps)), 1
    )
    told = text.transcript(made, each, 300)
    assert len(told) < 300 + 6 * each + 200
    assert "\n> a0 " in told and f"\n> a{len(steps) - 1} " in told
    assert told.startswith("Goal: g\nAt first: o\n") and told.endswith("Reward at the end: 1")
    talk = Experience(
        messages=tuple(Message("Ann", a, "1 May") for a, _ in steps), steps=made.steps
    )
    said = text.transcript(talk, each, 300)
    assert said.startswith("1 May, Ann: ") and "> a0" not in said
    assert text.transcript(Experience("goal", "seen")) == ""
