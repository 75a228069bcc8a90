"""Why an arm was drawn, in words that say no more than what is believed."""

from metamem.routing.telling import why
from metamem.routing.words import Belief, Choice


def told(arm: str, **worth: float) -> str:
    beliefs = tuple(Belief(a, w, 0.0, 0.0, w, 0.85, 0, 1 / len(worth)) for a, w in worth.items())
    return why(Choice(arm, 1 / len(worth), beliefs), {})


def test_the_best_is_said_to_be_the_best() -> None:
    said = told("a", a=0.7, b=0.5)
    assert "expected to be worth most, 0.70" in said and "Of the others: b 0.50" in said


def test_another_is_drawn_to_learn_more_of_it() -> None:
    assert "b was drawn" in told("b", a=0.7, b=0.5)
    assert "a is expected to be worth more (0.70" in told("b", a=0.7, b=0.5)


def test_of_equals_none_is_said_to_be_worth_more() -> None:
    for first in (0.5, 0.5004):  # what is shown alike is alike to whoever reads it
        said = told("b", a=first, b=0.5, c=0.2)
        assert "worth as much as a, 0.50" in said
        assert "more" not in said and "most" not in said
    assert "as much as a and c" in told("b", a=0.5, b=0.5, c=0.5)


def test_of_equals_whichever_is_drawn_explores_nothing() -> None:
    beliefs = tuple(Belief(arm, 0.5, 0, 0, 0.5, 0.85, 0, 0.5) for arm in "ab")
    assert not Choice("b", 0.5, beliefs).explores and not Choice("a", 0.5, beliefs).explores
