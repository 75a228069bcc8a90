"""The solver: what it finds wins and is shortest; what it rules out cannot be had."""

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from metamem.domains.baba.engine import Game
from metamem.domains.baba.levels import draw_level
from metamem.domains.baba.solver import MOVES, solve
from tests.domains.baba.drawing import level

EASY = [
    "goto_win",
    "two_room-goto_win-distr_obj",
    "two_room-break_stop-goto_win",
    "two_room-make_you",
]


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(EASY), st.integers(0, 500), st.booleans())
def test_a_solution_wins_at_its_last_action(name: str, seed: int, guided: bool) -> None:
    start = draw_level(name, seed)
    solution = solve(start, 20, 50_000, guided=guided)
    game = Game(start)
    for action in solution.actions:
        assert not game.won
        game.step(action)
    assert game.won == bool(solution.actions)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 500))
def test_no_shorter_way_exists(seed: int) -> None:
    start = draw_level("goto_win-distr_obj_rule", seed)
    length = len(solve(start, 4, guided=False).actions)
    for ways in (product(MOVES, repeat=n) for n in range(1, length or 5)):
        assert not any(wins(Game(start), way) for way in ways)


def wins(game: Game, actions: tuple[str, ...]) -> bool:
    for action in actions:
        game.step(action)
        if game.won or game.lost:
            return game.won
    return False


def test_a_level_that_cannot_be_won_is_proven_so_and_a_bound_is_no_proof() -> None:
    walled = level("BABA IS YOU KEY IS WIN WALL IS STOP\nbaba . wall key . . . . .")
    hopeless = solve(walled, 20)
    assert (hopeless.actions, hopeless.proven) == ((), True)
    assert not solve(draw_level("two_room-break_stop-make_win", 0), 20, states=50).proven


@settings(max_examples=4, deadline=None)
@given(
    st.sampled_from(["make_win", "make_win-distr_obj_rule", "two_room-make_you-make_win"]),
    st.integers(0, 500),
)
def test_guidance_changes_the_effort_and_not_what_is_possible(name: str, seed: int) -> None:
    start = draw_level(name, seed)
    plain, guided = solve(start, 20, 50_000, guided=False), solve(start, 20, 50_000)
    assert plain.proven
    assert guided.proven
    assert bool(plain.actions) == bool(guided.actions)
    assert len(plain.actions) <= len(guided.actions) <= 20
