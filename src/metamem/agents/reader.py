"""The reader: an agent without a model, for any world that shows its admissible actions.

It knows the goal, what it observes, what it may do, and the advice, all as text, and ranks the
actions by what those say. It has no vocabulary of any domain and keeps nothing between tasks.
"""

import random
import re
from dataclasses import asdict, dataclass
from functools import lru_cache

from metamem.agents.advice import Block, Clause, ReadAdvice, read_advice
from metamem.agents.text import ActionText, content_words, read_action
from metamem.agents.undo import UndoWatch
from metamem.core.errors import UsageError
from metamem.core.ids import canonical_json, content_id, derive_seed
from metamem.core.types import Observation

VERSION = 1


@dataclass(frozen=True, slots=True)
class Settings:
    """How much each reason counts. Set on training tasks only; part of the fingerprint."""

    goal: float = 1.0  # each word shared with the goal
    seen: float = 0.6  # each word of the goal that the action led to before
    note: float = 0.8  # each word that the advice ties to the goal
    step: float = 4.0  # the advised next step
    fresh: float = 0.5  # has just become possible
    tried: float = 1.5  # each time it was done already since things last moved on
    idle: float = 1.5  # its kind has changed nothing so far
    stray: float = 0.6  # each thing it names, beyond the first, that nothing speaks for
    undo: float = 8.0  # it would undo what was done
    taste: float = 0.5  # chance: how far a player's own liking may go
    distrust: float = 0.2  # what is left of steps that touch no word of the goal
    behind: float = 0.8  # weight of a step already passed, when another of its kind is untried
    ahead: float = 0.6  # weight of a step after the next one
    fade: float = 0.9  # per step of distance from the next one


class Reader:
    """The agent. Settings may be given by name to take a mechanism away: `Reader(undo=0)`."""

    def __init__(self, **settings: float) -> None:
        self.settings = Settings(**settings)
        self._fingerprint = (
            f"reader-{VERSION}/{content_id(canonical_json(asdict(self.settings)))[:8]}"
        )

    @property
    def fingerprint(self) -> str:
        return self._fingerprint

    def start(self, goal: str, seed: int) -> "ReaderPlayer":
        return ReaderPlayer(self.settings, goal, seed)


class _Option:
    """An action and what is remembered about it in this episode."""

    __slots__ = ("text", "worth", "liking", "tried", "steps", "relevant", "found")

    def __init__(self, text: ActionText, liking: float) -> None:
        self.text = text
        self.liking = liking
        self.worth = 0.0  # what does not change from step to step
        self.tried = 0
        self.steps: list[tuple[Block, int, float]] = []  # block, place in it, likeness
        self.relevant = False
        self.found: frozenset[str] = frozenset()  # words of the goal that it led to


