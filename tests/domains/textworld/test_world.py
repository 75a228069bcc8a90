"""The world: what it shows, what it refuses, and that remembered outcomes are the engine's own."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.domains.remote import RemoteWorld
from metamem.domains.textworld.engine import REFUSAL, clean, clean_intro, is_allowed
from metamem.domains.textworld.world import ENGINE, STATE_MARK, Outcomes, TextworldWorld


def walk(world, actions):
    return [world.reset(), *(world.step(action) for action in actions)]


def wander(world, seed, steps):
    """A random walk, mostly through rooms, with some commands that are not possible."""
    rng, seen, taken = random.Random(seed), world.reset(), []
    while len(taken) < steps and not seen.done:
        quiet = [a for a in seen.actions if a.split()[0] in ("go", "open", "close", "look")]
        action = rng.choice(quiet if rng.random() < 0.7 else seen.actions)
        if rng.random() < 0.03:
            action = "take moon"
        taken.append(action)
        seen = world.step(action)
    return taken


@pytest.mark.slow
def test_remembered_outcomes_are_those_of_the_engine(small):
    domain, outcomes = small(), Outcomes(10_000)
    for task in (*domain.tasks("train")[:2], domain.tasks("shift")[0]):
        for seed in range(2):
            world = TextworldWorld(task.data, show_actions=True, outcomes=outcomes)
            actions = wander(world, seed, 40)
            said = walk(world, actions)  # now wholly from memory
            world.close()
            fresh = TextworldWorld(task.data, show_actions=True, outcomes=Outcomes(0))
            assert walk(fresh, actions) == said
            fresh.close()
    assert outcomes.hits > 200


def test_a_path_that_leaves_the_known_is_played_on_from_there(small):
    domain, outcomes = small(), Outcomes(1000)
    task = domain.tasks("train")[0]
    *way, last = task.data["plan"]
    first = TextworldWorld(task.data, show_actions=True, outcomes=outcomes)
    walk(first, way)
    first.close()
    misses = outcomes.misses
    second = TextworldWorld(task.data, show_actions=True, outcomes=outcomes)
    walk(second, way)
    assert outcomes.misses == misses
    assert second.step(last).reward == 1.0
    assert outcomes.misses == misses + 1
    second.close()


def test_the_memory_of_outcomes_is_bounded_and_drops_the_least_used():
    outcomes = Outcomes(2)
    for key in "ab":
        outcomes.put(key, key)
    assert outcomes.get("a") == "a"
    outcomes.put("c", "c")
    assert [outcomes.get(key) for key in "abc"] == ["a", None, "c"]


def test_exits_are_named_by_room_and_the_engines_own_form_does_as_well(small):
    task = small().tasks("train")[0]
    worlds = [TextworldWorld(task.data, show_actions=True) for _ in range(2)]
    seen = worlds[0].reset()
    room = seen.text.splitlines()[0].strip("-= ").lower()
    exits = [a for a in seen.actions if a.startswith("go ")]
    assert exits and all(a.startswith(f"go from {room} ") for a in exits)
    worlds[1].reset()
    assert worlds[0].step(exits[0]) == worlds[1].step("go " + exits[0].split()[-1])
    for world in worlds:
        world.close()


@pytest.mark.parametrize(
    "command",
    ["goal", "look then goal", "look. goal", "look, goal", "tw-print state", "undo", "restart", ""],
)
def test_commands_that_would_tell_the_route_or_turn_back_time_do_nothing(small, command):
    task = small().tasks("train")[0]
    world = TextworldWorld(task.data, show_actions=True)
    before = world.reset()
    refused = world.step(command)
    assert (refused.text, refused.actions) == (REFUSAL, before.actions)
    assert world.step("look").actions == before.actions
    world.close()


def test_the_engine_names_equal_states_equally_and_forgets_nothing_that_matters(small):
    task = next(t for t in small().tasks("train") if t.kind == "cooking")
    engine = RemoteWorld(ENGINE, {"path": task.data["path"], "walk": task.data["walk"]}, 0)

    def state(*actions):
        engine.reset()
        return [engine.step(a).text.rpartition(STATE_MARK)[2] for a in actions][-1]

    assert state("look") == state("inventory", "look")
    assert state("look") != state("take moon", "look")
    engine.close()


@given(st.text(max_size=300))
def test_no_forbidden_word_passes(command):
    if is_allowed(command):
        words = command.lower().split()
        assert "goal" not in words and "then" not in words
        assert not words[0].startswith("tw") and len(command) <= 256
        assert not set(command) & set(".,;:\n")


def test_cleaning_leaves_what_the_game_says():
    status = "\n>" + " " * 100 + "-= Attic =-0/3"
    assert clean("\n\nYou take the coin.\n\n\n\nYour score has just gone up." + status) == (
        "You take the coin.\n\nYour score has just gone up."
    )
    end = (
        "\n\n      *** The End ***\n\nWould you like to RESTART, QUIT?\n>" + " " * 9 + "-= A =-0/1"
    )
    assert clean("Done." + end) == "Done.\n\n*** The End ***"
    banner = "\n\n   |  \\ $$\n\nFirst, go north. Then take it.\n\n-= Attic =-\nAn attic.\n"
    assert clean_intro(banner + status) == "-= Attic =-\nAn attic."
