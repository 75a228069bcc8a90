"""Makes games with TextWorld's own challenges and compiler. Runs in processes of its own.

Reads one order a line from standard input, and answers each with a line.
"""

import ctypes
import json
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

from textworld.challenges import CHALLENGES  # type: ignore[import-untyped,unused-ignore]
from textworld.generator import QuestGenerationError, compile_game  # type: ignore[import-untyped,unused-ignore]
from textworld.generator.game import Game, GameOptions  # type: ignore[import-untyped,unused-ignore]

from metamem.core.ids import derive_seed

_TRIES = 200  # some luck permits no quest of the length that was asked for
_SEEDS = 2**31
_PR_SET_PDEATHSIG = 1


def make_game(order: dict[str, Any]) -> None:
    """One game, put in place whole or not at all."""
    target = Path(order["folder"])
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix="making-", dir=target.parent))
    try:
        options = GameOptions()
        game = _invent(order, options)
        options.path = str(scratch / "game.z8")
        compile_game(game, options)
        (scratch / "game.ni").unlink()  # the source text: of no use to a player
        try:
            scratch.rename(target)
        except OSError:
            if not target.is_dir():  # else another process was first, with the same game
                raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _invent(order: dict[str, Any], options: GameOptions) -> Game:
    _, make, _ = CHALLENGES["tw-" + order["family"]]
    for attempt in range(_TRIES):
        seed = derive_seed(order["seed"], attempt) % _SEEDS
        options.seeds = seed
        try:
            game = make({**order["settings"], "recipe_seed": seed}, options)
        except QuestGenerationError:
            continue
        if order["length"] in (0, len(game.metadata["walkthrough"])):
            return game
    raise RuntimeError(f"no luck in {_TRIES} tries at {order['family']} {order['settings']}")


def main() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(sys.argv[1]):
        return  # the parent died before this process asked to die with it
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the compiler prints is no reply
    for line in sys.stdin:
        try:
            make_game(json.loads(line))
            reply = ""
        except Exception as error:
            reply = f"{type(error).__name__}: {error}".replace("\n", " ")[-2000:]
        print(reply, file=replies, flush=True)


if __name__ == "__main__":
    main()
