"""Things in words: distances, points of the compass, the map."""

import pytest

from tests.extras import needs

needs("minihack")

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from metamem.domains.minihack import describe


@pytest.mark.parametrize(
    ("dx", "dy", "told"),
    [
        (1, 0, "adjacent east"),
        (-1, -1, "adjacent northwest"),
        (0, 3, "very near south"),
        (8, -4, "near east-northeast"),
        (-20, 1, "far west"),
        (-2, 4, "near south-southwest"),
    ],
)
def test_a_place_is_a_distance_and_one_of_sixteen_points(dx, dy, told):
    assert describe.surroundings([("key", 40 + dx, 10 + dy)], 40, 10) == [f"key {told}"]


def test_things_of_one_kind_and_distance_share_a_line_nearest_first():
    things = [("lava", 45, 10), ("lava", 46, 11), ("lava", 40, 15), ("newt", 41, 10)]
    assert describe.surroundings(things, 40, 10) == [
        "newt adjacent east",
        "lava near east, south",
    ]


@given(st.integers(0, 78), st.integers(0, 20), st.integers(0, 78), st.integers(0, 20))
def test_the_opposite_way_is_the_opposite_point(x, y, column, row):
    if (x, y) == (column, row):
        return
    opposite = {"north": "south", "south": "north", "east": "west", "west": "east"}
    (there,) = describe.surroundings([("it", column, row)], x, y)
    (back,) = describe.surroundings([("it", x, y)], column, row)
    for word, other in opposite.items():
        assert (word in there.removeprefix("it ")) == (other in back.removeprefix("it "))


def test_the_map_is_the_part_that_shows_anything():
    chars = np.full((21, 79), ord(" "), dtype=np.uint8)
    assert describe.map_text(chars) == ""
    chars[4, 10:13] = [ord(c) for c in "|.>"]
    chars[5, 11] = ord("@")
    assert describe.map_text(chars) == "|.>\n @"


def test_what_lies_underfoot_is_read_from_what_the_game_says():
    said = ("There is a staircase up here.  You see here a tiger eye ring.",)
    assert describe.underfoot(said) == "a staircase up; a tiger eye ring"
    assert describe.underfoot(("There is nothing here to pick up.", "You kick it.")) == ""
