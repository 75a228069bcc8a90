"""What a player reads, word for word."""

from hypothesis import given
from hypothesis import strategies as st

from metamem.domains.baba.engine import Game
from metamem.domains.baba.levels import draw_level, kinds
from metamem.domains.baba.text import NO_YOU, describe
from tests.domains.baba.drawing import level, played

MAP = """
    BABA IS YOU . . .
    . . . . . .
    WALL IS STOP . . .
    . . . baba . key
    ball . . . . door
    . . . wall . .
"""


def test_rules_and_things_as_seen_from_you() -> None:
    assert describe(Game(level(MAP))) == (
        "Active rules:\n"
        "baba is you\n"
        "wall is stop\n"
        "\n"
        "Objects on the map:\n"
        "rule `baba` 3 step to the left and 3 step up\n"
        "rule `is` 2 step to the left and 3 step up\n"
        "rule `you` 1 step to the left and 3 step up\n"
        "rule `wall` 3 step to the left and 1 step up\n"
        "rule `is` 2 step to the left and 1 step up\n"
        "rule `stop` 1 step to the left and 1 step up\n"
        "key 2 steps to the right\n"
        "ball 3 step to the left and 1 step down\n"
        "door 2 steps to the right and 1 step down\n"
        "wall 2 steps down"
    )


def test_without_parity_plurals_are_right() -> None:
    text = describe(Game(level(MAP)), parity=False)
    assert "rule `baba` 3 steps to the left and 3 steps up" in text
    assert "rule `you` 1 step to the left and 3 steps up" in text
    assert "key 2 steps to the right\n" in text


def test_a_thing_where_offsets_begin() -> None:
    game = Game(level("BALL IS YOU\n. ball ."))
    assert describe(game).split("\n")[-1] == ""
    assert describe(game, parity=False).split("\n")[-1] == "ball here"


def test_the_last_you_rule_gives_the_viewpoint_and_the_first_of_its_type() -> None:
    game = Game(level("BABA IS YOU . .\nKEY IS YOU . .\nbaba . key . key"))
    assert "rule `baba` 2 step to the left and 2 step up" in describe(game)
    gone = Game(level("BABA IS YOU . .\nKEY IS YOU . .\nbaba . . . ."))
    assert "rule `baba` 2 step up" in describe(gone)


def test_replacements_are_not_listed_and_what_is_covered_neither() -> None:
    text = describe(played("BABA IS YOU . .\nKEY IS DOOR . baba\nkey . . . .", "left"))
    assert "key is door" not in text
    assert "\nkey " not in text
    assert "\ndoor " in text


def test_a_lost_level_says_so() -> None:
    assert describe(played(". . . .\nBABA IS YOU .\n. baba . .", "up")) == NO_YOU


@given(st.sampled_from(list(kinds())), st.integers(0, 500))
def test_every_thing_but_baba_has_one_line(name: str, seed: int) -> None:
    start = draw_level(name, seed)
    things = describe(Game(start)).partition("Objects on the map:\n")[2].split("\n")
    tops = [stack[-1] for stack in start.cells if stack]
    assert len(things) == sum(top not in ("baba", "border") for top in tops)
