"""Where kinds of things were seen: which places to look in first, by what looking costs.

>>> seen = Sightings()
>>> for number in range(1, 5):
...     seen.looked(f"shelf {number}", ["cup"] if number == 1 else [])
...     seen.looked(f"desk {number}", ["cup", "pen"])
>>> seen.order("cup", ["shelf 9", "desk 8"])
['desk 8', 'shelf 9']
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from metamem.core.types import Experience
from metamem.designs.text import content_words, kinds
from metamem.designs.thinking.frames import parse

_PRIOR = 2.0  # looks with the thing's usual share that are added to those seen


@dataclass
class Sightings:
    """How often each kind of place was looked at, and what was first seen there."""

    looks: Counter[str] = field(default_factory=Counter)  # kind of place
    shown: dict[str, Counter[str]] = field(default_factory=dict)  # thing → kind of place

    def looked(self, place: str, things: Iterable[str]) -> None:
        kind = kinds(place)
        self.looks[kind] += 1
        for thing in dict.fromkeys(things):
            self.shown.setdefault(thing, Counter())[kind] += 1

    def learn(self, experience: Experience) -> None:
        """The last look of an episode at each place, before anything was carried off: what was read
        after actions about that place alone. A closed place shows nothing until it is opened."""
        found: dict[str, set[str]] = {}
        moved: set[str] = set()
        for step in experience.steps:
            fillers = parse(step.action).fillers
            if len(fillers) == 1:
                place = fillers[0]
                words = set(content_words(step.observation)) - set(content_words(place))
                found.setdefault(place, set()).update(words - moved)
            elif fillers:
                moved.update(content_words(fillers[0]))
        for place, words in found.items():
            self.looked(place, sorted(words))

    def chance(self, thing: str, place: str) -> float:
        """How likely a look at the place shows the thing, pulled to the mean where little is known."""
        kind = kinds(place)
        shown = self.shown.get(thing, Counter())
        usual = shown.total() / max(1, self.looks.total())
        return (shown[kind] + _PRIOR * usual) / (self.looks[kind] + _PRIOR)

    def order(
        self,
        thing: str,
        places: Sequence[str],
        effort: Callable[[str], float] = lambda _: 1.0,
    ) -> list[str]:
        """The places, best first by chance for each step of effort; nothing known keeps the order."""
        worth = {place: self.chance(thing, place) / effort(place) for place in places}
        return sorted(places, key=lambda place: -worth[place])
