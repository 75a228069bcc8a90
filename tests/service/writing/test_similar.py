"""Repeats, replacements and contradictions are told apart about as well as is claimed."""

import pytest
from bench.conflicts import figures, judged
from hypothesis import given
from hypothesis import strategies as st

from metamem.service.writing.similar import compare
from metamem.service.writing.statement import Statement
from tests.service.writing.pairs import PAIRS, UNSEEN


@pytest.mark.parametrize(("pairs", "least"), [(PAIRS, 0.93), (UNSEEN, 0.85)])
def test_precision_and_recall_are_what_is_claimed(
    pairs: list[tuple[str, str, str]], least: float
) -> None:
    found = figures(pairs)
    assert len(PAIRS) >= 60
    for kind in ("repeats", "supersedes", "contradicts", "conflict"):
        precision, recall, there = found[kind]
        assert there >= 5
        assert precision >= least, kind
        assert recall >= least, kind


def test_words_are_compared_and_not_their_pieces() -> None:
    assert judged("The decision is on hold.", "The office is off limits.") == "none"
    assert judged("It was a non-issue.", "The issue was closed.") == "none"


def test_a_number_alone_is_nothing_that_can_be_over() -> None:
    told = "slugify returns 80 instead of 8080."
    assert judged("The port of staging is 8080.", told) == "none"
    assert judged("The port of staging is 8080.", "The port of staging is 80 instead of 8080.") == (
        "supersedes"
    )


@given(st.text(max_size=80), st.text(max_size=80), st.booleans())
def test_any_two_texts_can_be_compared(one: str, other: str, correction: bool) -> None:
    found = compare(Statement(one), Statement(other), correction=correction)
    assert found is None or 0 < found.weight <= 1


@given(st.text(max_size=80))
def test_nothing_contradicts_itself(text: str) -> None:
    found = compare(Statement(text), Statement(text))
    assert found is None or found.kind != "contradicts"


def test_after_an_article_no_word_is_a_verb() -> None:
    assert judged("The tests need PostgreSQL 16.", "The tests need PostgreSQL 17.") == "contradicts"
    assert judged("Tests cover parsing.", "Tests cover printing.") == "none"


def test_what_one_at_a_time_can_be_has_another_subject() -> None:
    assert judged("Maria owns the billing module.", "Tom owns the billing module.") == "contradicts"
    assert judged("Maria owns the billing module.", "Tom owns the search module.") == "none"
    assert judged("Maria likes the billing module.", "Tom likes the billing module.") == "none"
    assert judged("Anna manages the shop in Ulm.", "Ben manages the shop in Bonn.") == "none"


def test_now_at_the_end_says_that_something_changed() -> None:
    assert judged("The build uses Bazel.", "The build uses CMake now.") == "supersedes"
