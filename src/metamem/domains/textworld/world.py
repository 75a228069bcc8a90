"""The world of a task: outcomes that were seen before are remembered, the rest is played.

A learning run plays the same few hundred tasks thousands of times, and games are deterministic.
The engine is started at the first action whose outcome is not known, and catches up then.

Exits are shown with the room they lead out of: "go from kitchen west" for the engine's "go west",
so that an action means the same wherever it is read. The engine's own form does as well.
"""

import re
import sys
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from metamem.core.types import Observation
from metamem.domains.remote import RemoteWorld

STATE_MARK = "\x1f"  # in the engine's texts, between what is seen and the name of the state
ENGINE = "metamem.domains.textworld.engine:make"

_ROOM = re.compile(r"^-= (.+?) =-$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Outcome:
    seen: Observation
    state: str  # its name
    room: str


class Outcomes:
    """The outcomes that were used last, by the state's name and the action."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.hits = self.misses = 0
        self._known: OrderedDict[Hashable, Outcome] = OrderedDict()

    def get(self, key: Hashable) -> Outcome | None:
        found = self._known.get(key)
        if found is None:
            self.misses += 1
        else:
            self.hits += 1
            self._known.move_to_end(key)
        return found

    def put(self, key: Hashable, outcome: Outcome) -> None:
        self._known[key] = outcome
        if len(self._known) > self.size:
            self._known.popitem(last=False)


OUTCOMES = Outcomes(50_000)  # of this process; about 1 kB each


def exit_label(room: str, direction: str) -> str:
    return f"go from {room} {direction}"


class TextworldWorld:
    def __init__(
        self, data: Mapping[str, Any], *, show_actions: bool, outcomes: Outcomes = OUTCOMES
    ) -> None:
        self._data = {"path": data["path"], "walk": list(data["walk"])}
        self._show_actions, self._outcomes = show_actions, outcomes
        self._engine: RemoteWorld | None = None
        self._state = self._room = ""
        self._pending: list[str] = []  # commands that the engine has yet to catch up with
        self._behind = False  # the engine has yet to be reset

    def reset(self) -> Observation:
        self._pending, self._behind = [], True
        return self._outcome((self._data["path"], *self._data["walk"]), None)

    def step(self, action: str) -> Observation:
        prefix = exit_label(self._room, "")
        command = "go " + action.removeprefix(prefix) if action.startswith(prefix) else action
        return self._outcome((self._state, command), command)

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def _outcome(self, key: Hashable, command: str | None) -> Observation:
        known = self._outcomes.get(key)
        if known is None:
            known = self._labelled(self._play(command))
            self._outcomes.put(key, known)
        elif command is not None:
            self._pending.append(command)
        self._state, self._room = known.state, known.room
        return known.seen if self._show_actions else replace(known.seen, actions=())

    def _play(self, command: str | None) -> Observation:
        if self._engine is None:
            self._engine = RemoteWorld(ENGINE, self._data, 0, extra="textworld")
        if self._behind:
            seen = self._engine.reset()
            self._behind = False
        for missed in self._pending:
            self._engine.step(missed)
        self._pending.clear()
        return seen if command is None else self._engine.step(command)

    def _labelled(self, seen: Observation) -> Outcome:
        text, _, state = seen.text.rpartition(STATE_MARK)
        entered = _ROOM.search(text)
        room = entered[1].lower() if entered else self._room
        actions = tuple(
            sys.intern(exit_label(room, a.removeprefix("go ")) if a.startswith("go ") else a)
            for a in seen.actions
        )
        return Outcome(replace(seen, text=text, actions=actions), state, room)
