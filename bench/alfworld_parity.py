"""Our ALFWorld engine beside the official one, step by step.

Needs the official packages (`pip install alfworld==0.4.2`), which need not live in our own
environment:

    PYTHONPATH=src:. PYTHON -m bench.alfworld_parity check FOLDER --games 120
    PYTHONPATH=src:. PYTHON -m bench.alfworld_parity record tests/domains/alfworld/golden
    PYTHONPATH=src:. PYTHON -m bench.alfworld_parity speed [FOLDER] --games 3

`check` plays real games in both engines and compares intro, text, admissible commands, score and
end after every step. `record` writes transcripts of own games by the official engine, which our
tests replay without it. `speed` says as JSON how fast the official engine is.
"""

import argparse
import json
import lzma
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.alfworld_walks import STYLES, commands, script, undoing
from metamem.core.ids import derive_seed
from metamem.domains.alfworld.engine import AlfworldWorld
from metamem.domains.alfworld.export import game_content
from metamem.domains.alfworld.game import Game, load_game
from metamem.domains.alfworld.generator import generate

Row = list[Any]  # command, text, admissible commands, score, done
FIXTURE = "transcripts.json.xz"


class OfficialEngine:
    """The published engine, as it evaluates agents."""

    def __init__(self) -> None:
        from alfworld.agents.environment.alfred_tw_env import AlfredDemangler, AlfredInfos
        from textworld import EnvInfos
        from textworld.envs.pddl import PddlEnv

        infos = EnvInfos(won=True, admissible_commands=True, extras=["gamefile"])
        self._environment = AlfredInfos(AlfredDemangler(PddlEnv(infos)))

    def load(self, path: Path) -> None:
        self._environment.load(str(path))

    def reset(self) -> Row:
        state = self._environment.reset()
        return ["", state.feedback, list(state["admissible_commands"]), 0, bool(state["won"])]

    def step(self, command: str) -> Row:
        state, score, done = self._environment.step(command)
        return [command, state.feedback, list(state["admissible_commands"]), score, bool(done)]


def own_row(world: AlfworldWorld, command: str | None) -> Row:
    seen = world.reset() if command is None else world.step(command)
    return [command or "", seen.text, list(seen.actions), int(seen.reward), seen.done]


def play(
    engine: OfficialEngine, game: Game, directed: list[str], steps: int, rng: random.Random
) -> list[Row]:
    """A directed walk, then random steps, in the official engine; the first row is its reset."""
    rows = [engine.reset()]
    plan = commands(directed, steps, game, rng)
    command = next(plan)
    while True:
        rows.append(engine.step(command))
        try:
            command = plan.send(tuple(rows[-1][2]))
        except StopIteration:
            return rows


def directed_walk(game: Game, number: int, rng: random.Random) -> list[str]:
    """The styles in turn; the next one where a game has no occasion for the first."""
    turn = [STYLES[(number + offset) % len(STYLES)] for offset in range(len(STYLES))]
    return next((walk for style in turn if (walk := script(style, game, rng))), [])


def first_difference(game: Game, rows: list[Row]) -> tuple[int, Row, Row] | None:
    world = AlfworldWorld(game)
    for number, theirs in enumerate(rows):
        ours = own_row(world, theirs[0] if number else None)
        if ours != theirs:
            return number, ours, theirs
    return None


# --- check ------------------------------------------------------------------------------------


def spread(folder: Path, seed: int) -> list[Path]:
    """All games below a folder: a random one of every split, then another of every split, ..."""
    rng = random.Random(seed)
    ranked = []
    for split in sorted(path for path in folder.iterdir() if path.is_dir()):
        games = sorted(split.glob("**/game.tw-pddl"))
        rng.shuffle(games)
        ranked += [(rank, game) for rank, game in enumerate(games)]
    return [game for _, game in sorted(ranked)]


