"""Keys as words, and questions as lists of answers."""

from tests.extras import needs

needs("minihack")

from hypothesis import given
from hypothesis import strategies as st
from nle import nethack

from metamem.domains.minihack.actions import CANCEL, answers, command_names, pointless

LETTERS = "abcdefghijklmnopqrstuvwxyz"
KEYS = tuple(map(ord, LETTERS))


def test_commands_are_named_in_the_game_s_own_order_and_others_left_out():
    keys = (*nethack.CompassDirection, nethack.Command.PICKUP, nethack.Command.ESC, ord("L"))
    names = command_names(keys)
    assert list(names)[:3] == ["north", "east", "south"]
    assert list(names)[-2:] == ["pick up", "far east"]
    assert names["pick up"] == ord(",")


def test_a_direction_can_be_answered_with_the_keys_that_the_game_takes():
    named = answers("In what direction?", tuple(map(ord, "hjkl")), {})
    assert named == {
        "north": ord("k"),
        "east": ord("l"),
        "south": ord("j"),
        "west": ord("h"),
        CANCEL: int(nethack.Command.ESC),
    }


def test_items_are_chosen_by_name_and_told_apart_where_they_share_it():
    items = {"a": "a +1 club (weapon in hand)", "b": "a dagger", "f": "a dagger", "g": "an apple"}
    named = answers("What do you want to wield? [- abf or ?*]", KEYS, items)
    assert named == {
        "choose +1 club": ord("a"),
        "choose dagger": ord("b"),
        "choose dagger f": ord("f"),
        CANCEL: int(nethack.Command.ESC),
    }


def test_yes_and_no_are_words():
    named = answers("There is an apple here; eat it? [ynq] (n)", KEYS, {})
    assert list(named) == ["yes", "no", "no more", CANCEL]


@given(st.sets(st.sampled_from(LETTERS), min_size=1), st.sets(st.sampled_from(LETTERS)))
def test_every_letter_that_is_listed_and_taken_has_one_answer(listed, taken):
    """Also where the game shortens neighbours to a range."""
    items = {letter: f"a thing {letter * 3}" for letter in LETTERS}
    question = f"What do you want to use? [{_shortened(sorted(listed))} or ?*]"
    named = answers(question, {ord(letter) for letter in taken}, items)
    keys = set(named.values()) - {int(nethack.Command.ESC)}
    assert keys == {ord(letter) for letter in listed & taken}
    assert named[CANCEL] == nethack.Command.ESC


def _shortened(letters):
    runs, run = [], []
    for letter in letters:
        if run and ord(letter) != ord(run[-1]) + 1:
            runs, run = [*runs, run], []
        run.append(letter)
    return "".join(r[0] + "-" + r[-1] if len(r) > 2 else "".join(r) for r in [*runs, run])


def test_commands_that_the_game_would_refuse_are_pointless():
    armour, ring = nethack.ARMOR_CLASS, nethack.RING_CLASS
    bare = pointless({}, {}, "", ())
    assert {"wear", "put on", "zap", "pick up", "open"} <= bare
    worn = {"e": "a robe (being worn)", "f": "a ring"}
    dressed = pointless(worn, {"e": armour, "f": ring}, "a key", ("closed door",))
    assert not dressed & {"take off", "put on", "pick up", "open"}
    assert {"wear", "remove"} <= dressed
