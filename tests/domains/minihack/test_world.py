"""Games through the real engine: seeds, words, questions, ends."""

import os
import random
from pathlib import Path

import pytest

from tests.extras import needs

needs("minihack")

from metamem.core.errors import EngineFault
from metamem.domains.minihack import engine
from metamem.domains.minihack.domain import MiniHackDomain
from metamem.domains.minihack.tasks import FAMILIES, SHIFTED
from metamem.domains.minihack.world import open_world
from metamem.domains.remote import RemoteWorld

FACTORY = "metamem.domains.minihack.world:open_world"
VARIED = [name for family in (*FAMILIES, *SHIFTED) for name in family.names]
FEW = [name for family in FAMILIES for name in family.few]
SHOWN_LATER = {"MiniHack-Quest-Medium-v0", *(n for n in VARIED if "WoD-Pro" in n)}


def walk(data, steps, luck=0):
    """A random walk, as all that was seen of it."""
    world, rng = open_world(data, 0), random.Random(luck)
    seen = [world.reset()]
    while len(seen) <= steps and not seen[-1].done:
        seen.append(world.step(rng.choice(seen[-1].actions)))
    return seen


@pytest.mark.parametrize("name", VARIED[::6])
def test_the_same_seed_gives_the_same_game_step_by_step(name):
    first = walk({"name": name, "seed": 7}, 40)
    walk({"name": VARIED[0], "seed": 1}, 5)  # another game in between leaves no trace
    assert walk({"name": name, "seed": 7}, 40) == first


def test_two_processes_see_the_same():
    data = {"name": "MiniHack-Room-Ultimate-15x15-v0", "seed": 11}
    here = walk(data, 25)
    world, rng = RemoteWorld(FACTORY, data, 5), random.Random(0)
    assert world.reset() == here[0]
    for seen in here[1:]:
        before = here[here.index(seen) - 1]
        assert world.step(rng.choice(before.actions)) == seen
    world.close()


@pytest.mark.parametrize("name", VARIED)
def test_other_seeds_give_other_levels(name):
    firsts = {open_world({"name": name, "seed": seed}, 0).reset().text for seed in range(8)}
    assert len(firsts) >= (1 if name in SHOWN_LATER else 4)


def test_an_observation_stays_what_it_was():
    world = open_world({"name": "MiniHack-Room-Random-15x15-v0", "seed": 3}, 0)
    world.reset()
    before = world.view
    glyphs, place = before.glyphs.copy(), (before.x, before.y)
    world.step("east")
    assert (world.view.x, world.view.y) != place
    assert (before.glyphs == glyphs).all() and (before.x, before.y) == place


def test_what_is_seen_is_told_and_the_goal_is_reached():
    world = open_world({"name": "MiniHack-Eat-Fixed-v0", "seed": 0}, 0)
    seen = world.reset()
    assert "an apple very near northwest" in seen.text.splitlines()
    assert "\n%....\n" in seen.text and "condition: hit points 16 of 16" in seen.text
    assert "eat" not in seen.actions and "pick up" not in seen.actions
    for _ in range(2):
        seen = world.step("northwest")
    assert "here: an apple" in seen.text.splitlines()
    assert "pick up" in seen.actions
    seen = world.step("eat")
    assert "eat it?" in seen.text and seen.actions == ("yes", "no", "no more", "cancel")
    seen = world.step("yes")
    assert (seen.reward, seen.done, seen.actions) == (1.0, True, ())


def test_a_question_can_be_left_and_an_impossible_action_changes_nothing():
    world = open_world({"name": "MiniHack-Wield-Fixed-v0", "seed": 0}, 0)
    first = world.reset()
    asked = world.step("wield")
    assert "choose +2 sling" in asked.actions and "north" not in asked.actions
    refused = world.step("north")
    assert refused.text.startswith("message: 'north' is not possible now.")
    assert refused.actions == asked.actions
    left = world.step("cancel")
    assert left.actions == first.actions


def _ignored() -> str:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(line for line in lines if line.startswith("SigIgn"))


def test_every_message_is_told_also_of_screens_dismissed_on_the_way():
    before = _ignored()
    world = open_world({"name": "MiniHack-WoD-Easy-Full-v0", "seed": 0}, 0)
    seen = world.reset()
    while not seen.done:
        seen = world.step("east")
    assert "minotaur" in seen.text and "You die..." in seen.text
    assert seen.reward == 0.0 and "--More--" not in seen.text
    # Nor does a game's end change what the process does with signals, which all that it starts inherits.
    assert _ignored() == before


def test_moves_into_walls_in_sight_are_not_offered():
    world = open_world({"name": "MiniHack-LavaCross-Full-v0", "seed": 2}, 0)
    seen = world.reset()
    for _ in range(12):
        if "west" not in seen.actions:
            break
        seen = world.step("west")
    assert not {"west", "far west", "northwest", "southwest"} & set(seen.actions)
    assert {"north", "south"} & set(seen.actions)


def test_a_key_opens_the_door_that_one_faces_and_no_other():
    """The engine's own `apply` never returns at a door that stands diagonally."""
    data = {"name": "MiniHack-KeyRoom-S5-v0", "seed": 4}
    for luck in range(3):
        assert len(walk(data, 100, luck)) > 1


@pytest.mark.parametrize("name", FEW)
def test_games_of_few_levels_can_be_played(name):
    assert len(walk({"name": name, "seed": 1}, 15)) > 1


def test_an_unknown_game_is_the_engine_s_fault_and_is_said():
    with pytest.raises(EngineFault, match="No-Such"):
        RemoteWorld(FACTORY, {"name": "MiniHack-No-Such-v0", "seed": 0}, 0)


def test_games_that_are_let_go_of_are_freed(monkeypatch):
    """Each game holds megabytes of its own; a long run would fill the machine."""
    monkeypatch.setattr(engine, "_KEPT", 2)
    names = sorted({task.data["name"] for task in MiniHackDomain().tasks("train")})[:30]
    for name in names[:10]:
        engine.Game({"name": name, "seed": 1}).begin()
    before = resident_mb()
    for name in names[10:]:
        engine.Game({"name": name, "seed": 1}).begin()
    assert resident_mb() - before < 30  # twenty games that are kept take seventy


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
