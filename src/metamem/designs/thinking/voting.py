"""Whole plans from many: the ways of similar goals laid alongside, and what most of them share.

What the goal names becomes numbered slots, steps that nothing came of are left out, and the way
that is most like the others is told with the names of the goal at hand.

    >>> ways = Ways()
    >>> ways.add(["cup", "box"], ["go to sink", "take cup 1 from desk 2", "put cup 1 in box 3"])
    >>> ways.add(["pen", "bag"], ["take pen 2 from shelf 1", "wait", "put pen 2 in bag 1"])
    >>> ways.add(["hat", "car"], ["take hat 1 from hook 4", "put hat 1 in car 1"])
    >>> [(step.pattern, round(step.share, 2)) for step in ways.vote()]
    [('take <0> from _', 1.0), ('put <0> in <1>', 1.0)]
"""

import difflib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from metamem.core.types import Experience
from metamem.designs.text import content_words, kinds, overlap
from metamem.designs.thinking.frames import fill, parse

_MOST = 60  # ways compared with each other


class Voted(NamedTuple):
    pattern: str  # an action: `<0>` is the goal's first name, `_` is anything
    share: float  # of the ways that have it


def names_in(goal: str, known: Collection[str]) -> list[str]:
    """The words of a goal that name things, in order: those that actions are known to be about.

    >>> names_in("put a hot cup in the box", {"cup", "box", "lamp"})
    ['cup', 'box']
    """
    return [word for word in content_words(goal) if word in known]


def abstracted(action: str, names: Sequence[str]) -> str:
    """An action in terms of the goal: its names as slots, other things as their kinds."""
    frame, fillers = parse(action)
    told = []
    for filler in fillers:
        words = content_words(filler)
        own = [number for number, name in enumerate(names) if name in words]
        told.append(f"<{own[0]}>" if own else kinds(filler))
    return fill(frame, told)


def useful(experience: Experience, names: Collection[str]) -> list[str]:
    """The steps of an episode that mattered: the last, those about things of the goal that had to
    be found, and those that made one of these possible."""
    steps = experience.steps
    if not steps:
        return []
    before = [experience.actions, *(step.actions for step in steps[:-1])]
    known = {word for action in experience.actions for word in content_words(action)}
    wanted = set(names) - known or set(names)
    needed = {len(steps) - 1}
    for number, step in enumerate(steps):
        changed = step.observation != (steps[number - 1].observation if number else "")
        if changed and not wanted.isdisjoint(content_words(step.action)):
            needed.add(number)
    for number in sorted(needed, reverse=True):
        at = number
        while at in range(1, len(steps)):  # back to what made it possible; that, too, and so on
            action, made = steps[at].action, at
            while made > 0 and action in before[made]:
                made -= 1
            if made == at or action in before[made]:
                break  # nobody knows, or it could be done from the start
            needed.add(made)
            at = made
    return [steps[number].action for number in sorted(needed)]


class Way(NamedTuple):
    about: tuple[str, ...]
    names: tuple[str, ...]
    steps: tuple[str, ...]


@dataclass
class Ways:
    """Ways to goals, each abstracted from its goal's names."""

    ways: list[Way] = field(default_factory=list)

    def add(self, names: Sequence[str], actions: Iterable[str], about: Iterable[str] = ()) -> None:
        """One way; `about` is what makes it special, such as the goal's words that name no thing."""
        way = tuple(abstracted(action, names) for action in actions)
        self.ways.append(Way(tuple(sorted(set(about))), tuple(names), way))

    def nearest(self, about: Iterable[str], names: Iterable[str] = ()) -> tuple[str, ...]:
        """What ways are about that shares most with this; names decide between equals, then how
        many ways there are."""
        wanted, named = set(about), set(names)
        alike: dict[tuple[str, ...], float] = {}
        for way in self.ways:
            alike[way.about] = max(alike.get(way.about, 0.0), overlap(way.names, named))
        counts = Counter(way.about for way in self.ways)
        ranked = sorted(
            counts, key=lambda own: (-overlap(own, wanted), -alike[own], -counts[own], own)
        )
        return ranked[0] if ranked else ()

    def vote(
        self, about: Iterable[str] | None = None, names: Iterable[str] = (), share: float = 0.5
    ) -> list[Voted]:
        """The way most like all others, without the steps that few of them have.

        Only ways about what is most like what is asked about have a vote. A thing that is not of
        the goal and not the same in most ways is left open.
        """
        nearest = None if about is None else self.nearest(about, names)
        opened = _opened([way.steps for way in self.ways], share)
        ways = [
            steps
            for way, steps in zip(self.ways, opened, strict=True)
            if nearest is None or way.about == nearest
        ][-_MOST:]
        if not ways:
            return []
        counted = Counter(ways)
        distinct = list(counted)
        best = max(distinct, key=lambda one: _likeness(one, counted))
        having = Counter(step for way in ways for step in _counted(way))
        return [
            Voted(step[0], having[step] / len(ways))
            for step in _counted(best)
            if having[step] >= share * len(ways)
        ]


def _counted(way: Sequence[str]) -> list[tuple[str, int]]:
    """Each step with the number of its like that are still to come: early tries are repeats."""
    left = Counter(way)
    found = []
    for step in way:
        left[step] -= 1
        found.append((step, left[step]))
    return found


def _likeness(one: tuple[str, ...], ways: Counter[tuple[str, ...]]) -> float:
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(one)
    total = 0.0
    for way, count in ways.items():
        matcher.set_seq1(way)
        total += count * matcher.ratio()
    return total


def _opened(ways: Sequence[tuple[str, ...]], share: float) -> list[tuple[str, ...]]:
    """Leave open what differs from way to way: a filler that few ways with the frame share."""
    frames: Counter[str] = Counter()
    fillers: Counter[tuple[str, int, str]] = Counter()
    for way in ways:
        for step in set(way):
            frame, found = parse(step)
            for slot, name in enumerate(found):
                fillers[frame, slot, name] += 1
        frames.update({parse(step).frame for step in way})

    def opened(step: str) -> str:
        frame, found = parse(step)
        return fill(
            frame,
            [
                name if fillers[frame, slot, name] >= share * frames[frame] else "_"
                for slot, name in enumerate(found)
            ],
        )

    return [tuple(opened(step) for step in way) for way in ways]
