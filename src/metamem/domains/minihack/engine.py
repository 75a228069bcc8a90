"""One NetHack process image: levels made by name and seed, keys pressed, what the game shows.

Only ever imported in the child process that serves worlds: the engine is native.
"""

import random
import re
import signal
import warnings
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from nle import nethack
from numpy.typing import NDArray

from metamem.domains.minihack import describe
from metamem.domains.minihack.boxoban import levels_in

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # about packages that the engine itself uses
    import gymnasium
    from minihack import MiniHack
    from minihack.base import PATH_DAT_DIR
    from minihack.envs import boxohack
    from minihack.envs.keyroom import MiniHackKeyDoor

_SEEN = (
    "glyphs",
    "chars",
    "blstats",
    "message",
    "inv_letters",
    "inv_strs",
    "inv_oclasses",
    "screen_descriptions",
)
_FACED = {  # where the neighbours on the four sides stand among the nine, row by row
    nethack.CompassDirection.N: 1,
    nethack.CompassDirection.W: 3,
    nethack.CompassDirection.E: 5,
    nethack.CompassDirection.S: 7,
}
_IN_QUESTION = 1  # in the engine's internal row: the game waits for one key as an answer
_NO_LIMIT = 1_000_000  # the runner counts steps
_HEADER = re.compile(r"^(?:MAZE|LEVEL):.*$", re.MULTILINE)
# A game that ends makes its process ignore them, which is not for a game to say.
_TAKEN = (signal.SIGHUP, signal.SIGXCPU)
_KEPT = 128  # games kept ready, 3.5 MB each; making one compiles its level description


@dataclass(frozen=True, slots=True)
class View:
    """What the game shows at one moment, copied out of the engine's buffers."""

    glyphs: NDArray[np.int16]
    chars: NDArray[np.uint8]
    stats: NDArray[np.int64]
    things: list[tuple[str, int, int]]  # what is worth telling and where, without the player
    x: int
    y: int
    yourself: str
    items: dict[str, str]
    classes: dict[str, int]  # of the items: weapon, armour, ...
    messages: tuple[str, ...]
    asking: bool

    @property
    def monsters(self) -> list[tuple[int, int]]:
        """Where they stand; pets are none."""
        return describe.monsters_seen(self.glyphs, self.x, self.y)


_ready: OrderedDict[tuple[str, str, bool], Any] = OrderedDict()  # the least used first


def _kept(name: str, folder: str, mapped: bool) -> Any:
    """A game that is ready, or a new one. One that is let go of is closed: it is not freed else."""
    wanted = (name, folder, mapped)
    if wanted not in _ready:
        _ready[wanted] = _made(*wanted)
    _ready.move_to_end(wanted)
    while len(_ready) > _KEPT:
        _, unused = _ready.popitem(last=False)
        unused.close()
    return _ready[wanted]


def _made(name: str, folder: str, mapped: bool) -> Any:
    """A game by its registered name; `folder` holds Boxoban levels, for the games made of them.

    A mapped one is the same level with all its ground in sight: for the oracle alone.
    """
    if folder:
        boxohack.LEVELS_PATH = folder
    compile_level = MiniHack._patch_nhdat
    if mapped:
        MiniHack._patch_nhdat = lambda env, des: compile_level(env, _in_sight(des))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made: Any = gymnasium.make(
                name,
                observation_keys=_SEEN,
                max_episode_steps=_NO_LIMIT,
                penalty_step=0.0,
                disable_env_checker=True,
            ).unwrapped
    finally:
        MiniHack._patch_nhdat = compile_level
    made.actions = (*made.actions, nethack.Command.ESC)  # a question can always be left
    # A won game need not be quit: the next reset ends it, and its last sight stays readable.
    made._quit_game = lambda observation, done: None
    return made


