"""Pushing boulders: plans do what they say, and none is made where none exists."""

import pytest

from tests.extras import needs

needs("minihack")

from metamem.domains.minihack.actions import OFFSETS
from metamem.domains.minihack.pushing import STRAIGHT, Yard, crossings, push_plan


def read(drawing):
    """`#` rock, `.` floor, `o` boulder, `x` goal, `~` water, `@` the player."""
    cells = {
        (x, y): sign
        for y, line in enumerate(drawing.strip().splitlines())
        for x, sign in enumerate(line.strip())
    }
    of = lambda signs: frozenset(place for place, sign in cells.items() if sign in signs)  # noqa: E731
    (start,) = of("@")
    return of(".ox@"), of("o"), of("x"), of("~"), start


def pushed(way, boulders, start):
    """Where boulders are after these steps."""
    for name in way:
        dx, dy = OFFSETS[name]
        start = (start[0] + dx, start[1] + dy)
        if start in boulders:
            boulders = boulders - {start} | {(start[0] + dx, start[1] + dy)}
    return boulders


ROOM = """
#########
#...#...#
#.o.....#
#.@.#.o.#
#x....x.#
#########
"""


def test_every_goal_gets_its_boulder():
    floor, boulders, goals, _, start = read(ROOM)
    way = push_plan(Yard(floor, goals, 2, STRAIGHT, STRAIGHT), boulders, start, 60)
    assert way and len(way) <= 60
    assert pushed(way, boulders, start) == goals


@pytest.mark.parametrize("steps, nodes", [(3, 4000), (60, 1)])
def test_none_is_told_where_steps_or_patience_do_not_suffice(steps, nodes):
    floor, boulders, goals, _, start = read(ROOM)
    assert not push_plan(Yard(floor, goals, 2, STRAIGHT, STRAIGHT), boulders, start, steps, nodes)


def test_a_boulder_in_a_corner_is_given_up_at_once():
    floor, boulders, goals, _, start = read("#####\n#o..#\n#..@#\n#..x#\n#####")
    assert not push_plan(Yard(floor, goals, 1, STRAIGHT, STRAIGHT), boulders, start, 60)


def test_a_river_is_crossed_where_it_is_narrowest():
    floor, boulders, _, water, start = read("..~~.\n@o~..\n..~~.")
    narrow, *_ = crossings(water, floor)
    assert narrow == [(2, 1)]
    yard = Yard(floor, frozenset(narrow), 1, OFFSETS, OFFSETS)
    assert push_plan(yard, boulders, start, 9) == ["east"]
