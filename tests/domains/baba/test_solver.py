"""The solver: what it finds wins and is shortest; what it rules out cannot be had."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from metamem.core.types import SPLITS
from metamem.domains.baba.domain import MAX_STEPS, BabaDomain
from metamem.domains.baba.engine import Game, Level
from metamem.domains.baba.levels import draw_level, kinds
from metamem.domains.baba.solver import MOVES, solve
from tests.domains.baba.drawing import level


def shortest(start: Level, steps: int) -> int | None:
    """Every position within the steps, one after the other: how soon a win can be had."""
    seen, front = {Game(start).key}, [Game(start)]
    for taken in range(1, steps + 1):
        further = []
        for game in front:
            for action in MOVES:
                after = game.copy()
                after.step(action)
                if after.won:
                    return taken
                if not after.lost and after.key not in seen:
                    seen.add(after.key)
                    further.append(after)
        front = further
    return None


def played(start: Level, actions: tuple[str, ...]) -> Game:
    game = Game(start)
    for action in actions:
        assert not game.won and not game.lost
        game.step(action)
    return game


def scattered(seed: int) -> Level:
    """A small room in which rules stand, break and turn things into others at every other push."""
    rng = random.Random(seed)
    cells = [["."] * 6 for _ in range(5)]
    cells[4][:3] = ["BABA", "IS", "YOU"]
    places = [(x, y) for y in range(4) for x in range(6)]
    things = [
        "baba",
        "key",
        "ball",
        "KEY",
        "BALL",
        "IS",
        "IS",
        "WIN",
        "YOU",
        "BABA",
        "STOP",
        "wall",
    ]
    for thing, (x, y) in zip(
        things[: rng.randint(7, len(things))], rng.sample(places, len(things)), strict=False
    ):
        cells[y][x] = thing
    return level("\n".join(" ".join(row) for row in cells))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 6))
def test_in_rooms_full_of_words_it_finds_the_shortest_way_or_there_is_none(
    seed: int, steps: int
) -> None:
    start = scattered(seed)
    found = solve(start, steps)
    assert found.proven
    assert (len(found.actions) or None) == shortest(start, steps)
    assert played(start, found.actions).won == bool(found.actions)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(sorted(kinds())), st.integers(0, 500))
def test_in_levels_of_every_kind_it_finds_the_shortest_way(name: str, seed: int) -> None:
    """Far from a win, positions are too many to look at them all: begin a few steps before it."""
    start = draw_level(name, seed)
    whole = solve(start, MAX_STEPS).actions
    near = whole[-6:]
    game = played(start, whole[: len(whole) - len(near)])
    begun = Level(
        game.width, len(game.tops) // game.width, tuple(map(game.stack, range(len(game.tops))))
    )
    found = solve(begun, 6)
    assert len(found.actions) == len(near)
    assert (shortest(begun, 6) or 0) == len(near)


def test_a_level_that_cannot_be_won_is_proven_so_and_a_bound_is_no_proof() -> None:
    walled = level("BABA IS YOU KEY IS WIN WALL IS STOP\nbaba . wall key . . . . .")
    hopeless = solve(walled, 20)
    assert (hopeless.actions, hopeless.proven) == ((), True)
    assert not solve(draw_level("two_room-break_stop-make_win", 0), 20, states=10).proven


def test_who_stands_on_what_wins_leaves_and_comes_back() -> None:
    start = level("BABA IS YOU . .\nKEY IS . WIN .\nbaba . key . .")
    found = solve(start, 20)
    assert played(start, found.actions).won
    assert len(found.actions) == shortest(start, 20)


def test_answers_are_a_ceiling_as_far_as_the_search_goes() -> None:
    """No level of a split is given up: what has no answer cannot be won."""
    domain = BabaDomain(train=20, valid=20, test=20, shift=10)
    for split in SPLITS:
        for task in domain.tasks(split):
            found = solve(draw_level(task.data["id"], task.data["seed"]), MAX_STEPS)
            assert found.proven
            assert len(domain.oracle(task).splitlines()) == len(found.actions)
