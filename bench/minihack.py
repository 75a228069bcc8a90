"""How fast games of MiniHack are told in words, beside the bare engine on the same games.

python -m bench.minihack            CPU time of one process, and wall time through a child process
python -m bench.minihack --bounds   steps that the longest games take at least, beside those there are
"""

import argparse
import json
import random
import sys
import time

from scipy.optimize import linear_sum_assignment

from metamem.domains.minihack.domain import MiniHackDomain
from metamem.domains.minihack.engine import Game
from metamem.domains.minihack.terrain import Ground
from metamem.domains.minihack.world import MiniHackWorld
from metamem.domains.remote import RemoteWorld

GAMES = (
    "MiniHack-Room-Ultimate-15x15-v0",
    "MiniHack-MazeWalk-15x15-v0",
    "MiniHack-Corridor-R3-v0",
    "MiniHack-LavaCross-Full-v0",
)
SECONDS = 2.0
STAIRS_DOWN, TRAPS = 24, range(42, 65)  # symbols of the display


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


def bounds() -> dict[str, int]:
    """Steps that no player can do without: the shortest way, or a push for each cell that boulders
    lie from the pits, each pit with a boulder of its own. Games with runs are left out.
    """
    least = {}
    for name in ("Labyrinth-Big-v0", "WoD-Pro-Restricted-v0"):
        view = Game({"name": f"MiniHack-{name}", "seed": 1}, mapped=True).begin()
        ground = Ground.of(view)
        stairs = ground.places(STAIRS_DOWN)
        least[name] = len(ground.way((view.x, view.y), lambda place, at=stairs: place in at))
    for level in ("1a", "1b", "2a", "2b", "3a", "3b", "4a", "4b"):
        name = f"Sokoban{level}-v1"
        view = Game({"name": f"MiniHack-{name}", "seed": 1}, mapped=True).begin()
        ground = Ground.of(view)
        pits, boulders = ground.places(*TRAPS), sorted(ground.piled())
        apart = [[abs(x - p) + abs(y - q) for p, q in boulders] for x, y in pits]
        rows, columns = linear_sum_assignment(apart)
        least[name] = sum(apart[r][c] for r, c in zip(rows, columns, strict=True))
    return least


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bounds", action="store_true")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    if chosen.bounds:
        for name, steps in bounds().items():
            verdict = "cannot be won" if steps > MiniHackDomain.max_steps else "not ruled out"
            print(f"{name}: at least {steps} steps of {MiniHackDomain.max_steps}: {verdict}")
        return 0
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
