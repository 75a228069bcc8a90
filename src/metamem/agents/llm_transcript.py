"""Playing as one running text: `> action`, and what came back. The model writes its next line."""

from collections.abc import Sequence

from metamem.agents.llm_prompt import PROMPT, did, introduced, saw, started, told, within
from metamem.core.chat import Turn
from metamem.core.protocols import Seat
from metamem.core.tokens import count_tokens, truncate_tokens
from metamem.core.types import Observation

_LEFT_OUT = "(Earlier steps are left out here.)\n"


class Transcript:
    """Notes stand where they were given: before the first sight, or after what led to them."""

    running = True

    def __init__(
        self, seat: Seat, examples: Sequence[str], *, history_tokens: int, lists: bool
    ) -> None:
        self._seat, self._examples, self._history = seat, examples, history_tokens
        self._lists = lists or seat.forms  # nothing else tells what the forms are
        self._advice = self._told = ""
        self._first = ""  # the notes before the first action
        self._now = ""  # what is seen, as it was shown last
        self._steps: list[str] = []  # what was seen and then done, one step after the other
        self._intro, self._left, self._room = "", 0, -1

    def advise(self, advice: str) -> None:
        self._advice = advice

    def turns(self, seen: Observation, actions: Sequence[str], room: int) -> tuple[Turn, ...]:
        self._introduce(room)
        ask = f"You can: {'; '.join(actions)}\n" if actions and self._lists else ""
        self._now = saw(seen.text)
        left = self._left - count_tokens(self._now + ask)
        if not self._steps:
            self._first = notes = self._notes(left)
        else:
            notes = self._notes(left) if self._advice != self._told else ""
            self._now += notes
            left -= count_tokens(self._first)
        past = self._remembered(left - count_tokens(notes))
        return (Turn("user", self._intro + self._first + past + self._now + ask + PROMPT),)

    def acted(self, seen: Observation, action: str) -> None:
        """What was shown is part of the text from now on."""
        self._steps.append(self._now + did(action))
        self._told = self._advice

    def _introduce(self, room: int) -> None:
        if self._room != room:
            shown = within(self._examples, room // 2)
            self._intro = introduced(self._seat.rules, shown) + started(self._seat.goal)
            self._left, self._room = room - count_tokens(self._intro), room

    def _notes(self, room: int) -> str:
        """At most half of the room."""
        return told(truncate_tokens(self._advice, max(0, room // 2))[0])

    def _remembered(self, room: int) -> str:
        """The latest steps that fit."""
        left = min(self._history, room) - count_tokens(_LEFT_OUT)
        kept: list[str] = []
        for step in reversed(self._steps):
            left -= count_tokens(step)
            if left < 0:
                return _LEFT_OUT + "".join(reversed(kept))
            kept.append(step)
        return "".join(reversed(kept))
