"""Playing as a conversation: what was seen is said by the user, what was done by the model."""

from collections.abc import Sequence

from metamem.agents.llm_prompt import NOTES, bracketed, within
from metamem.core.chat import Turn
from metamem.core.protocols import Seat
from metamem.core.tokens import count_tokens, truncate_tokens
from metamem.core.types import Observation

_ONE_LINE = "Reply with the next action alone: one line, word for word from the list."
_FORM = "Reply with the next action alone, in one of the forms above, and nothing else."
_FREE = "Reply with the next action alone, and nothing else."
_THINK = "First think in a sentence. Then write the action on a line of its own after 'Action:'."


class Conversation:
    """Only the last turn changes with advice and actions, so that the rest can be cached."""

    running = False

    def __init__(
        self, seat: Seat, examples: Sequence[str], *, history_tokens: int, thinks: bool
    ) -> None:
        self._seat, self._examples = seat, examples
        self._history, self._thinks = history_tokens, thinks
        self._advice = ""
        self._past: list[tuple[str, str]] = []  # what was seen, and the action taken then

    def advise(self, advice: str) -> None:
        self._advice = advice

    def turns(self, seen: Observation, actions: Sequence[str], room: int) -> tuple[Turn, ...]:
        system = self._system(room)
        room -= count_tokens(system)
        # The notes get half of what the sight and the actions leave, history all that is left then.
        bare = count_tokens(self._now(seen, actions, ""))
        advice, _, _ = truncate_tokens(self._advice, max(0, (room - bare) // 2))
        now = self._now(seen, actions, advice)
        turns = [Turn("system", system)]
        for text, action in self._remembered(room - count_tokens(now)):
            turns += [Turn("user", text), Turn("assistant", action)]
        turns.append(Turn("user", now))
        return tuple(turns)

    def acted(self, seen: Observation, action: str) -> None:
        self._past.append((seen.text, action))

    def _system(self, room: int) -> str:
        shown = [
            f"An example of how a task was done:\n{e}" for e in within(self._examples, room // 2)
        ]
        parts = [self._seat.rules.strip(), NOTES, *shown, f"Your task: {self._seat.goal}"]
        return "\n\n".join(parts)

    def _now(self, seen: Observation, actions: Sequence[str], advice: str) -> str:
        """What is seen, then the actions, and the notes last: next to the question they are read."""
        parts = [seen.text]
        if actions:
            head = "Forms of actions:" if self._seat.forms else "Possible actions:"
            parts.append("\n".join([head, *actions]))
        if advice:
            parts.append(bracketed(advice))
        parts.append(f"Your task: {self._seat.goal}")
        ask = _FORM if self._seat.forms else _ONE_LINE if actions else _FREE
        parts.append(f"{_THINK} {ask}" if self._thinks else ask)
        return "\n\n".join(parts)

    def _remembered(self, room: int) -> Sequence[tuple[str, str]]:
        """The latest steps that fit; what went before is told by its actions."""
        budget = min(self._history, room)
        left = budget * 7 // 8  # the rest is for the note on what is left out
        kept: list[tuple[str, str]] = []
        for number, (seen, action) in reversed(list(enumerate(self._past))):
            left -= count_tokens(seen) + count_tokens(action) + 8
            if left < 0:
                between = "; ".join(done for _, done in self._past[: number + 1])
                tail = between[-max(0, budget) // 4 :]
                note = f"(Earlier steps, left out here, with these actions: {tail})"
                if kept:
                    kept[0] = (f"{note}\n\n{kept[0][0]}", kept[0][1])
                break
            kept.insert(0, (seen, action))
        return kept