def check(folder: Path, count: int, steps: int, seed: int) -> int:
    """Compare on real games, spread over the splits; returns the number of differing episodes."""
    paths = spread(folder, seed)
    engine = OfficialEngine()
    compared = episodes = differing = 0
    began = time.perf_counter()
    for number, path in enumerate(paths[:count]):
        game = load_game(path)
        engine.load(path)
        rng = random.Random(derive_seed("parity", seed, number))
        # In turn: how a won game goes on, what directed walks find, and a long random walk.
        plans = ((undoing(game), 3), (directed_walk(game, number, rng), 5), ([], steps))
        for walk, more in (plans[number % 3], plans[(number + 1) % 3]):
            rows = play(engine, game, walk, more, rng)
            compared += len(rows)
            episodes += 1
            difference = first_difference(game, rows)
            if difference:
                differing += 1
                where, ours, theirs = difference
                print(
                    f"{path}: step {where} of {[row[0] for row in rows[: where + 1]]}\n  ours   {ours}\n  theirs {theirs}"
                )
        if number % 10 == 9:
            elapsed = time.perf_counter() - began
            print(
                f"{number + 1} games, {compared} steps, {differing} differ, {elapsed:.0f} s",
                flush=True,
            )
    print(
        f"{min(count, len(paths))} games, {episodes} episodes, {compared} steps compared"
        f" (intro, text, admissible commands, score, done): {differing} episodes differ"
    )
    return differing


# --- record -----------------------------------------------------------------------------------


def write_game(game: Game, path: Path) -> None:
    """As the official engine wants it, with the two texts that its own package has."""
    from alfworld.info import ALFRED_PDDL_PATH, ALFRED_TWL2_PATH

    texts = {
        "pddl_domain": Path(ALFRED_PDDL_PATH).read_text(),
        "grammar": Path(ALFRED_TWL2_PATH).read_text(),
    }
    path.write_text(json.dumps(game_content(game, texts)))


def record(folder: Path, count: int, steps: int, seed: int) -> int:
    """Write what the official engine says in own games. Our own engine plays no part in it."""
    engine = OfficialEngine()
    games = []
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(count):
            game = generate(seed, "golden", number, shifted=number % 4 == 3)
            path = Path(scratch) / f"{number}.tw-pddl"
            write_game(game, path)
            engine.load(path)
            rng = random.Random(derive_seed("golden", seed, number))
            plans = ((undoing(game), 3), (directed_walk(game, number, rng), 3), ([], steps))
            episodes = [play(engine, game, walk, more, rng) for walk, more in plans]
            games.append({"game": game_content(game), "episodes": episodes})
            print(f"{number + 1} of {count} games", flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    raw = json.dumps(games, separators=(",", ":")).encode()
    (folder / FIXTURE).write_bytes(lzma.compress(raw, preset=9 | lzma.PRESET_EXTREME))
    rows = sum(len(episode) for entry in games for episode in entry["episodes"])
    print(f"{len(games)} games, {rows} steps, {(folder / FIXTURE).stat().st_size} bytes")
    return 0


# --- speed ------------------------------------------------------------------------------------


def speed(folder: Path | None, count: int, steps: int, seed: int) -> int:
    """CPU time of the official engine, on games spread over a folder or on own ones."""
    engine = OfficialEngine()
    with tempfile.TemporaryDirectory() as scratch:
        if folder is None:
            folder = Path(scratch)
            for number in range(count):
                write_game(generate(0, "bench", number), folder / f"{number}.tw-pddl")
        paths = sorted(folder.glob("**/*.tw-pddl"))
        measure(engine, paths[:: max(1, len(paths) // count)][:count], steps, seed)
    return 0


def measure(engine: OfficialEngine, paths: list[Path], steps: int, seed: int) -> None:
    load = walk = 0.0
    for path in paths:
        began = time.process_time()
        engine.load(path)
        row = engine.reset()
        loaded = time.process_time()
        rng = random.Random(seed)
        for _ in range(steps):
            row = engine.step(rng.choice(row[2]))
        load += loaded - began
        walk += time.process_time() - loaded
    print(json.dumps({"load_ms": 1e3 * load / len(paths), "per_s": len(paths) * steps / walk}))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    modes = parser.add_subparsers(dest="mode", required=True)
    for mode, games, steps in (("check", 120, 30), ("record", 22, 22), ("speed", 3, 40)):
        options = modes.add_parser(mode)
        options.add_argument("folder", type=Path, nargs="?" if mode == "speed" else None)
        options.add_argument("--games", type=int, default=games)
        options.add_argument("--steps", type=int, default=steps)
        options.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    action = {"check": check, "record": record, "speed": speed}[chosen.mode]
    return 1 if action(chosen.folder, chosen.games, chosen.steps, chosen.seed) else 0


if __name__ == "__main__":
    sys.exit(main())
