"""Columns of features, candidates and neighbours."""

import numpy as np
from bench.memory_talks import Scope, Spoken
from hypothesis import given, settings
from hypothesis import strategies as st

from metamem.models.wordllama_embedder import WordLlamaEmbedder
from metamem.service.recall.candidates import MOST, choose
from metamem.service.recall.catalog import NONE, neighbours
from metamem.service.recall.features import NAMES
from metamem.service.recall.reading import Reader
from tests.service.recall.scopes import NOW, spoken

EMBEDDER = WordLlamaEmbedder()
READER = Reader(EMBEDDER)
COLUMN = {name: n for n, name in enumerate(NAMES)}


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["Ana", "Tom"]), st.text(max_size=40), st.integers(-1, 2)),
        min_size=1,
        max_size=12,
    ),
    st.text(max_size=40),
)
def test_any_texts_give_finite_rows_of_all_features(
    said: list[tuple[str, str, int]], question: str
) -> None:
    lines = [Spoken(who, text, session, NOW) for who, text, session in said]
    chosen, rows = Scope(lines, EMBEDDER, READER).rows(question, NOW)
    assert rows.shape == (len(chosen), len(NAMES))
    assert np.isfinite(rows).all()
    assert (np.diff(chosen) > 0).all()


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 9)), unique=True))
def test_neighbours_are_next_in_their_session(places: list[tuple[int, int]]) -> None:
    session = np.array([s for s, _ in places], np.int32)
    position = np.array([p for _, p in places], np.int32)
    before, after = neighbours(session, position)
    for n, (own, at) in enumerate(places):
        later = [p for s, p in places if s == own and p > at]
        if own == NONE or not later:
            assert after[n] == NONE
        else:
            assert places[after[n]] == (own, min(later))
            assert before[after[n]] == n


def test_no_more_candidates_than_the_ranker_looks_at() -> None:
    lines = spoken(*(f"Ana: the river number {n}" for n in range(MOST + 100)))
    scope = Scope(lines, EMBEDDER, READER)
    question, hits, dense = scope.search("Which river?", NOW)
    assert len(choose(question, scope.catalog, hits, dense)) == MOST


def test_the_only_fact_of_a_scope_is_looked_at_also_for_its_meaning() -> None:
    for lines in (
        spoken("Ana: I like green tea"),
        spoken("Ana: We deploy from the release branch"),
    ):
        scope = Scope(lines, EMBEDDER, READER)
        question, hits, dense = scope.search("What do they drink?", NOW)
        assert choose(question, scope.catalog, hits, dense).tolist() == [0]


def test_a_long_prompt_is_known_by_its_rare_words() -> None:
    common = [f"word{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(80)]
    lines = spoken(*(f"Ana: {' '.join(common)} {n}" for n in range(4)), "Tom: zebra")
    _, rows = Scope(lines, EMBEDDER, READER).rows(f"{' '.join(common)} zebra", NOW)
    assert rows[4, COLUMN["rarest"]] == 1
    assert rows[4, COLUMN["covered"]] > 0


def test_who_is_asked_about_and_what_stands_before() -> None:
    lines = spoken("Ana: Which boat did you buy?", "Tom: The green one.", "Ana: I like it.")
    chosen, rows = Scope(lines, EMBEDDER, READER).rows("Which boat did Tom buy?", NOW)
    assert chosen.tolist() == [0, 1, 2]
    assert rows[:, COLUMN["said_by"]].tolist() == [-1, 1, -1]
    assert rows[1, COLUMN["terms_before"]] == 1
    assert rows[:, COLUMN["before_asks"]].tolist() == [0, 1, 0]


def test_a_reader_that_forgets_reads_on() -> None:
    reader = Reader(EMBEDDER)
    scope = Scope(spoken("Ana: a boat", "Tom: a river"), EMBEDDER, reader)
    _, first = scope.rows("Which boat?", NOW)
    reader._forget()
    _, second = scope.rows("Which boat?", NOW)
    assert np.array_equal(first, second)
