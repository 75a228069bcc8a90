"""What holds in every game, whatever is played."""

import os
import random
import subprocess
import sys

from hypothesis import given, settings
from hypothesis import strategies as st

from metamem.domains.alfworld.engine import NOTHING, AlfworldWorld
from metamem.domains.alfworld.generator import generate

GAMES = st.builds(
    lambda seed, index, shifted: generate(seed, "tested", index, shifted=shifted),
    st.integers(0, 3),
    st.integers(0, 10_000),
    st.booleans(),
)


def walk(world, seed, steps=25):
    rng = random.Random(seed)
    seen = [world.reset()]
    for _ in range(steps):
        seen.append(world.step(rng.choice(seen[-1].actions)))
    return seen


@settings(max_examples=60, deadline=None)
@given(GAMES, st.integers())
def test_same_game_and_commands_give_the_same_episode_also_after_reset(game, seed):
    world = AlfworldWorld(game)
    first = walk(world, seed)
    assert walk(world, seed) == first
    assert walk(AlfworldWorld(game), seed) == first


@settings(max_examples=60, deadline=None)
@given(GAMES, st.integers())
def test_admissible_commands_are_sorted_unique_and_all_work(game, seed):
    for seen in walk(AlfworldWorld(game), seed):
        assert list(seen.actions) == sorted(set(seen.actions))
        assert {"help", "inventory", "look"} <= set(seen.actions)
        assert seen.text != NOTHING


@settings(max_examples=60, deadline=None)
@given(GAMES, st.integers(), st.text(max_size=30))
def test_a_command_outside_the_list_changes_nothing(game, seed, noise):
    plain, disturbed = AlfworldWorld(game), AlfworldWorld(game)
    rng = random.Random(seed)
    seen = plain.reset()
    everything = [f"take {t.name} from {r.name}" for t in game.things for r in game.receptacles]
    for _ in range(20):
        wrong = rng.choice([noise, rng.choice(everything), "go to " + noise])
        if wrong.strip() not in seen.actions:
            answer = disturbed.step(wrong)
            assert (answer.text, answer.actions) == (NOTHING, seen.actions)
        command = rng.choice(seen.actions)
        seen = plain.step(command)
        assert disturbed.step(command) == seen


EPISODES = """
import random
from metamem.core.ids import content_id
from metamem.domains.alfworld.domain import AlfworldDomain
domain = AlfworldDomain("generated", train=15, shift=15)
seen = []
for task in (*domain.tasks("train"), *domain.tasks("shift")):
    world, rng = domain.world(task, 0), random.Random(1)
    last = world.reset()
    for _ in range(15):
        seen.append([last.text, list(last.actions)])
        last = world.step(rng.choice(last.actions))
print(content_id(seen))
"""


def test_nothing_depends_on_the_hash_seed():
    digests = {
        subprocess.run(
            [sys.executable, "-c", EPISODES],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(digests) == 1
