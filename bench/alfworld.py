"""How fast our ALFWorld engine is, beside the official one.

python -m bench.alfworld                         compared with recorded figures of the official engine
python -m bench.alfworld --official PYTHON       compared with it live; PYTHON has `alfworld` installed
python -m bench.alfworld --data FOLDER           on official games instead of own ones
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from metamem.domains.alfworld.engine import AlfworldWorld
from metamem.domains.alfworld.export import game_content
from metamem.domains.alfworld.game import load_game
from metamem.domains.alfworld.generator import generate

# CPU time of alfworld 0.4.2 with textworld 1.7.0 on Python 3.11: the best that was seen.
RECORDED = {"per_s": 9.0, "load_ms": 1100.0}
GAMES = 60
STEPS = 200
ROOT = Path(__file__).resolve().parents[1]


def write_games(folder: Path) -> None:
    for number in range(GAMES):
        content = game_content(generate(0, "bench", number))
        (folder / f"{number:03d}.tw-pddl").write_text(json.dumps(content))


def measure(folder: Path) -> dict[str, float]:
    """CPU seconds of loading, and of random play with the admissible commands computed."""
    paths = sorted(folder.glob("**/*.tw-pddl"))
    paths = paths[:: max(1, len(paths) // GAMES)][:GAMES]
    began = time.process_time()
    games = [load_game(path) for path in paths]
    load = time.process_time() - began
    rng = random.Random(0)
    began = time.process_time()
    for game in games:
        world = AlfworldWorld(game)
        seen = world.reset()
        for _ in range(STEPS):
            seen = world.step(rng.choice(seen.actions))
    play = time.process_time() - began
    return {"per_s": len(games) * STEPS / play, "load_ms": 1e3 * load / len(games)}


def measure_generator() -> float:
    generate(0, "warm", 0)
    began = time.process_time()
    for number in range(200):
        generate(0, "bench", number)
    return (time.process_time() - began) * 1e3 / 200


def measure_official(python: str, folder: Path | None) -> dict[str, float]:
    """In its own process; without a folder it writes the first of the same own games itself."""
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    with tempfile.TemporaryDirectory() as scratch:  # the package makes its data folder on import
        done = subprocess.run(
            [python, "-m", "bench.alfworld_parity", "speed", *([str(folder)] if folder else [])],
            env={**os.environ, "PYTHONPATH": paths, "ALFWORLD_DATA": scratch},
            capture_output=True,
            text=True,
            timeout=600,
            check=True,
        )
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with official games")
    parser.add_argument("--official", metavar="PYTHON", help="Python that has alfworld installed")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = chosen.data or Path(scratch)
        if not chosen.data:
            write_games(folder)
        ours = measure(folder)
        theirs = measure_official(chosen.official, chosen.data) if chosen.official else RECORDED
    result = {
        "steps_per_s": round(ours["per_s"]),
        "official_steps_per_s": round(theirs["per_s"], 1),
        "steps_ratio": round(ours["per_s"] / theirs["per_s"]),
        "load_ms": round(ours["load_ms"], 2),
        "official_load_ms": round(theirs["load_ms"]),
        "load_ratio": round(theirs["load_ms"] / ours["load_ms"]),
        "generate_ms": round(measure_generator(), 2),
        "official_measured": "live" if chosen.official else "recorded",
    }
    if chosen.json:
        print(json.dumps(result))
        return 0
    print(f"official engine: {result['official_measured']} figures; CPU time, one core")
    print(
        f"steps/s with admissible commands: {result['steps_per_s']:,}"
        f" against {result['official_steps_per_s']} = {result['steps_ratio']:,} times"
    )
    print(
        f"loading a game: {result['load_ms']} ms against {result['official_load_ms']:,} ms"
        f" = {result['load_ratio']:,} times"
    )
    print(f"generating a game: {result['generate_ms']} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
