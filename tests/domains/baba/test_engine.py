"""The rules of play: pushing, making and breaking rules, YOU, WIN, STOP, replacement."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from metamem.domains.baba.engine import ACTIONS, Game, Level
from metamem.domains.baba.levels import draw_level, kinds
from tests.domains.baba.drawing import drawn, level, played, same
from tests.domains.baba.naive import NaiveGame

YOU = "BABA IS YOU . . .\n"  # a rule along the top, out of the way


def test_you_moves_by_one_cell_and_not_through_the_border() -> None:
    start = YOU + ". baba . . . ."
    assert drawn(played(start, "right")) == same(YOU + ". . baba . . .")
    assert drawn(played(start, "down")) == same(start)


def test_blocks_are_pushed_in_a_chain_until_the_border_stops_them() -> None:
    start = YOU + "baba KEY WIN . . ."
    assert drawn(played(start, "right")) == same(YOU + ". baba KEY WIN . .")
    pushed = played(start, *["right"] * 9)
    assert drawn(pushed) == same(YOU + ". . . baba KEY WIN")


def test_objects_are_walked_onto_and_left_again() -> None:
    start = YOU + "baba ball . . . ."
    assert drawn(played(start, "right")) == same(YOU + ". ball+baba . . . .")
    assert drawn(played(start, "right", "right")) == same(YOU + ". ball baba . . .")


def test_a_block_is_pushed_onto_an_object_and_hides_it() -> None:
    game = played(YOU + "baba KEY ball . . .", "right")
    assert drawn(game) == same(YOU + ". baba ball+KEY . . .")


def test_what_is_stop_blocks_you_and_what_you_push() -> None:
    rules = "BABA IS YOU WALL IS STOP\n"
    for row in ("baba wall . . . .", "baba KEY wall . . ."):
        assert drawn(played(rules + row, "right")) == same(rules + row)
    assert drawn(played(YOU + "baba wall . . . .", "right")) == same(YOU + ". wall+baba . . . .")


def test_a_push_can_bare_something_that_then_stops_the_pusher() -> None:
    rules = "BABA IS YOU WALL IS STOP\n"
    game = played(rules + "baba wall+KEY . . . .", "right")
    assert drawn(game) == same(rules + "baba wall KEY . . .")


def test_pushing_a_word_away_breaks_a_rule_and_pushing_it_back_makes_it() -> None:
    start = """
        BABA IS YOU . .
        . . . . .
        . . . . .
        KEY IS WIN . .
        . . baba . .
    """
    assert ("key", "win") in played(start).rules()
    away = ["up"]
    assert played(start, *away).rules() == [("baba", "you")]
    back = ["right", "up", "up", "left", "down"]
    assert ("key", "win") in played(start, *away, *back).rules()


def test_pushing_a_word_into_place_makes_a_rule() -> None:
    start = YOU + "KEY IS . . . .\n. . WIN . . .\n. . baba . . ."
    assert played(start).rules() == [("baba", "you")]
    assert played(start, "up").rules() == [("baba", "you"), ("key", "win")]


def test_rules_are_read_downwards_too_and_twice_when_they_stand_twice() -> None:
    game = played("BABA IS YOU\nIS . .\nYOU baba .")
    assert game.rules() == [("baba", "you"), ("baba", "you")]


def test_a_covered_block_is_not_read() -> None:
    assert played("BABA IS YOU . .\nKEY IS+ball WIN . baba").rules() == [("baba", "you")]


def test_reaching_what_is_win_wins() -> None:
    rules = "BABA IS YOU KEY IS WIN\n"
    assert not played(rules + "baba . key . . .", "right").won
    assert played(rules + "baba . key . . .", "right", "right").won
    assert not played(rules + "baba ball . . . .", "right").won


def test_winning_is_judged_before_rules_are_read_again() -> None:
    made = played("BABA IS YOU . .\nKEY IS . key+WIN baba", "left")
    assert drawn(made) == same("BABA IS YOU . .\nKEY IS WIN key+baba .")
    assert ("key", "win") in made.rules()
    assert not made.won
    broken = played("BABA IS YOU . .\n. . . . .\nKEY IS key+WIN . .\n. . baba . .", "up")
    assert ("key", "win") not in broken.rules()
    assert broken.won


def test_one_who_is_you_and_win_wins_by_a_bump() -> None:
    rules = "BABA IS YOU . BABA\n. . . . IS\n. . . . WIN\n"
    assert played(rules + "baba . . . .", "left").won
    assert not played(rules + "baba . . . .", "right").won


def test_two_neighbours_that_are_you_the_first_walks_onto_the_second() -> None:
    rules = "KEY IS YOU . . .\n"
    assert drawn(played(rules + ". key key . . .", "right")) == same(rules + ". . key+key . . .")
    assert drawn(played(rules + ". key key . . .", "left")) == same(rules + "key key . . . .")


def test_the_last_of_several_you_decides() -> None:
    rules = "BABA IS YOU KEY IS WIN\n"
    assert not played(rules + "baba key . baba . .", "right").won
    assert played(rules + "baba . . baba key .", "right").won


def test_without_you_the_level_is_lost() -> None:
    start = ". . . .\nBABA IS YOU .\n. baba . ."
    assert not played(start).lost
    assert played(start, "up").lost
    assert not played(start.removeprefix(". . . .\n"), "up").lost  # the border holds the words


def test_replacement_stacks_the_new_object_on_the_old() -> None:
    start = "BABA IS YOU . .\nKEY IS . BALL baba\nkey . . . key"
    turned = played(start, "left")
    assert drawn(turned) == same("BABA IS YOU . .\nKEY IS BALL baba .\nkey+ball . . . key+ball")
    assert turned.rules() == [("baba", "you")]


def test_replacement_is_not_applied_at_the_start_nor_by_idling() -> None:
    start = "BABA IS YOU . .\nKEY IS BALL . baba\nkey . . . ."
    assert drawn(played(start, "idle")) == same(start)
    assert "key+ball" in drawn(played(start, "right"))


def test_turning_you_into_something_else_loses() -> None:
    assert played("BABA IS YOU . .\nBABA IS KEY . baba", "right").lost


# --- any position, any actions --------------------------------------------------------------

CELLS = (
    *("." for _ in range(6)),
    *("baba", "ball", "key", "wall", "key+baba", "BABA", "KEY", "WALL"),
    *("IS", "IS", "IS", "YOU", "WIN", "STOP"),
)
moves = st.lists(st.sampled_from(ACTIONS), min_size=1, max_size=25)


@st.composite
def grids(draw: st.DrawFn) -> Level:
    width = draw(st.integers(3, 7))
    rows = draw(
        st.lists(
            st.lists(st.sampled_from(CELLS), min_size=width, max_size=width), min_size=1, max_size=6
        )
    )
    noun = draw(st.sampled_from(("BABA", "KEY")))
    first = [noun, "IS", "YOU", *["."] * (width - 3)]
    return level("\n".join(" ".join(row) for row in [first, *rows]))


@st.composite
def real_levels(draw: st.DrawFn) -> Level:
    return draw_level(draw(st.sampled_from(list(kinds()))), draw(st.integers(0, 10_000)))


@settings(max_examples=150, deadline=None)
@given(st.one_of(grids(), real_levels()), moves)
def test_the_engine_agrees_with_a_literal_one(start: Level, actions: list[str]) -> None:
    game, naive = Game(start), NaiveGame(start)
    for action in actions:
        game.step(action)
        naive.step(action)
        assert [game.stack(place) for place in range(len(game.tops))] == naive.cells()
        assert (game.rules(), game.won) == (naive.rules, naive.won)
        if action != "idle":
            assert game.lost == naive.lost


@settings(max_examples=60, deadline=None)
@given(real_levels(), moves)
def test_nothing_appears_or_vanishes_without_a_replacement(
    start: Level, actions: list[str]
) -> None:
    game = Game(start)
    before = Counter(name for stack in start.cells for name in stack)
    for action in actions:
        game.step(action)
        if NaiveGame(_level_of(game)).turns:
            return
        after = Counter(n for place in range(len(game.tops)) for n in game.stack(place))
        assert after == before


@settings(max_examples=60, deadline=None)
@given(real_levels(), moves)
def test_a_copy_goes_its_own_way(start: Level, actions: list[str]) -> None:
    game = Game(start)
    twin, key = game.copy(), game.key
    for action in actions:
        twin.step(action)
    assert game.key == key
    again = game.copy()
    for action in actions:
        again.step(action)
    assert (again.key, again.won, again.rules()) == (twin.key, twin.won, twin.rules())


def _level_of(game: Game) -> Level:
    height = len(game.tops) // game.width
    return Level(game.width, height, tuple(game.stack(p) for p in range(len(game.tops))))
