"""How fast games of MiniHack are told in words, beside the bare engine on the same games.

python -m bench.minihack            CPU time of one process, and wall time through a child process
"""

import argparse
import json
import random
import sys
import time

from metamem.domains.minihack.engine import Game
from metamem.domains.minihack.world import MiniHackWorld
from metamem.domains.remote import RemoteWorld

GAMES = (
    "MiniHack-Room-Ultimate-15x15-v0",
    "MiniHack-MazeWalk-15x15-v0",
    "MiniHack-Corridor-R3-v0",
    "MiniHack-LavaCross-Full-v0",
)
SECONDS = 2.0


def described(name: str) -> float:
    """Random play in words, episodes begun anew where they end; steps a second of CPU time."""
    world, rng = MiniHackWorld({"name": name, "seed": 1}), random.Random(0)
    seen, steps, began = world.reset(), 0, time.process_time()
    while time.process_time() - began < SECONDS:
        seen = world.reset() if seen.done else world.step(rng.choice(seen.actions))
        steps += 1
    return steps / (time.process_time() - began)


def bare(name: str) -> float:
    """The same game by its own interface: random actions, nothing read."""
    env = Game({"name": name, "seed": 1})._env
    rng = random.Random(0)
    env.reset()
    steps, began = 0, time.process_time()
    while time.process_time() - began < SECONDS:
        done = env.step(rng.randrange(len(env.actions)))[2]
        if done:
            env.reset()
        steps += 1
    return steps / (time.process_time() - began)


def remote(name: str) -> float:
    """In words through the process boundary; steps a second of wall time."""
    world = RemoteWorld("metamem.domains.minihack.world:open_world", {"name": name, "seed": 1}, 0)
    rng = random.Random(0)
    seen, steps, began = world.reset(), 0, time.monotonic()
    while time.monotonic() - began < SECONDS:
        seen = world.reset() if seen.done else world.step(rng.choice(seen.actions))
        steps += 1
    took = time.monotonic() - began
    world.close()
    return steps / took


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    result = {}
    for name in GAMES:
        words, engine, away = described(name), bare(name), remote(name)
        result[name] = {
            "described_steps_per_s": round(words),
            "bare_steps_per_s": round(engine),
            "ratio": round(words / engine, 2),
            "remote_steps_per_s_wall": round(away),
        }
    if chosen.json:
        print(json.dumps(result))
        return 0
    for name, row in result.items():
        print(
            f"{name}: {row['described_steps_per_s']:,} steps/s in words against"
            f" {row['bare_steps_per_s']:,} bare = {row['ratio']:.0%};"
            f" {row['remote_steps_per_s_wall']:,} a second of wall time through a child process"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
