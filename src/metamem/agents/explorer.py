"""The explorer: an agent without a model for worlds of few actions and many situations.

It knows the goal, what it observes, what it may do, and the advice, all as text. Where advice tells
a way it goes it; else it tries what it has not tried where it stands, keeps from what changed
nothing or only leads back, and leans towards what goal or advice speak of. It has no vocabulary of
any domain and keeps nothing between tasks.
"""

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import lru_cache

from metamem.agents.advice import read_advice
from metamem.agents.explorer_advice import Told, Words, keep_ways, read_sight, read_told
from metamem.agents.text import content_words, tokens
from metamem.core.errors import UsageError
from metamem.core.ids import content_id, derive_seed
from metamem.core.protocols import Seat
from metamem.core.types import Observation

VERSION = 2
_LATER = 0.7  # how much less each further way is believed
_DISAPPOINTED = 0.5  # a way is trusted less after a step that cannot be done or does nothing


@dataclass(frozen=True, slots=True)
class Settings:
    """How much each reason counts. Set on training tasks only; part of the fingerprint."""

    step: float = 8.0  # the next step of an advised way
    unlike: float = 0.3  # of that, when what was seen on the way is not much like what is seen now
    again: float = 0.5  # of that, for each time that it was done in this very situation
    liking: float = 1.0  # the advice likes the action, or (less) dislikes it
    point: float = 2.0  # a line of the observation speaks of the action and of what matters
    note: float = 2.0  # times that, for what the advice ties to the goal: it says which
    goal: float = 0.5  # each word shared with the goal
    tried: float = 1.0  # each time it was done in this very situation
    vain: float = 6.0  # it changed nothing in this situation
    futile: float = 1.5  # it mostly changed nothing elsewhere
    revisit: float = 1.0  # it leads to a situation already seen, for each visit
    undo: float = 2.0  # it is known to undo what was just done
    on: float = 0.6  # it was just done and changed something
    taste: float = 1.0  # chance


class Explorer:
    """Follows advice that names actions, and explores what it has not tried otherwise; no model.

    A setting of nought takes a mechanism away: `Explorer(undo=0)`.
    """

    def __init__(self, **settings: float) -> None:
        self.settings = Settings(**{name: float(value) for name, value in settings.items()})
        self._fingerprint = f"explorer-{VERSION}/{content_id(asdict(self.settings))[:8]}"

    @property
    def fingerprint(self) -> str:
        return self._fingerprint

    def start(self, seat: Seat) -> "ExplorerPlayer":
        return ExplorerPlayer(self.settings, seat.goal, seat.seed)


