"""How the agent reads a tool's listing: is it for this task, and what has to be given.

It compares words. A description tells in which words people asked, with the parameters in their places: where the
task is asked for in such words, what stands there is given. Where it is asked for in other words, the agent
remembers earlier tasks that were asked for in those: so it learns which of a task's values, or which part of one,
goes where. Else a parameter is understood by its examples: the agent knows what it was asked for before (as
anybody sees it who reads an example beside its request), finds the examples among those values, and so learns
the same.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

ENOUGH = 0.6  # of a task's words have to be in a tool's description
WORDS = 2  # and as many at least
AGREEING = 2  # examples that have to say the same
_WORD = re.compile(r"[a-z]+")
_HOLE = re.compile(r"<([a-z][a-z0-9_]*)>")
_PLAIN = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "be",
        "by",
        "for",
        "from",
        "in",
        "into",
        "is",
        "it",
        "its",
        "now",
        "of",
        "on",
        "please",
        "that",
        "the",
        "they",
        "this",
        "to",
        "today",
        "we",
        "with",
        "which",
        "whose",
        "wants",
        "needs",
        "need",
    ]
)

Tools = Mapping[str, tuple[str, Mapping[str, tuple[Any, ...]]]]  # description and examples, by name


def content_words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower())) - _PLAIN


@dataclass(slots=True)
class Diary:
    """What the agent was asked for."""

    entries: list[tuple[str, Mapping[str, str], str]] = field(default_factory=list)

    def note(self, wording: str, slots: Mapping[str, str], goal: str = "") -> None:
        self.entries.append((wording, slots, goal))

    def fitting(
        self, wording: str, slots: Mapping[str, str], tools: Tools, goal: str = ""
    ) -> tuple[str, dict[str, Any]] | None:
        """The tool that fits best, and the values to give; None where nothing fits. `goal` is the
        wording with its values."""
        asked = content_words(wording)
        best: tuple[float, str, dict[str, Any]] | None = None
        for name, (description, examples) in tools.items():
            common = len(asked & content_words(description))
            if common < WORDS or common < ENOUGH * len(asked):
                continue
            values = _told(description, goal, examples)
            values = values or self._values(description, slots, examples)
            if values is not None and (best is None or common / len(asked) > best[0]):
                best = (common / len(asked), name, values)
        return None if best is None else best[1:]

    def _values(
        self, description: str, slots: Mapping[str, str], examples: Mapping[str, tuple[Any, ...]]
    ) -> dict[str, Any] | None:
        """What to give for each parameter; None where one of them is not understood."""
        alike = [
            (given, goal)
            for wording, given, goal in self.entries
            if given.keys() == slots.keys() and given and _alike(wording, description)
        ]
        earlier = [given for given, _ in alike]
        told = [(_told(description, goal, examples), given) for given, goal in alike]
        values = {}
        for parameter, seen in examples.items():
            said = [(known[parameter], given) for known, given in told if known]
            value = _remembered(said, slots) or _given(seen, earlier, slots)
            if value is None:
                return None
            values[parameter] = value
        return values


def _told(description: str, goal: str, asked: Collection[str]) -> dict[str, Any] | None:
    """What stands in the goal where the description has its parameters; None where it does not say all."""
    for way in description.split(" / "):
        names = _HOLE.findall(way)
        parts = [re.escape(part) for part in _HOLE.split(way)[::2]]
        found = re.fullmatch("(.+?)".join(parts), " ".join(goal.split()), re.IGNORECASE)
        if found is None or not set(asked) <= set(names):
            continue
        pairs = dict(zip(names, found.groups(), strict=True))
        if all(pairs[name] == value for name, value in zip(names, found.groups(), strict=True)):
            return {name: pairs[name] for name in asked}
    return None


def _alike(wording: str, description: str) -> bool:
    asked = content_words(wording)
    return len(asked & content_words(description)) >= ENOUGH * len(asked)


def _remembered(
    said: Sequence[tuple[str, Mapping[str, str]]], slots: Mapping[str, str]
) -> str | None:
    """What to give, as earlier tasks say: what it was there, each beside the values of its own task."""
    ways = [_way(value, given) for value, given in said]
    known = [way for way in ways if way is not None]
    if not known or len(known) < len(ways):
        return None
    best = max(sorted(set(known)), key=known.count)
    before, slot, after = best
    value = slots[slot]
    if not (value.startswith(before) and value.endswith(after)):
        return None
    return value[len(before) : len(value) - len(after)] or None


def _way(value: str, given: Mapping[str, str]) -> tuple[str, str, str] | None:
    """Of which of a task's values it is a part, and what stands around it there."""
    whole = {slot: value_.partition(value) for slot, value_ in given.items()}
    found = [(before, slot, after) for slot, (before, middle, after) in whole.items() if middle]
    return min(found, key=lambda way: (len(way[0]) + len(way[2]), way), default=None)


def _given(
    seen: Sequence[Any], earlier: Sequence[Mapping[str, str]], slots: Mapping[str, str]
) -> str | None:
    """What to give: one of the task's values with something around it, or a part of one."""
    whole = _pattern(seen, earlier, lambda example, value: example.partition(value))
    if whole is not None:
        before, slot, after = whole
        return before + slots[slot] + after
    part = _pattern(seen, earlier, lambda example, value: value.partition(example))
    if part is None:
        return None
    before, slot, after = part
    value = slots[slot]
    fits = value.startswith(before) and value.endswith(after)
    inner = value[len(before) : len(value) - len(after)] if fits else ""
    return inner or None


def _pattern(
    seen: Sequence[Any],
    earlier: Sequence[Mapping[str, str]],
    parted: Callable[[str, str], tuple[str, str, str]],
) -> tuple[str, str, str] | None:
    """Which of the task's values it is, and what stands before and after, as most of the examples say."""
    votes: dict[tuple[str, str, str], int] = {}
    for example in filter(None, map(str, seen)):
        found = {
            (before, slot, after)
            for given in earlier
            for slot, value in given.items()
            for before, middle, after in [parted(example, value)]
            if middle
        }
        for pattern in found:
            votes[pattern] = votes.get(pattern, 0) + 1
    if not votes:
        return None
    # The longest value explains most: "shows the fjord" and not only "fjord".
    best = max(votes, key=lambda p: (votes[p], -len(p[0]) - len(p[2]), p))
    return best if votes[best] >= min(AGREEING, len(seen)) else None
