"""Typed parameters: whatever a search does with them, what comes out is a value of the space."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.core.errors import DataError, UsageError
from metamem.core.space import Bool, Choice, Float, Int, Only, Space
from metamem.core.types import Design

names = st.sampled_from(["a", "b", "c", "d", "e"])
small = st.integers(-50, 50)


@st.composite
def parameters(draw, earlier):
    only = None
    switches = [n for n, p in earlier.items() if isinstance(p, Choice)]
    if switches and draw(st.booleans()):
        parent = draw(st.sampled_from(switches))
        options = earlier[parent].options
        some = draw(st.lists(st.sampled_from(options), min_size=1, unique=True))
        only = Only(parent, tuple(some))
    kind = draw(st.sampled_from(["int", "float", "log int", "log float", "choice", "bool"]))
    low = draw(small)
    high = low + draw(st.integers(1, 100))
    if kind.startswith("log"):
        low, high = abs(low) + 1, abs(low) + 1 + (high - low)
    at = draw(st.floats(0, 1))
    if kind.endswith("int"):
        made = Int(low, high, low, log=kind.startswith("log"), only=only)
        return Int(low, high, made.at(at), log=made.log, only=only)
    if kind.endswith("float"):
        made = Float(low, high, float(low), log=kind.startswith("log"), only=only)
        return Float(low, high, made.at(at), log=made.log, only=only)
    if kind == "bool":
        return Bool(draw(st.booleans()), only)
    options = tuple(draw(st.lists(st.text(max_size=3), min_size=2, max_size=4, unique=True)))
    return Choice(options, draw(st.sampled_from(options)), only)


@st.composite
def spaces(draw):
    made = {}
    for name in draw(st.lists(names, min_size=1, unique=True)):
        made[name] = draw(parameters(made))
    return Space(made)


@given(spaces(), st.integers(0, 2**32))
def test_whatever_is_drawn_is_of_the_space(space, seed):
    values = space.drawn(Random(seed))
    assert space.problems(values) == []
    assert space.read(space.design(values)) == values
    assert space.problems(space.defaults()) == []


@given(spaces(), st.integers(0, 2**32))
def test_positions_lead_back_to_their_values(space, seed):
    for name, value in space.drawn(Random(seed)).items():
        parameter = space.parameters[name]
        back = parameter.at(parameter.position(value))
        assert back == (pytest.approx(value) if isinstance(parameter, Float) else value)
        assert 0 <= parameter.position(value) <= 1
    for parameter in space.parameters.values():
        for place in (-3.0, 0.0, 1.0, 7.0):  # beyond the ends lie the ends
            assert parameter.problem(parameter.at(place)) == ""


@given(
    spaces(), st.dictionaries(names, st.one_of(st.none(), st.text(), st.integers(), st.floats()))
)
def test_anything_else_is_told_and_never_a_design(space, values):
    if space.problems(values):
        with pytest.raises(UsageError):
            space.design(values)
    else:
        assert space.read(space.design(values)) == values


RADIO = Space(
    {
        "filter": Choice(("off", "narrow"), "off"),
        "width": Float(1.0, 10.0, 2.0, only=Only("filter", ("narrow",))),
        "mono": Bool(False, only=Only("filter", ("off",))),
    }
)


def test_a_parameter_holds_only_where_its_condition_does():
    assert RADIO.defaults() == {"filter": "off", "mono": False}
    assert RADIO.completed({"filter": "narrow", "mono": True}) == {"filter": "narrow", "width": 2.0}
    assert (
        "only where 'filter' is 'narrow'"
        in RADIO.problems({"filter": "off", "mono": False, "width": 3.0})[0]
    )
    assert RADIO.problems({"filter": "narrow"}) == ["'width' is missing"]


def test_the_order_of_values_makes_no_other_design():
    one = RADIO.design({"filter": "narrow", "width": 3.0})
    other = RADIO.design({"width": 3.0, "filter": "narrow"})
    assert one == other and one.id == other.id and one.kind == "params"
    assert RADIO.design({"filter": "narrow", "width": 3}) == one


@pytest.mark.parametrize(
    "source", ["", "[1]", "{", '{"filter": "odd"}', '{"filter": 1}', '{"mono": 0, "filter": "off"}']
)
def test_a_design_that_is_no_set_of_values_is_refused(source):
    with pytest.raises((DataError, UsageError)):
        RADIO.read(Design(source, "params"))


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (lambda: Space({}), "at least one"),
        (lambda: Space({"a b": Bool(True)}), "no name"),
        (lambda: Int(3, 2, 2), "no range"),
        (lambda: Float(0.0, 1.0, 0.5, log=True), "above 0"),
        (lambda: Choice(("a",), "a"), "two options"),
        (lambda: Space({"a": Int(0, 3, 9)}), "the default of 'a'"),
        (lambda: Space({"a": Bool(True, Only("b", (True,)))}), "not named before it"),
        (lambda: Space({"a": Bool(True), "b": Int(0, 1, 0, only=Only("a", (2,)))}), "in vain"),
    ],
)
def test_a_space_that_makes_no_sense_is_refused(wrong, why):
    with pytest.raises(UsageError, match=why):
        wrong()
