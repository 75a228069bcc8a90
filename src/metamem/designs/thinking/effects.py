"""What actions change, learned from steps: a model of transitions between lists of facts.

A fact is a line of text; the actions that are possible are facts like any other. What an action
names becomes numbered slots, so that what was seen with one thing holds for the next.

    >>> from metamem.designs import Step
    >>> effects = Effects()
    >>> opened = Step("open box 1", "It is open.", ("close box 1", "take coin 2 from box 1"))
    >>> effects.learn(Experience("", "A room.", ("open box 1",), (opened,)))
    >>> [(e.fact, e.holds) for e in effects.of("open box 7")]
    [('close box 7', True), ('open box 7', False), ('take _ from box 7', True)]
    >>> effects.enablers("take _ from _")
    [('open _', 1.0)]
"""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from metamem.core.types import Experience
from metamem.designs.thinking.frames import grounded, lifted, parse

SURE = 0.5  # a change is told where at least that share of the tries had it
_PRIOR = 1.0  # tries without any change that are added to those seen


class Effect(NamedTuple):
    fact: str
    holds: bool  # afterwards
    sure: float  # 0 to 1, pulled down where little was seen


@dataclass
class Tries:
    """What came of the actions of one frame."""

    count: int = 0
    vain: int = 0  # nothing changed
    reward: float = 0.0
    added: Counter[str] = field(default_factory=Counter)
    removed: Counter[str] = field(default_factory=Counter)
    held: Counter[str] = field(default_factory=Counter)  # before, when something changed
    held_in_vain: Counter[str] = field(default_factory=Counter)


@dataclass
class Effects:
    """A model of what each frame of action adds to the facts, and takes away."""

    tries: dict[str, Tries] = field(default_factory=dict)

    def learn(self, experience: Experience) -> None:
        """All steps of an episode; the facts are the actions that can be done."""
        before = frozenset(experience.actions)
        for step in experience.steps:
            after = frozenset(step.actions)
            if not step.done:  # what can be done after the end tells nothing
                self.learn_step(before, step.action, after, step.reward)
            before = after

    def learn_step(
        self, before: Collection[str], action: str, after: Collection[str], reward: float = 0.0
    ) -> None:
        frame, names = parse(action)
        tries = self.tries.setdefault(frame, Tries())
        tries.count += 1
        tries.reward += reward
        old, new = set(before), set(after)
        added = {lifted(fact, names) for fact in new - old}
        removed = {lifted(fact, names) for fact in old - new}
        tries.added.update(added - removed)
        tries.removed.update(removed - added)
        changed = old != new
        tries.vain += not changed
        own = [fact for name in names for fact in before if name in fact]
        kept = tries.held if changed else tries.held_in_vain
        kept.update({lifted(fact, names) for fact in own})

    def of(self, action: str, sure: float = SURE) -> list[Effect]:
        """What an action is expected to change, in alphabetical order of the facts."""
        frame, names = parse(action)
        tries = self.tries.get(frame)
        if tries is None:
            return []
        found = [
            Effect(grounded(fact, names), holds, count / (tries.count + _PRIOR))
            for facts, holds in ((tries.added, True), (tries.removed, False))
            for fact, count in facts.items()
            if count >= sure * tries.count
        ]
        return sorted(found)

    def needs(self, frame: str, share: float = 0.95) -> list[str]:
        """Lifted facts that held nearly always when it changed something, and seldom in vain."""
        tries = self.tries.get(frame)
        if tries is None or tries.count == tries.vain:
            return []
        worked = tries.count - tries.vain
        return sorted(
            fact
            for fact, count in tries.held.items()
            if count >= share * worked and tries.held_in_vain[fact] <= 0.5 * tries.vain
        )

    def enablers(self, frame: str, share: float = 0.1) -> list[tuple[str, float]]:
        """Frames whose doing made actions of this frame possible: the share of all such times."""
        hits: Counter[str] = Counter()
        for name, tries in self.tries.items():
            hits[name] = sum(n for fact, n in tries.added.items() if _frame(fact) == frame)
        total = max(1, hits.total())
        found = [(name, n / total) for name, n in hits.items() if n >= max(1.0, share * total)]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))

    def after(self, facts: Iterable[str], action: str, sure: float = SURE) -> frozenset[str]:
        """The facts that are expected to hold afterwards: a move for `search`."""
        now = set(facts)
        for effect in self.of(action, sure):
            if effect.holds:
                now.add(effect.fact)
            else:
                now.discard(effect.fact)
        return frozenset(now)


def _frame(fact: str) -> str:
    """The frame of a lifted fact: slots look alike whoever fills them."""
    return " ".join("_" if word[:1] == "<" else word for word in fact.split(" "))