class ReaderPlayer:
    """The reader at one task."""

    def __init__(self, settings: Settings, goal: str, seed: int) -> None:
        self._set = settings
        self._goal = content_words(goal)
        self._wanted = frozenset(self._goal)
        self._mentions = _mentions(self._goal)
        self._rng = random.Random(derive_seed("reader", goal, seed))
        self._undo = UndoWatch(self._wanted)
        self._options: dict[str, _Option] = {}
        self._idle: dict[str, list[int]] = {}  # verb → times done, times nothing changed
        self._moved_on: set[tuple[str, ...]] = set()
        self._advice = ReadAdvice([], {}, frozenset())
        self._advice_text = ""
        self._start: frozenset[str] = frozenset()
        self._before: tuple[str, ...] = ()
        self._last = ""

    def advise(self, advice: str) -> None:
        if advice == self._advice_text:
            return
        self._advice_text = advice
        self._advice = read_advice(advice, self._goal)
        for block in self._advice.blocks:
            block.trust = self._trust(block)
        for option in self._options.values():
            self._judge(option)

    async def act(self, observation: Observation) -> str:
        actions = observation.actions
        if not actions:
            raise UsageError(
                "the reader ranks admissible actions, and this world shows none",
                hint="use an agent that writes its own actions, or a domain that shows them",
            )
        if self._last:
            self._learn(observation)
        else:
            self._start = frozenset(actions)
        action = self._best(actions)
        self._follow(self._options[action])
        self._before, self._last = actions, action
        return action

    # --- choosing ---------------------------------------------------------------------------

    def _best(self, actions: tuple[str, ...]) -> str:
        weights = self._set
        new_to = frozenset(self._before) or self._start
        best, best_score = actions[0], float("-inf")
        for name in actions:
            option = self._options.get(name) or self._meet(name)
            score = option.worth - weights.tried * option.tried
            if option.steps:
                score += weights.step * self._advised(option)
            if option.found:
                score += weights.seen * len(option.found)
            if name not in new_to:
                score += weights.fresh
            counts = self._idle.get(option.text.verb)
            if counts is not None:
                score -= weights.idle * counts[1] / (counts[0] + 1)
            if option.text.things and self._undo.undoes(option.text):
                score -= weights.undo
            if score > best_score:
                best, best_score = name, score
        return best

    def _meet(self, name: str) -> _Option:
        option = _Option(read_action(name), self._rng.random() * self._set.taste)
        self._options[name] = option
        self._judge(option)
        return option

    def _judge(self, option: _Option) -> None:
        """The part of an action's worth that follows from words alone."""
        text, notes, weights = option.text, self._advice.notes, self._set
        shared = sum(word in self._wanted for word in text.words)
        noted = sum(notes.get(word, 0.0) for word in text.words)
        strays = sum(
            not any(word in self._wanted or word in notes for word in thing.split())
            for thing in text.things[1:]
        )
        option.worth = (
            option.liking + weights.goal * shared + weights.note * noted - weights.stray * strays
        )
        option.relevant = bool(shared or noted)
        option.steps = [
            (block, place, alike)
            for block in self._advice.blocks
            for place, clause in enumerate(block.clauses)
            if (alike := _likeness(text, clause, self._wanted)) > 0
        ]

    def _trust(self, block: Block) -> float:
        """Steps that touch no word of the goal are most likely about something else."""
        touched = self._wanted.intersection(block.heading)
        for clause in block.clauses:
            touched |= self._wanted & clause.words
        if not touched:
            return self._set.distrust
        return 0.6 + 0.4 * len(touched) / len(self._wanted)

    def _advised(self, option: _Option) -> float:
        return max(
            block.trust * alike * self._nearness(place - block.position)
            for block, place, alike in option.steps
        )

    def _nearness(self, distance: int) -> float:
        if distance == 0:
            return 1.0
        if distance > 0:
            return self._set.ahead * self._set.fade ** (distance - 1)
        return self._set.behind * self._set.fade ** (-distance - 1)

    # --- learning from what came back -------------------------------------------------------

    def _follow(self, option: _Option) -> None:
        """Move each block's position past the step that this action takes."""
        best: dict[int, tuple[float, int, Block]] = {}
        for block, place, alike in option.steps:
            score = alike * self._nearness(place - block.position)
            if id(block) not in best or score > best[id(block)][0]:
                best[id(block)] = (score, place, block)
        for _, place, block in best.values():
            block.position = place + 1

    def _learn(self, observation: Observation) -> None:
        option = self._options[self._last]
        text = option.text
        option.tried += 1
        counts = self._idle.setdefault(text.verb, [0, 0])
        counts[0] += 1
        counts[1] += observation.actions == self._before
        self._undo.saw(self._before, self._last, observation.actions)
        if self._mentions is not None:
            found = frozenset(self._mentions.findall(observation.text.lower()))
            option.found = found.difference(text.things)
        self._move_on(text)

    def _move_on(self, text: ActionText) -> None:
        """After something new was done with a thing of the goal, what bears on it is open again."""
        touched = tuple(word for word in text.words if word in self._wanted)
        mark = (text.verb, *touched)
        if not touched or self._last in self._start or mark in self._moved_on:
            return
        self._moved_on.add(mark)
        for option in self._options.values():
            option.found = option.found.difference(text.things)
            if option.relevant or option.found:
                option.tried = 0
        self._options[self._last].tried = 1


def _likeness(action: ActionText, clause: Clause, wanted: frozenset[str]) -> float:
    """How well a clause describes an action, 0 to 1. Words of the goal may be left unsaid."""
    words = clause.words
    common = sum(word in words for word in action.words)
    if not common:
        return 0.0
    unsaid = sum(word in wanted and word not in words for word in action.words)
    alike = 2 * common / (len(action.words) - unsaid + len(words))
    if alike < 0.6:
        return 0.0
    if common < len(words) and common == 1 and action.verb in words:
        return 0.0  # nothing shared but the verb, and the clause names something else
    if clause.numbers and clause.numbers != action.numbers:
        alike -= 0.1
    return 2 * alike - 1


@lru_cache(maxsize=1024)
def _mentions(goal: tuple[str, ...]) -> re.Pattern[str] | None:
    """Finds the things in a text that the goal names, with their numbers."""
    if not goal:
        return None
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, goal))})\b(?: \d+)?")
