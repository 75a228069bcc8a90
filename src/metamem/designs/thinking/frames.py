"""Actions as frames with slots: what is done, and to what.

A frame is an action with its things left out; the first word and function words stay.

    >>> parse("take red cup 2 from shelf 1")
    Parsed(frame='take _ from _', fillers=('red cup 2', 'shelf 1'))
    >>> fill("take _ from _", ["lamp 1", "desk 2"])
    'take lamp 1 from desk 2'
    >>> lifted("put cup 1 in box 3", ["box 3"])
    'put _ in <0>'
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from metamem.core.types import Experience
from metamem.designs.text import FUNCTION_WORDS, content_words, kinds

SLOT = "_"


class Parsed(NamedTuple):
    frame: str
    fillers: tuple[str, ...]


@lru_cache(maxsize=65536)
def parse(action: str) -> Parsed:
    """The frame of an action and what fills its slots, numbers included."""
    frame: list[str] = []
    fillers: list[list[str]] = []
    for place, word in enumerate(action.split()):
        fixed = place == 0 or all(part.lower() in FUNCTION_WORDS for part in word.split("/"))
        if fixed:
            frame.append(word)
        elif fillers and frame[-1] == SLOT:  # an action may begin with the sign of a slot itself
            fillers[-1].append(word)
        else:
            frame.append(SLOT)
            fillers.append([word])
    return Parsed(" ".join(frame), tuple(" ".join(words) for words in fillers))


def fill(frame: str, fillers: Sequence[str]) -> str:
    """The action that a frame becomes; slots without a filler stay open."""
    left = list(fillers)
    words = [left.pop(0) if word == SLOT and left else word for word in frame.split(" ")]
    return " ".join(words)


@lru_cache(maxsize=65536)
def _lifted(action: str, names: tuple[str, ...]) -> str:
    frame, fillers = parse(action)
    return fill(frame, [f"<{names.index(f)}>" if f in names else SLOT for f in fillers])


def lifted(action: str, names: Sequence[str]) -> str:
    """The action with the given names as numbered slots, and all other things left open."""
    return _lifted(action, tuple(names))


def grounded(pattern: str, names: Mapping[int, str] | Sequence[str]) -> str:
    """A lifted action with names put back into its numbered slots.

    >>> grounded("put _ in <0>", ["box 3"])
    'put _ in box 3'
    """
    pairs = names.items() if isinstance(names, Mapping) else enumerate(names)
    for number, name in pairs:
        pattern = pattern.replace(f"<{number}>", name)
    return pattern


@dataclass
class FrameUse:
    """How often actions of a frame could be done, were, and changed what can be seen or done."""

    shown: int = 0
    done: int = 0
    changed: int = 0
    rewarded: float = 0.0
    fillers: list[Counter[str]] = field(default_factory=list)  # kinds, for each slot
    of_goal: list[Counter[bool]] = field(default_factory=list)  # whether the goal names them
    after: Counter[str] = field(default_factory=Counter)  # frames done next


@dataclass
class Frames:
    """All frames of some episodes.

    >>> from metamem.designs import Step
    >>> frames = Frames()
    >>> step = Step("take cup 1 from shelf 2", "You have it.", ("drop cup 1",))
    >>> frames.learn(Experience("bring a cup", "A room.", ("take cup 1 from shelf 2",), (step,)))
    >>> frames.uses["take _ from _"].fillers[1]
    Counter({'shelf': 1})
    >>> frames.goal_slots("take _ from _")
    [0]
    """

    uses: dict[str, FrameUse] = field(default_factory=dict)

    def learn(self, experience: Experience) -> None:
        wanted = set(content_words(experience.goal))
        shown = set(experience.actions)
        for step in experience.steps:
            shown.update(step.actions)
        for action in sorted(shown):
            use, fillers = self._use(action)
            use.shown += 1
            for slot, name in enumerate(fillers):
                use.fillers[slot][kinds(name)] += 1
        seen, possible, last = experience.observation, experience.actions, ""
        for step in experience.steps:
            use, fillers = self._use(step.action)
            use.done += 1
            use.changed += step.observation != seen and step.actions != possible
            use.rewarded += step.reward
            for slot, name in enumerate(fillers):
                use.of_goal[slot][not wanted.isdisjoint(content_words(name))] += 1
            if last:
                self.uses[last].after[parse(step.action).frame] += 1
            seen, possible, last = step.observation, step.actions, parse(step.action).frame

    def _use(self, action: str) -> tuple[FrameUse, tuple[str, ...]]:
        frame, fillers = parse(action)
        use = self.uses.get(frame)
        if use is None:
            use = self.uses[frame] = FrameUse()
            use.fillers = [Counter() for _ in fillers]
            use.of_goal = [Counter() for _ in fillers]
        return use, fillers

    def goal_slots(self, frame: str, share: float = 0.5) -> list[int]:
        """The slots that things of the goal filled in at least that share of what was done."""
        use = self.uses.get(frame)
        if use is None:
            return []
        shares = [count[True] / max(1, count.total()) for count in use.of_goal]
        return [slot for slot, found in enumerate(shares) if found >= share]

    def instances(self, frame: str, actions: Iterable[str]) -> list[str]:
        """The actions, of those possible now, that are of this frame."""
        return [action for action in actions if parse(action).frame == frame]
