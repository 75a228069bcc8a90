"""Whether what somebody asks for is like what was asked for when something failed.

Words that most goals share tell nothing, and words that no goal had speak against: a prompt is held
against single goals, never against all of them together.
"""

import math
from collections import Counter
from collections.abc import Iterable, Set

LIKE = 0.35  # of two goals, or of a goal and an error
SHARED = 2  # words at least: one in common is chance
MANY = 3  # of these any goal may be made; fewer must be most of it
MOST = 0.6
# What people ask for everywhere, as stems of the index.
_GENERAL = frozenset(
    [
        "add",
        "chang",
        "check",
        "code",
        "creat",
        "do",
        "error",
        "fail",
        "file",
        "fix",
        "get",
        "help",
        "implement",
        "issu",
        "let",
        "look",
        "make",
        "need",
        "new",
        "now",
        "pleas",
        "problem",
        "project",
        "run",
        "see",
        "set",
        "should",
        "show",
        "support",
        "try",
        "updat",
        "use",
        "want",
        "work",
        "write",
    ]
)


class Goals:
    """The goals of a scope, by the words that tell them apart."""

    def __init__(self, goals: Iterable[Set[str]]) -> None:
        known = [goal - _GENERAL for goal in goals]
        self._count = len(known)
        self._holding = Counter(word for goal in known for word in goal)

    def likeness(self, prompt: Set[str], other: Set[str]) -> float:
        """From 0 to 1; 0 where they share too little to say so."""
        one, two = prompt - _GENERAL, other - _GENERAL
        shared = len(one & two)
        if shared < SHARED or (shared < MANY and shared < MOST * len(two)):
            return 0.0
        found = self._weight(one & two) / math.sqrt(self._weight(one) * self._weight(two))
        return found if found >= LIKE else 0.0

    def _weight(self, words: Set[str]) -> float:
        """Words weigh by how few goals have them."""
        return sum(math.log(1 + (self._count + 1) / (self._holding[word] + 1)) for word in words)