def _in_sight(description: str) -> str:
    """A level's description, or the name of its file, with the flag that shows all the ground."""
    if description.endswith(".des"):
        description = (Path(PATH_DAT_DIR) / description).read_text()
    if "premapped" in description:
        return description
    if "FLAGS:" in description:
        return description.replace("FLAGS:", "FLAGS:premapped,", 1)
    return _HEADER.sub(r"\g<0>\nFLAGS:premapped", description, count=1)


class Game:
    """One level of one game. The same name and seed give the same level and the same luck."""

    def __init__(self, data: Mapping[str, Any], *, mapped: bool = False) -> None:
        self._env = _kept(data["name"], data.get("folder", ""), mapped)
        self._seed = int(data["seed"])
        folder, file = data.get("folder", ""), data.get("file", "")
        self._level = levels_in(Path(folder) / file)[int(data["level"])] if file else ""
        self._place = {int(key): place for place, key in enumerate(self._env.actions)}
        self._messages: list[str] = []
        self._listen()

    @property
    def keys(self) -> tuple[int, ...]:
        """The keys this game takes, in its own order."""
        return tuple(self._place)

    def _listen(self) -> None:
        """Keep every message, also of screens that the engine dismisses on its own."""
        native, at = self._env.nethack, self._env._message_index
        press = type(native).step

        def step(key: int) -> Any:
            observation, done = press(native, key)
            said = describe.text_of(observation[at]).strip()
            if said and said not in self._messages[-1:]:
                self._messages.append(said)
            return observation, done

        native.step = step

    def begin(self) -> View:
        env = self._env
        if self._level:
            env._levels = [self._level]
            env._goal_pos_set = frozenset()  # it is read once before the game sets it
        env.seed(core=self._seed, disp=self._seed, reseed=False, lgen=self._seed)
        random.seed(self._seed)  # NetHack is seeded above; levels put together in Python are not
        self._messages.clear()
        shown, _ = env.reset()
        said = describe.text_of(shown["message"]).strip()
        return self._view(shown, (said,) if said else ())

    def press(self, key: int) -> tuple[View, float, bool]:
        self._messages.clear()
        env, step = self._env, self._env.step
        if isinstance(env, MiniHackKeyDoor):
            # The step of key rooms loops for ever at some doors.
            step = partial(MiniHack.step, env)
            if key == nethack.Command.APPLY:
                self._unlock()
        shown, gained, done, _, info = step(self._place[key])
        if done:
            for number in _TAKEN:
                signal.signal(number, signal.getsignal(number))
        won = info["end_status"] == env.StepStatus.TASK_SUCCESSFUL and gained > 0
        return self._view(shown, tuple(self._messages)), float(won), bool(done)

    def _unlock(self) -> None:
        """What `apply` stands for in the key rooms: use the key on the door that one faces."""
        env = self._env
        letter = env.key_in_inventory("key")
        faced = [
            int(key)
            for key, place in _FACED.items()
            if "closed door" in env.get_neighbor_descriptions()[place]
        ]
        if letter is None or not faced:
            return
        for key in (int(nethack.Command.APPLY), ord(letter), faced[0], ord("y")):
            shown, done = env.nethack.step(key)
        env.last_observation, _ = env._perform_known_steps(shown, done)

    def _view(self, shown: Mapping[str, Any], messages: tuple[str, ...]) -> View:
        stats, words = shown["blstats"].copy(), shown["screen_descriptions"]
        x, y = int(stats[nethack.NLE_BL_X]), int(stats[nethack.NLE_BL_Y])
        items = describe.inventory(shown["inv_letters"], shown["inv_strs"])
        return View(
            glyphs=shown["glyphs"].copy(),
            chars=shown["chars"].copy(),
            stats=stats,
            things=describe.things_seen(shown["glyphs"], words, x, y),
            x=x,
            y=y,
            yourself=describe.text_of(words[y, x]),
            items=items,
            classes=dict(zip(items, shown["inv_oclasses"].tolist(), strict=False)),
            messages=messages,
            asking=bool(self._env.last_observation[self._env._internal_index][_IN_QUESTION]),
        )
