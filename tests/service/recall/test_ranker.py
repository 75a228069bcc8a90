"""Trees, summed; the floor and the gate."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.core.errors import DataError
from metamem.core.trees import Trees
from metamem.service.recall import ranker as module
from metamem.service.recall.features import NAMES
from metamem.service.recall.ranker import Bait, Gate, Ranker
from tests.service.recall.scopes import shown, spoken

# Two trees by hand: x0 <= 0.5 ? (x1 <= 2 ? 1 : 2) : 3, and x1 <= -1 ? 10 : 20.
BY_HAND = Trees(
    roots=np.array([0, 5], np.int32),
    feature=np.array([0, 1, 0, 0, 0, 1, 0, 0], np.int32),
    threshold=np.array([0.5, 2.0, 0, 0, 0, -1.0, 0, 0], np.float32),
    left=np.array([1, 2, 2, 3, 4, 6, 6, 7], np.int32),
    right=np.array([4, 3, 2, 3, 4, 7, 6, 7], np.int32),
    value=np.array([0, 0, 1, 2, 3, 0, 10, 20], np.float32),
    depth=2,
)


@given(st.lists(st.tuples(st.floats(-5, 5, width=32), st.floats(-5, 5, width=32)), min_size=1))
def test_trees_do_what_their_branches_say(rows: list[tuple[float, float]]) -> None:
    expected = [
        ((1 if y <= 2 else 2) if x <= 0.5 else 3) + (10 if y <= -1 else 20) for x, y in rows
    ]
    assert BY_HAND.sum(np.array(rows, np.float32)).tolist() == expected


def test_relevance_is_a_share_and_explained_by_features() -> None:
    ranker = Ranker.load()
    rows = np.random.default_rng(0).normal(size=(50, len(NAMES))).astype(np.float32)
    scores = ranker.score(rows)
    assert ((scores >= 0) & (scores <= 1)).all()
    assert set(ranker.explain(rows[0])) <= set(NAMES)


def leaf(value: float) -> Trees:
    """One tree that gives every row the same."""
    none = np.zeros(1, np.int32)
    zero = np.zeros(1, np.float32)
    return Trees(none, none, zero, none, none, np.array([value], np.float32), 0)


def test_a_closed_gate_shows_nothing_and_an_open_one_what_is_above_the_floor() -> None:
    rows = np.zeros((3, len(NAMES)), np.float32)
    relevance = np.array([0.9, 0.2, 0.01], np.float32)
    for value, expected in ((-1.0, [False] * 3), (1.0, [True, True, False])):
        ranker = Ranker(BY_HAND, Bait(leaf(-9.0)), 0.1, Gate(leaf(value), 0.0), {})
        assert ranker.shown(rows, relevance).tolist() == expected


@pytest.mark.parametrize(
    ("relevance", "known_terms", "known_names", "expected"),
    [
        ([0.05, 0.4, 0.01], 0.0, 1.0, [False, True, False]),
        ([0.2, 0.4, 0.01], 0.0, 1.0, [False] * 3),  # none stands out
        ([0.001, 0.04, 0.001], 0.0, 1.0, [False] * 3),  # too little
        ([0.05, 0.4, 0.01], 0.3, 1.0, [False] * 3),  # the gate has seen a word, and said no
        ([0.05, 0.4, 0.01], 0.0, 0.5, [False] * 3),  # of somebody who is not known here
    ],
)
def test_behind_a_closed_gate_one_answer_in_other_words_is_shown_alone(
    relevance: list[float], known_terms: float, known_names: float, expected: list[bool]
) -> None:
    rows = np.zeros((3, len(NAMES)), np.float32)
    rows[:, NAMES.index("known_terms")] = known_terms
    rows[:, NAMES.index("known_names")] = known_names
    ranker = Ranker(BY_HAND, Bait(leaf(-9.0)), 0.1, Gate(leaf(-1.0), 0.0), {})
    assert ranker.shown(rows, np.array(relevance, np.float32)).tolist() == expected


def test_bait_takes_relevance_away() -> None:
    rows = np.ones((1, len(NAMES)), np.float32)
    gate = Gate(leaf(0.0), 0.0)
    plain, bait = (Ranker(leaf(3.0), Bait(leaf(v)), 0.0, gate, {}).score(rows) for v in (-9, 9))
    assert plain > 0.9
    assert bait < 0.01


@pytest.mark.parametrize("part", ["features", "bait_features", "signs"])
def test_trees_of_other_features_are_refused(tmp_path: Path, part: str) -> None:
    path = Path(module.__file__).with_name(module.FILE)
    content = json.loads(path.read_text(encoding="utf-8"))
    content[part][0] = "something else"
    (tmp_path / "ranker.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(DataError):
        Ranker.read(tmp_path / "ranker.json")


TALK = spoken(
    "Ana: Hi Tom, how was your week?",
    "Tom: Busy! I finally adopted a puppy called Biscuit last Saturday.",
    "Ana: How lovely. We went swimming in the lake.",
    "Tom: Sounds cold. The tram was late every single day here.",
)


@pytest.mark.parametrize(
    "question",
    [
        "xqzv wplk mmrt",
        "How do I configure the kubernetes ingress controller?",
        "What is the boiling point of tungsten?",
        "量子力学是什么?",
        "?!",
    ],
)
def test_where_nothing_answers_nothing_is_shown(question: str) -> None:
    assert shown(TALK, question) == []


def test_a_single_word_that_occurs_is_found() -> None:
    assert shown(TALK, "puppy")[0] == TALK[1].text
    assert shown(TALK, "puppy", dense=False)[0] == TALK[1].text


NOTES = spoken(
    "ada: The dog is called Bruno, a labrador",
    "ada: I am allergic to peanuts",
    "ada: I drive a blue Volvo V60",
    "ada: I work as a data engineer at Zalando in Berlin",
    "ada: Passport expires in June 2028",
    "ada: Plays the cello in an amateur orchestra",
    "ada: My daughter Emma is 6 years old",
    "ada: Meeting with the dentist on 3 December at 10:30",
    "ada: Uses dark mode everywhere",
    "ada: Vegetarian since January",
    session=-1,
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [("do I have pets?", 0), ("any food allergies?", 1), ("what is my job?", 3)],
)
def test_an_answer_in_other_words_is_found(question: str, answer: int) -> None:
    assert shown(NOTES, question) == [NOTES[answer].text]


@pytest.mark.parametrize("question", ["what is my blood type?", "write a haiku about the sea"])
def test_what_no_note_answers_in_any_words_stays_silent(question: str) -> None:
    assert shown(NOTES, question) == []
