"""The rules one by one, in a tiny kitchen."""

import pytest

from metamem.domains.alfworld.engine import HELP, NOTHING, AlfworldWorld
from metamem.domains.alfworld.naming import display_names, listing
from tests.domains.alfworld.kitchen import LOOK, TWO, kitchen, place


def play(world: AlfworldWorld, *commands: str) -> str:
    """Plays commands that must all have an effect; gives the last text."""
    text = ""
    for command in commands:
        text = world.step(command).text
        assert text != NOTHING, command
    return text


def test_names_count_down_in_id_order_and_basins_are_apart():
    ids = ["mug_bar_2", "mug_bar_1", "sink_bar_1_bar_sinkbasin", "sink_bar_1", "agent1"]
    assert display_names(ids) == {
        "mug_bar_1": "mug 2",
        "mug_bar_2": "mug 1",
        "sink_bar_1": "sink 1",
        "sink_bar_1_bar_sinkbasin": "sinkbasin 1",
    }


@pytest.mark.parametrize(
    ("items", "text"),
    [([], "nothing"), (["a"], "a"), (["a", "b"], "a, and b"), (["a", "b", "c"], "a, b, and c")],
)
def test_lists(items, text):
    assert listing(items) == text


def test_intro_lists_all_receptacles_and_the_goal():
    assert kitchen().reset().text == (
        "-= Welcome to TextWorld, ALFRED! =-\n\nYou are in the middle of a room. Looking quickly"
        " around you, you see a countertop 1, a drawer 2, a drawer 1, a fridge 1, a microwave 1,"
        " a sidetable 1, and a sinkbasin 1.\n\nYour task is to: put some pen on drawer."
    )


def test_at_the_start_one_can_only_go_somewhere():
    world = kitchen()
    actions = world.reset().actions
    assert [a for a in actions if not a.startswith("go to ")] == ["help", "inventory", "look"]
    assert len(actions) == 7 + 3
    assert play(world, "look").endswith("Looking quickly around you, you see nothing.")


def test_being_at_one_receptacle_is_being_at_all_of_its_location():
    world = kitchen()
    seen = world.step("go to countertop 1")
    assert seen.text == (
        "You arrive at countertop 1. On the countertop 1, you see a apple 1, and a mug 1."
    )
    assert seen.actions == (
        "examine countertop 1",
        "examine drawer 1",
        "examine drawer 2",
        "go to fridge 1",
        "go to microwave 1",
        "go to sidetable 1",
        "go to sinkbasin 1",
        "help",
        "inventory",
        "look",
        "open drawer 1",
        "open drawer 2",
        "take apple 1 from countertop 1",
        "take mug 1 from countertop 1",
    )
    assert world.step("go to drawer 1").text == NOTHING


def test_doors_hide_what_is_behind_them():
    world = kitchen()
    assert play(world, "go to fridge 1") == "You arrive at fridge 1. The fridge 1 is closed."
    assert world.step("take apple 2 from fridge 1").text == NOTHING
    opened = "The fridge 1 is open. In it, you see a apple 2."
    assert play(world, "open fridge 1") == f"You open the fridge 1. {opened}"
    assert play(world, "examine fridge 1") == opened
    assert play(world, "close fridge 1") == "You close the fridge 1."
    assert play(world, "examine fridge 1") == "The fridge 1 is closed."


def test_the_hand_holds_one_thing():
    world = kitchen()
    assert play(world, "inventory") == "You are not carrying anything."
    assert play(world, "go to sidetable 1", "take pen 2 from sidetable 1") == (
        "You pick up the pen 2 from the sidetable 1."
    )
    assert play(world, "inventory") == "You are carrying: a pen 2."
    assert not [a for a in world.step("look").actions if a.startswith("take ")]
    assert play(world, "move pen 2 to sidetable 1") == "You move the pen 2 to the sidetable 1."


def test_only_what_is_held_can_be_examined():
    world = kitchen()
    play(world, "go to sidetable 1")
    assert world.step("examine pen 2").text == NOTHING
    assert play(world, "take pen 2 from sidetable 1", "examine pen 2") == (
        "There's nothing special about pen 2."
    )


