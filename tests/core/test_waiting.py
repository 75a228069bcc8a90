"""What a design waits for: checked after every step, by what was seen alone."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.core.types import Observation
from metamem.core.waiting import NEVER, USUAL, Wait, Watch

waits = st.builds(
    Wait,
    steps=st.integers(0, 5),
    new_actions=st.booleans(),
    question=st.booleans(),
    words=st.lists(st.sampled_from(["a door", "key", "it is dark"]), max_size=3).map(tuple),
    stuck=st.integers(0, 4),
    apart=st.integers(0, 4),
)
sights = st.builds(
    Observation,
    st.sampled_from(["A hall.", "A Door opens", "Which key?", "It is\ndark."]),
    st.lists(st.sampled_from(["go", "look", "take key"]), max_size=3).map(tuple),
)


def due_after(wait: Wait | None, *seen: Observation, first: Observation | None = None) -> str:
    """Why memory is asked after what was seen; it is not asked in between."""
    watch = Watch(first or Observation("A hall.", ("go",)), most=5)
    assert watch.due and not watch.why
    watch.asked(wait)
    for one in seen:
        assert not watch.due
        watch.saw(one)
    return watch.why


@pytest.mark.parametrize(
    ("wait", "seen", "why"),
    [
        (Wait(steps=2), ["A.", "B."], "2 actions"),
        (Wait(words="a door"), ["Dust.", "There is A  Door here"], "the words 'a door'"),
        (Wait(words=("key", "lamp")), ["a monkey", "a lamp"], "the words 'lamp'"),
        (Wait(question=True), ["What? not you", "Which one do you want?"], ""),
        (Wait(question=True), ["Well.", "Which one do you want? [abc]"], "a question"),
        (Wait(stuck=2), ["A.", "B.", "A.", "B."], "nothing new for 2 actions"),
        (Wait(stuck=2), ["A.", "A.", "B.", "B."], ""),
        (Wait(words="key", apart=3), ["a key", "dust", "more dust"], "the words 'key'"),
        (NEVER, ["A.", "A.", "A.", "a key?"], ""),
        (None, [f"{n}." for n in range(10)], "10 actions"),
    ],
)
def test_each_thing_that_can_be_waited_for(wait, seen, why):
    if not why and wait == Wait(question=True):
        watch = Watch(Observation("", ()), most=5)
        watch.asked(wait)
        watch.saw(Observation(seen[0]))
        assert watch.why == "a question"  # it asks at once
        watch.asked(wait)
        watch.saw(Observation(seen[0]))
        assert not watch.due  # the same question still stands there
        return
    assert due_after(wait, *map(Observation, seen)) == why


def test_new_actions_are_those_that_were_never_possible_before():
    shown = [Observation("B", ("look",)), Observation("C", ("go",)), Observation("D", ("go",))]
    watch = Watch(Observation("A", ("go", "look")), most=9)
    watch.asked(Wait(new_actions=True))
    for one in shown:
        watch.saw(one)
        assert not watch.due
    watch.saw(Observation("D", ("go", "dig")))
    assert watch.why == "new actions"


@given(waits, st.lists(sights, max_size=30), st.integers(1, 6))
def test_it_is_never_asked_more_often_than_allowed_nor_sooner(wait, seen, most):
    watch = Watch(Observation("A hall.", ("go",)), most=most)
    asked_at = []
    for number, one in enumerate([None, *seen]):
        if one is not None:
            watch.saw(one)
        if watch.due:
            asked_at.append(number)
            watch.asked(wait)
    assert asked_at[0] == 0 and len(asked_at) <= most
    gaps = [b - a for a, b in pairwise(asked_at)]
    assert all(gap >= max(1, wait.apart) for gap in gaps)
    if wait == NEVER:
        assert asked_at == [0]
    if wait.steps and len(asked_at) < most:
        assert all(gap <= max(wait.steps, wait.apart) for gap in gaps)


@given(st.integers(1, 5), st.lists(sights, max_size=20))
def test_every_so_many_actions_means_just_that_whatever_is_waited_for(every, seen):
    watch = Watch(Observation("", ()), every)
    asked_at = []
    for number, one in enumerate([None, *seen]):
        if one is not None:
            watch.saw(one)
        if watch.due:
            asked_at.append(number)
            watch.asked(Wait(steps=1))
    assert asked_at == [n for n in range(len(seen) + 1) if n % every == 0]


@given(waits)
def test_what_is_waited_for_comes_back_from_json(wait):
    assert Wait.from_json(wait.to_json()) == wait


@pytest.mark.parametrize(
    "wrong",
    [
        {"steps": -1},
        {"steps": "3"},
        {"stuck": True},
        {"apart": 1.5},
        {"new_actions": 1},
        {"words": ("",)},
        {"words": ("x" * 201,)},
        {"words": (3,)},
        {"words": tuple("abcdefgh" * 5)},
        {"patience": 3},
    ],
)
def test_nonsense_is_refused(wrong):
    with pytest.raises((ValueError, TypeError)):
        Wait.from_json(wrong)


def test_who_says_nothing_waits_for_something():
    assert USUAL != NEVER
