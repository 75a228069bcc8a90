"""Maps learned from moves, and the shortest way on them.

A place is the first line of what is read, where that line comes back after different actions: so
names of places are found in the data. Ways back are inferred: where going `east` and then `west`
led back often enough, `west` is tried as the way back from wherever `east` led.

    >>> from metamem.designs import Step
    >>> routes = Routes()
    >>> walk = [("go east", "Hall"), ("go west", "Yard"), ("go east", "Hall"), ("look", "Hall")]
    >>> walk += [("go up", "Attic")]
    >>> steps = tuple(Step(action, place) for action, place in walk)
    >>> routes.learn(Experience("", "Yard", (), steps))
    >>> routes.route("Yard", "Attic").actions
    ('go east', 'go up')
    >>> routes.backs()
    {'go east': 'go west', 'go west': 'go east'}
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from metamem.core.types import Experience, Step
from metamem.designs.text import first_word, words
from metamem.designs.thinking.search import Found, search

_PRIOR = 0.5  # moves that led elsewhere, added to those seen
_BACK = 0.6  # how sure an inferred way back is, where it always held


def head(observation: str) -> str:
    """The first line of a text that has letters in it, as it stands."""
    lines = (line.strip() for line in observation.splitlines())
    return next((line for line in lines if any(c.isalpha() for c in line)), "")


def manner(action: str, place: str) -> str:
    """A move without the place that it starts from: `leave hall east` is `leave east`.

    >>> manner("leave hall east", "The Hall")
    'leave east'
    """
    names = set(words(place))
    return " ".join(w for w in action.split() if not set(words(w)) & names) or action


@dataclass
class Routes:
    """Where moves led, for one world or for all of them."""

    moves: dict[str, dict[str, Counter[str]]] = field(default_factory=dict)  # from, action, to
    after: dict[str, Counter[str]] = field(default_factory=dict)  # first line → what led to it
    exits: dict[str, set[str]] = field(default_factory=dict)  # place → actions possible there
    found: dict[str, set[str]] = field(default_factory=dict)  # place → possible at first arrival
    openers: dict[str, dict[str, str]] = field(default_factory=dict)  # place, move, done before it
    went: dict[str, Counter[bool]] = field(default_factory=dict)  # first word → led to a place
    turns: dict[str, Counter[str]] = field(default_factory=dict)  # manner → manner that led back

    def learn(self, experience: Experience, place_of: Callable[[str], str] = head) -> None:
        """Every step from one place to another; what is no place is passed over."""
        for _ in self.watch(experience, place_of):
            pass

    def watch(
        self, experience: Experience, place_of: Callable[[str], str] = head
    ) -> Iterable[tuple[str, Step]]:
        """Learn an episode; for each of its steps, the place where it was taken."""
        first = place_of(experience.observation)
        self.after.setdefault(first, Counter())["the start"] += 1
        for step in experience.steps:
            self.after.setdefault(place_of(step.observation), Counter())[step.action] += 1
        for step in experience.steps:
            sure = self.is_place(place_of(step.observation))
            self.went.setdefault(first_word(step.action), Counter())[sure] += 1
        here, possible = first, set(experience.actions)
        self.exits.setdefault(here, set()).update(possible)
        self.found.setdefault(here, set(possible))
        back: tuple[str, str] | None = None
        for step in experience.steps:
            yield here, step
            there = place_of(step.observation)
            if not self.is_place(there, step.action):
                for action in sorted(set(step.actions) - possible):
                    self.openers.setdefault(here, {}).setdefault(action, step.action)
                self.exits.setdefault(here, set()).update(step.actions)
                possible.update(step.actions)
                continue
            if there != here:
                self.moves.setdefault(here, {}).setdefault(step.action, Counter())[there] += 1
                how = manner(step.action, here)
                if back and back[0] == there:
                    self.turns.setdefault(back[1], Counter())[how] += 1
                    self.turns.setdefault(how, Counter())[back[1]] += 1
                back = (here, how)
                here, possible = there, set()
                self.found.setdefault(here, set(step.actions))
            self.exits.setdefault(here, set()).update(step.actions)
            possible.update(step.actions)

    def is_place(self, line: str, action: str = "") -> bool:
        """Whether a first line names a place: it was there at a start, or after different actions,
        or what led to it mostly leads to such lines."""
        led = self.after.get(line, ())
        went = self.went.get(first_word(action), Counter())
        return len(led) > 1 or "the start" in led or went[True] > went[False]

    def backs(self, share: float = 0.7) -> dict[str, str]:
        """For each manner of moving the one that leads back, where it mostly does."""
        found = {}
        for how, counts in self.turns.items():
            other, count = max(counts.items(), key=lambda pair: (pair[1], pair[0]))
            if count >= share * counts.total():
                found[how] = other
        return found

    def leads(self, place: str) -> list[tuple[str, str, float]]:
        """The moves from a place: action, where it leads, and how sure that is."""
        found = []
        for action, led in self.moves.get(place, {}).items():
            there, count = max(led.items(), key=lambda pair: (pair[1], pair[0]))
            if there != place:
                found.append((action, there, count / (led.total() + _PRIOR)))
        return found

    def inferred(self) -> dict[str, list[tuple[str, str, float]]]:
        """Ways back that nobody took: from each place, the action, where to, and how sure."""
        backs, found = self.backs(), dict[str, list[tuple[str, str, float]]]()
        for here in self.moves:
            for action, there, sure in self.leads(here):
                back = backs.get(manner(action, here))
                known = {to for _, to, _ in self.leads(there)}
                if back is None or here in known:
                    continue
                ways = [a for a in sorted(self.exits.get(there, ())) if manner(a, there) == back]
                if ways:
                    found.setdefault(there, []).append((ways[0], here, sure * _BACK))
        return found

    def route(self, start: str, goal: str, nodes: int = 500) -> Found:
        """The shortest way, the surer of equals; sure is how likely all of it holds."""
        inferred = self.inferred()

        def moves(place: str) -> Iterable[tuple[str, str, float]]:
            return [*self.leads(place), *inferred.get(place, ())]

        return search(start, moves, lambda place: place == goal, nodes=nodes)

    def spelled(self, start: str, way: Found) -> list[str]:
        """The actions of a way, each after what had to be done first where it was seen."""
        told: list[str] = []
        here = start
        for action in way.actions:
            told += self.before(here, action)
            told.append(action)
            led = self.moves.get(here, {}).get(action)
            back = [to for how, to, _ in self.inferred().get(here, ()) if how == action]
            here = led.most_common(1)[0][0] if led else back[0] if back else here
        return told

    def before(self, place: str, action: str) -> list[str]:
        """What made an action possible at a place, where it was not from the first."""
        told: list[str] = []
        own = self.openers.get(place, {})
        free = self.found.get(place, set())
        while action not in free and action in own and own[action] not in told:
            action = own[action]
            told.insert(0, action)
        return told

    def merge(self, other: "Routes") -> None:
        """Add what another map of the same world knows."""
        for here, actions in other.moves.items():
            for action, led in actions.items():
                self.moves.setdefault(here, {}).setdefault(action, Counter()).update(led)
        for mine, theirs in ((self.after, other.after), (self.turns, other.turns)):
            for key, counts in theirs.items():
                mine.setdefault(key, Counter()).update(counts)
        for place, own in other.openers.items():
            for action, opener in own.items():
                self.openers.setdefault(place, {}).setdefault(action, opener)
        for place, free in other.found.items():
            self.found.setdefault(place, set(free))
        for place, exits in other.exits.items():
            self.exits.setdefault(place, set()).update(exits)