class ExplorerPlayer:
    """The explorer at one task."""

    def __init__(self, settings: Settings, goal: str, seed: int) -> None:
        self._set = settings
        self._goal = content_words(goal)
        self._rng = random.Random(derive_seed("explorer", goal, seed))
        self._advice = ""
        self._unread = False
        self._read = ""  # the advice that `_told` comes from
        self._told = Told()
        self._matters = dict.fromkeys(self._goal, 1.0)  # word → how much it matters
        self._names: dict[Words, str] = {}  # every action met so far, by its words
        self._leads: dict[tuple[str, str], str] = {}  # (situation, action) → situation after
        self._tried: Counter[tuple[str, str]] = Counter()
        self._visits: Counter[str] = Counter()
        self._done: Counter[str] = Counter()
        self._futile: Counter[str] = Counter()
        self._undoes: set[tuple[str, str]] = set()
        self._history: list[tuple[str, str]] = []  # (situation, action), in order

    def advise(self, advice: str) -> None:
        if advice == self._advice:
            return  # the same words again: keep the place in them
        self._advice, self._unread = advice, True
        self._matters = dict.fromkeys(_noted(advice, self._goal), self._set.note)
        self._matters.update(dict.fromkeys(self._goal, 1.0))

    async def act(self, observation: Observation) -> str:
        actions, here = observation.actions, observation.text
        if not actions:
            raise UsageError(
                "the explorer chooses among admissible actions, and this world shows none",
                hint="choose an agent that writes its own actions, or a domain that shows them",
            )
        self._meet(actions)
        self._learn(here)
        advised = self._advised(here, actions)
        pointed = self._pointed(here, actions)
        likings = self._told.likings
        best, best_score = "", float("-inf")
        for action in actions:
            told = advised.get(action, 0.0)
            score = self._curiosity(here, action)
            if score < 0:  # who believes a way does not mind where it leads past again
                score *= 1 - told / self._set.step if self._set.step else 1
            score += self._set.taste * self._rng.random()
            score += told + pointed.get(action, 0.0)
            score += self._set.liking * likings.get(action, 0.0)
            if score > best_score:
                best, best_score = action, score
        for way in self._told.ways:
            way.follow(here, best)
        self._history.append((here, best))
        return best

    # --- curiosity --------------------------------------------------------------------------

    def _curiosity(self, here: str, action: str) -> float:
        weights = self._set
        score = weights.goal * sum(word in self._goal for word in content_words(action))
        score -= weights.tried * self._tried[here, action]
        after = self._leads.get((here, action))
        if after is None:
            score -= weights.futile * self._futile[action] / (self._done[action] + 1)
        else:
            score -= weights.vain if after == here else weights.revisit * self._visits[after]
        if self._history:
            before, last = self._history[-1]
            if last == action and before != here:
                score += weights.on
            if (last, action) in self._undoes:
                score -= weights.undo
        return score

    def _learn(self, here: str) -> None:
        self._visits[here] += 1
        if not self._history:
            return
        before, last = self._history[-1]
        self._leads[before, last] = here
        self._tried[before, last] += 1
        self._done[last] += 1
        self._futile[last] += here == before
        if len(self._history) > 1 and here != before:
            earlier, first = self._history[-2]
            if earlier == here and first != last:
                self._undoes.update(((first, last), (last, first)))

    # --- what goal and advice speak of ------------------------------------------------------

    def _pointed(self, here: str, actions: Iterable[str]) -> dict[str, float]:
        """Actions that a line of the observation names along with something that matters.

        A word on every line says nothing, so a word counts the less the more lines have it.
        """
        phrases = [(name, tokens(name)) for name in actions]
        acting = {word for _, phrase in phrases for word in phrase}
        matters = self._matters
        telling = [
            (words, [w for w in dict.fromkeys(words) if w in matters and w not in acting])
            for words in map(tokens, here.splitlines())
            if not acting.isdisjoint(words)
        ]
        spread = Counter(word for _, told in telling for word in told)
        pointed: dict[str, float] = {}
        for words, told in telling:
            weight = sum(matters[word] / spread[word] for word in told)
            if weight:
                value = self._set.point * min(weight, 1.0)
                for name, phrase in phrases:
                    if _contains(words, phrase):
                        pointed[name] = max(pointed.get(name, 0.0), value)
        return pointed

    # --- the ways that advice tells ---------------------------------------------------------

    def _meet(self, actions: Iterable[str]) -> None:
        """Read the advice once actions are known, and again when new ones turn up."""
        new = {words: name for name in actions if (words := tokens(name)) not in self._names}
        new.pop((), None)  # signs cannot be spoken of in words
        self._names.update(new)
        if new and self._read:
            before, self._told = self._told.ways, read_told(self._read, self._names)
            for old, way in zip(before, self._told.ways, strict=False):
                way.position, way.trust, way.taken = old.position, old.trust, old.taken
        if self._unread:
            self._read, self._unread = self._advice, False
            before, self._told = self._told.ways, read_told(self._advice, self._names)
            keep_ways(before, self._told.ways)

    def _advised(self, here: str, actions: Iterable[str]) -> dict[str, float]:
        """For each action how strongly a way has it next; what is told first is believed first."""
        possible = set(actions)
        sight = read_sight(here)
        advised: dict[str, float] = {}
        belief = 1.0
        for way in self._told.ways:
            alike = way.locate(sight)
            while way.position < len(way.steps):
                action = way.steps[way.position].action
                vain = self._leads.get((here, action)) == here and not way.insists
                if action in possible and not vain:
                    value = belief * way.trust * max(alike, self._set.unlike)
                    beside = self._tried[here, action] - way.taken[here, action]
                    value *= self._set.again ** max(beside, 0)
                    advised[action] = max(advised.get(action, 0.0), self._set.step * value)
                    break
                way.position += 1  # it cannot be done here, or does nothing
                if action:
                    way.trust *= _DISAPPOINTED
            if way.known:
                belief *= _LATER
        return advised


def _contains(words: Words, phrase: Words) -> bool:
    size = len(phrase)
    if size == 1:
        return phrase[0] in words
    return any(words[at : at + size] == phrase for at in range(len(words) - size + 1))


@lru_cache(maxsize=256)
def _noted(advice: str, goal: Words) -> tuple[str, ...]:
    """The words that the advice ties to words of the goal."""
    if not advice.lstrip().startswith(("{", "[")):
        # A line said twice ties no more than once, and transcripts say most lines many times.
        advice = "\n".join(dict.fromkeys(advice.splitlines()))
    return tuple(read_advice(advice, goal).notes)