def test_a_thing_in_two_receptacles_stays_listed_in_the_other():
    world = kitchen()
    play(world, "go to sidetable 1", "take mug 1 from sidetable 1")
    assert "a mug 1" in play(world, "go to countertop 1")
    play(world, "move mug 1 to countertop 1", "take mug 1 from countertop 1")
    assert "mug" not in play(world, "examine countertop 1")
    assert "mug" not in play(world, "go to sidetable 1")


def test_look_lists_what_moved_between_receptacles_of_one_location():
    world = kitchen()
    play(world, "go to countertop 1", "open drawer 2", "take knife 1 from drawer 2")
    facing = "You are facing the countertop 1, drawer 2, and drawer 1. Next to it, you see "
    assert play(world, "look") == facing + "nothing."
    play(world, "move knife 1 to countertop 1")
    assert play(world, "look") == facing + "a knife 1."
    play(world, "open drawer 1", "take knife 1 from countertop 1", "move knife 1 to drawer 1")
    assert play(world, "look") == facing + "a knife 1, and a knife 1."
    play(world, "take knife 1 from drawer 1", "move knife 1 to drawer 2")
    assert play(world, "look") == facing + "a knife 1, and a knife 1."


HEAT = ("go to microwave 1", "heat apple 1 with microwave 1")
COOL = ("go to fridge 1", "cool apple 1 with fridge 1")
CLEAN = ("go to sinkbasin 1", "clean apple 1 with sinkbasin 1")


@pytest.mark.parametrize(
    ("steps", "whole", "sliced"),
    [
        ((), "There's nothing special about apple 1.", "This is a sliced apple 1."),
        (HEAT, "This is a hot apple 1.", "This is a hot sliced apple 1."),
        (COOL, "This is a cold apple 1.", "This is a cool sliced apple 1."),
        (CLEAN, "This is a clean apple 1.", "This is a clean sliced apple 1."),
        (
            HEAT + CLEAN,
            "This is a hot and clean apple 1.",
            "This is a hot and clean sliced apple 1.",
        ),
        (
            COOL + CLEAN,
            "This is a cool and clean apple 1.",
            "This is a cool and clean sliced apple 1.",
        ),
        (HEAT + COOL, "This is a cold apple 1.", "This is a cool sliced apple 1."),
        (COOL + HEAT, "This is a hot apple 1.", "This is a hot sliced apple 1."),
    ],
)
def test_what_was_done_to_a_thing_shows_when_it_is_examined(steps, whole, sliced):
    world = kitchen()
    take = ("go to countertop 1", "take apple 1 from countertop 1")
    assert play(world, *take, *steps, "examine apple 1") == whole
    world.reset()
    cut = ("go to drawer 1", "open drawer 2", "take knife 1 from drawer 2")
    assert (
        play(world, *cut, "slice apple 1 with knife 1")
        == "You sliced the apple 1 with the knife 1."
    )
    play(world, "move knife 1 to countertop 1", "take apple 1 from countertop 1")
    assert play(world, *steps, "examine apple 1") == sliced


def test_things_that_hold_things_hide_their_state_and_never_lose_their_contents():
    world = kitchen()
    play(world, "go to sidetable 1", "take mug 1 from sidetable 1", "go to microwave 1")
    assert play(world, "heat mug 1 with microwave 1") == "You heat the mug 1 using the microwave 1."
    assert play(world, "examine mug 1") == "This is a normal mug 1. In it, you see a pen 2."


def test_slicing_reaches_what_lies_here_even_in_no_receptacle():
    world = kitchen()
    play(world, "go to drawer 1", "open drawer 2", "take knife 1 from drawer 2")
    actions = world.step("go to sidetable 1").actions
    assert [a for a in actions if a.startswith("slice")] == ["slice bread 1 with knife 1"]


def test_things_start_cool_where_the_game_says_so():
    world = kitchen(
        place("Apple", "SideTable", "(coolable ?o) (isCool ?o)"), "(isCool apple_bar_1)"
    )
    play(
        world, "go to fridge 1", "open fridge 1", "take apple 2 from fridge 1", "go to sidetable 1"
    )
    assert world.step("move apple 2 to sidetable 1").done


def test_a_lamp_can_be_used_again_and_again():
    world = kitchen()
    assert play(world, "go to sidetable 1", "use desklamp 1") == "You turn on the desklamp 1."
    assert play(world, "use desklamp 1") == "You turn on the desklamp 1."


