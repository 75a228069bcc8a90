"""Which things go together more often than chance: words of goals with actions, kinds with places.

>>> ties = Associations()
>>> for _ in range(8):
...     ties.add(["warm", "bread"], ["toast _"])
...     ties.add(["cold", "soup"], ["chill _"])
>>> [tie.item for tie in ties.best(["warm"])]
['toast _']
>>> ties.best(["never said"])
[]
"""

import difflib
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

SURE = 2.5  # standard deviations above chance before a tie is told


class Tie(NamedTuple):
    item: str
    lift: float  # how many times more often than chance, pulled towards 1 where little was seen
    sure: float  # standard deviations above chance
    word: str  # the word that it goes with


@dataclass
class Associations:
    """Counts of words, of items, and of both together, in any number of lots."""

    lots: float = 0.0
    words: Counter[str] = field(default_factory=Counter)
    items: Counter[str] = field(default_factory=Counter)
    both: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, words: Iterable[str], items: Iterable[str], weight: float = 1.0) -> None:
        """One lot, such as an episode: the words of its goal, and what was done in it.

        A success may weigh more than an episode that only showed effects.
        """
        self.lots += weight
        found = list(dict.fromkeys(items))
        for item in found:
            self.items[item] += weight  # type: ignore[assignment]
        for word in dict.fromkeys(words):
            self.words[word] += weight  # type: ignore[assignment]
            own = self.both.setdefault(word, Counter())
            for item in found:
                own[item] += weight  # type: ignore[assignment]

    def tie(self, word: str, item: str) -> Tie:
        together = self.both.get(word, Counter[str]())[item]
        chance = self.words[word] * self.items[item] / self.lots if self.lots else 0.0
        lift = (together + 1) / (chance + 1)
        rest = 1 - self.items[item] / self.lots if self.lots else 1.0
        spread = math.sqrt(chance * rest + 0.25)
        return Tie(item, lift, (together - chance) / spread, word)

    def best(self, words: Iterable[str], most: int = 5, sure: float = SURE) -> list[Tie]:
        """The items that go with any of the words, surest first; none that chance may explain."""
        found: dict[str, Tie] = {}
        for word in dict.fromkeys(words):
            for item in self.both.get(word, ()):
                tie = self.tie(word, item)
                if tie.sure >= sure and (item not in found or tie.sure > found[item].sure):
                    found[item] = tie
        return sorted(found.values(), key=lambda tie: (-tie.sure, tie.item))[:most]


def kin(word: str, candidates: Iterable[str], least: float = 0.5) -> str:
    """The candidate spelled most like a word; nothing where none is like it or two are as much.

    Words of one family share letters in order, and goals seldom use the very form that actions do.

    >>> kin("cutting", ["cut", "cook", "close"])
    'cut'
    >>> kin("hang", ["cook", "close"])
    ''
    """
    scored = sorted(
        (
            (difflib.SequenceMatcher(None, word, other, autojunk=False).ratio(), other)
            for other in dict.fromkeys(candidates)
        ),
        key=lambda pair: (-pair[0], pair[1]),
    )
    if not scored or scored[0][0] < least or (len(scored) > 1 and scored[1][0] == scored[0][0]):
        return ""
    return scored[0][1]
