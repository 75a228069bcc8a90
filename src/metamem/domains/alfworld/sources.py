"""Where the games of a split come from: the generator, or a folder of official games."""

import random
from dataclasses import dataclass
from pathlib import Path

from metamem.core.errors import DataError, UsageError
from metamem.core.ids import content_id, derive_seed
from metamem.domains.alfworld.game import Game, load_game
from metamem.domains.alfworld.generator import GENERATOR_VERSION, generate
from metamem.domains.base import Sizes

GAMES_FOLDER = "json_2.1.1"
GAME_FILE = "game.tw-pddl"
_FOLDERS = {"train": "train", "valid": "train", "test": "valid_seen", "shift": "valid_unseen"}


@dataclass(frozen=True)
class GeneratedGames:
    """Own games: nothing on disk, everything from the seed."""

    sizes: Sizes
    seed: int

    @property
    def version(self) -> str:
        digest = content_id(GENERATOR_VERSION, self.seed, self.sizes.as_list())
        return f"generated-{GENERATOR_VERSION}-{digest[:16]}"

    def keys(self, split: str) -> list[str]:
        return [f"{split}-{index:04d}" for index in range(self.sizes.of(split))]

    def further(self, number: int) -> list[str]:
        """Games of train beyond those that it has."""
        first = self.sizes.train
        return [f"train-{index:04d}" for index in range(first, first + number)]

    def task_id(self, split: str, key: str) -> str:
        return key  # a number, which tells nothing about the game

    def game(self, key: str) -> Game:
        split, _, index = key.partition("-")
        return generate(self.seed, split, int(index), shifted=split == "shift")

    def describe(self) -> str:
        return "own generated games; shift has unusual rooms, other habits and other goals"


@dataclass(frozen=True)
class OfficialGames:
    """The published games, in the folder that holds `json_2.1.1` (or in that one itself)."""

    folder: Path
    sizes: Sizes
    seed: int

    def __post_init__(self) -> None:
        if not self._root.is_dir():
            raise UsageError(
                f"no ALFWorld games at {self.folder}: it has no folder {GAMES_FOLDER}",
                hint=f"give the folder that holds {GAMES_FOLDER}, or use data='generated'",
            )

    @property
    def _root(self) -> Path:
        return self.folder if self.folder.name == GAMES_FOLDER else self.folder / GAMES_FOLDER

    @property
    def version(self) -> str:
        listed = [
            [path, (self._root / path).stat().st_size]
            for folder in sorted(set(_FOLDERS.values()))
            for path in self._list(folder)
        ]
        return f"official-{content_id(listed, self.seed, self.sizes.as_list())[:16]}"

    def keys(self, split: str) -> list[str]:
        folder = _FOLDERS[split]
        paths = self._shuffled(folder)
        if folder == "train" and len(paths) < self.sizes.train + self.sizes.valid:
            raise UsageError(
                f"{self._root / folder} has {len(paths)} games, but train and valid together"
                f" ask for {self.sizes.train + self.sizes.valid}",
                hint="ask for fewer",
            )
        if split == "valid":  # from the other end of the same folder: never a game of train
            paths.reverse()
        return paths[: self.sizes.of(split)]

    def further(self, number: int) -> list[str]:
        """Games of train beyond those that it has, and none of valid's."""
        paths = self._shuffled(_FOLDERS["train"])
        between = paths[self.sizes.train : len(paths) - self.sizes.valid]
        return between[:number]

    def task_id(self, split: str, key: str) -> str:
        return f"{split}-{content_id(key)[:12]}"  # the path itself names the goal and the scene

    def game(self, key: str) -> Game:
        return load_game(self._root / key)

    def describe(self) -> str:
        return "official games; test is valid_seen, shift is valid_unseen"

    def _shuffled(self, folder: str) -> list[str]:
        paths = self._list(folder)
        random.Random(derive_seed("alfworld split", self.seed, folder)).shuffle(paths)
        return paths

    def _list(self, folder: str) -> list[str]:
        """The games of a folder, relative to the root, in an order that no disk decides."""
        paths = sorted(
            path.relative_to(self._root).as_posix()
            for path in (self._root / folder).glob(f"*/*/{GAME_FILE}")
        )
        if not paths:
            raise DataError(f"{self._root / folder} has no games (*/*/{GAME_FILE})")
        return paths


Source = GeneratedGames | OfficialGames