def test_help_is_the_fixed_text():
    assert play(kitchen(), "help") == HELP
    lines = HELP.splitlines()
    assert (len(lines), HELP[-1]) == (14, "\n")
    assert lines[1] == "  look:                             look around your current location"
    assert lines[7] == "  move (object) to (receptacle):  place an object in or on a receptacle"


@pytest.mark.parametrize(
    "command",
    [
        "",
        "LOOK",
        "look around",
        "go  to fridge 1",
        "put pen 1 in/on drawer 1",
        "fly",
        "go to pen 1",
    ],
)
def test_anything_else_does_nothing(command):
    world = kitchen()
    before = world.reset()
    after = world.step(command)
    assert (after.text, after.actions, after.reward, after.done) == (
        NOTHING,
        before.actions,
        0.0,
        False,
    )


def test_outer_spaces_do_not_matter():
    assert kitchen().step("  look \n").text != NOTHING


GET_APPLE = ("go to countertop 1", "take apple 1 from countertop 1")
PUT_APPLE = ("go to sidetable 1", "move apple 1 to sidetable 1")
TAKE_APPLE = "take apple 1 from sidetable 1"
FETCH_PEN = ("go to sidetable 1", "take pen 2 from sidetable 1")
# goal, the way to it, the step that undoes it
WINS = {
    "place": (
        place("Pen", "Drawer"),
        (*FETCH_PEN, "go to drawer 1", "open drawer 1", "move pen 2 to drawer 1"),
        "take pen 2 from drawer 1",
    ),
    "clean": (
        place("Apple", "SideTable", "(cleanable ?o) (isClean ?o)"),
        (*GET_APPLE, *CLEAN, *PUT_APPLE),
        TAKE_APPLE,
    ),
    "heat": (
        place("Apple", "SideTable", "(heatable ?o) (isHot ?o)"),
        (*GET_APPLE, *HEAT, *PUT_APPLE),
        TAKE_APPLE,
    ),
    "cool": (
        place("Apple", "SideTable", "(coolable ?o) (isCool ?o)"),
        (*GET_APPLE, *COOL, *PUT_APPLE),
        TAKE_APPLE,
    ),
    "two": (
        TWO,
        (
            *(*GET_APPLE, "go to sinkbasin 1", "move apple 1 to sinkbasin 1"),
            *("go to fridge 1", "open fridge 1", "take apple 2 from fridge 1"),
            *("go to sinkbasin 1", "move apple 2 to sinkbasin 1"),
        ),
        "take apple 1 from sinkbasin 1",
    ),
    "look": (LOOK, ("go to sidetable 1", "use desklamp 1", FETCH_PEN[1]), "go to fridge 1"),
}


@pytest.mark.parametrize("kind", WINS)
def test_each_kind_of_goal_is_won_at_the_last_step_and_can_be_undone(kind):
    goal, commands, undo = WINS[kind]
    world = kitchen(goal)
    seen = [world.step(command) for command in commands]
    assert [s.done for s in seen] == [False] * (len(seen) - 1) + [True]
    assert [s.reward for s in seen] == [0.0] * (len(seen) - 1) + [1.0]
    undone = world.step(undo)
    assert (undone.reward, undone.done, undone.text != NOTHING) == (0.0, False, True)


@pytest.mark.parametrize(
    ("goal", "commands"),
    [
        (place("Apple", "SideTable", "(heatable ?o) (isHot ?o)"), (*GET_APPLE, *HEAT, *COOL)),
        (place("Apple", "SideTable", "(cleanable ?o) (isClean ?o)"), GET_APPLE),
    ],
)
def test_an_object_in_the_wrong_state_does_not_count(goal, commands):
    world = kitchen(goal)
    play(world, *commands, "go to sidetable 1")
    assert not world.step("move apple 1 to sidetable 1").done


def test_a_lamp_switched_on_first_counts_on_return():
    world = kitchen(LOOK)
    play(world, "go to sidetable 1", "use desklamp 1", "go to fridge 1", "go to sidetable 1")
    play(world, "take pen 2 from sidetable 1")
    assert not world.step("go to fridge 1").done
    assert world.step("go to sidetable 1").done
