"""One game in the real engine. Runs in a process of its own: see `metamem.domains.remote`."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import textworld  # type: ignore[import-untyped,unused-ignore]

from metamem.core.ids import content_id
from metamem.core.types import Observation
from metamem.domains.textworld.world import STATE_MARK

LONGEST_COMMAND = 256
REFUSAL = "That's not a verb I recognise."

_LOADED = 64  # games kept ready; loading one costs as much as a hundred steps
_PROMPT = re.compile(r"\n>[^\n]*\s*$")
_ASKS = re.compile(r"Would you like to RESTART.*", re.DOTALL)
_GAPS = re.compile(r"\n\s*\n+")

# The engine also obeys commands that tell the route (goal), the state (tw-...) or turn back time.
_VERBS = frozenset(
    [
        "go",
        "walk",
        "run",
        "north",
        "south",
        "east",
        "west",
        "n",
        "s",
        "e",
        "w",
        "look",
        "l",
        "examine",
        "x",
        "read",
        "search",
        "check",
        "inventory",
        "i",
        "open",
        "close",
        "lock",
        "unlock",
        "take",
        "get",
        "pick",
        "grab",
        "drop",
        "put",
        "insert",
        "place",
        "eat",
        "drink",
        "cook",
        "fry",
        "roast",
        "grill",
        "cut",
        "slice",
        "chop",
        "dice",
        "prepare",
        "wait",
        "z",
    ]
)
_COMMAND = re.compile(r"[a-z0-9' -]+")
_JOINS = frozenset({"then", "goal"})
# What these do is written in the facts; the rest may also change the order things are listed in.
_LEAVES_NO_TRACE = frozenset({"go", "open", "close", "examine", "look", "inventory"})


def clean(feedback: str) -> str:
    """What the game says, without banner, objective, prompt, status line and closing menu."""
    text = _PROMPT.sub("", feedback)
    text = _ASKS.sub("", text)
    lines = [line.strip() for line in text.splitlines()]
    return _GAPS.sub("\n\n", "\n".join(lines)).strip()


def clean_intro(feedback: str) -> str:
    """The first room alone: what stands before it is the banner and the objective."""
    return clean(feedback[feedback.index("-= ") :])


def is_allowed(command: str) -> bool:
    words = command.lower().split()
    return (
        len(command) <= LONGEST_COMMAND
        and _COMMAND.fullmatch(command.lower()) is not None
        and bool(words)
        and words[0] in _VERBS
        and _JOINS.isdisjoint(words)
    )


@lru_cache(maxsize=_LOADED)
def _load(path: str) -> Any:
    wanted = textworld.EnvInfos(
        score=True, max_score=True, won=True, lost=True, admissible_commands=True
    )
    return textworld.start(path, wanted)


class Engine:
    """A game and the walk to the room where the task starts.

    Texts end in STATE_MARK and the name of the state: under equal names, an equal action always
    has an equal outcome.
    """

    def __init__(self, path: str, walk: list[str]) -> None:
        self._game = _load(path)
        self._path, self._walk = path, walk

    def reset(self) -> Observation:
        state = self._game.reset()
        self._trace, self._strayed = content_id(self._path, self._walk), False
        text = clean_intro(state["feedback"])
        self._actions = tuple(state["admissible_commands"])
        for command in self._walk:
            state, _, _ = self._game.step(command)
            text = clean(state["feedback"])
        return self._seen(state, text)

    def step(self, action: str) -> Observation:
        if not is_allowed(action):
            return Observation(self._marked(REFUSAL), self._actions, self._reward, False)
        if action not in self._actions:
            self._strayed = True  # the parser may have asked something back: only the path tells
        if self._strayed or action.split()[0] not in _LEAVES_NO_TRACE:
            self._trace = content_id(self._trace, action)
        state, _, _ = self._game.step(action)
        return self._seen(state, clean(state["feedback"]))

    def close(self) -> None:
        pass  # the game stays loaded for the next task in it

    def _seen(self, state: Any, text: str) -> Observation:
        self._facts = sorted(map(str, state["_facts"]))
        self._reward = max(state["score"] / state["max_score"], float(state["won"]))
        done = bool(state["won"] or state["lost"])
        self._actions = () if done else tuple(state["admissible_commands"])
        return Observation(self._marked(text), self._actions, self._reward, done)

    def _marked(self, text: str) -> str:
        return text + STATE_MARK + content_id(self._trace, self._facts)


def make(data: Mapping[str, Any], seed: int) -> Engine:
    """The factory. Nothing in a game is left to chance, so the seed plays no part."""
    return Engine(data["path"], list(data["walk"]))
