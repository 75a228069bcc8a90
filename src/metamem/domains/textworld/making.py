"""Makes games with TextWorld's own challenges and compiler, in the factory's process."""

import shutil
import tempfile
from pathlib import Path
from typing import Any

from textworld.challenges import CHALLENGES  # type: ignore[import-untyped,unused-ignore]
from textworld.generator import QuestGenerationError, compile_game  # type: ignore[import-untyped,unused-ignore]
from textworld.generator.game import Game, GameOptions  # type: ignore[import-untyped,unused-ignore]

from metamem.core.ids import derive_seed

_TRIES = 200  # some luck permits no quest of the length that was asked for
_SEEDS = 2**31


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
