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
    early: float = 0.3  # of that, for things known from the start while others are to be found
    seen: float = 0.6  # each thing of the goal that the action led to before
    note: float = 2.0  # each word that the advice ties to a word of the goal
    step: float = 6.0  # the advised next step
    fresh: float = 0.8  # became possible along the way and is untried
    tried: float = 1.5  # each time it was done already since things last moved on
    stock: float = 0.15  # each time another of its kind was done
    idle: float = 3.0  # its kind has changed nothing so far
    stray: float = 0.9  # it acts on a thing that nothing speaks for
    undo: float = 12.0  # it would undo what was done
    taste: float = 1.0  # chance: how far a player's own liking may go
    distrust: float = 0.2  # what is left of steps that touch no word of the goal
    behind: float = 0.5  # weight of a step already passed, when another of its kind is untried
    ahead: float = 0.4  # weight of a step after the next one
    skip: float = 0.2  # what is left of that when a step about the goal lies between
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

    __slots__ = (
        "early", "found", "goal_things", "liking", "new", "steps", "text", "ties", "tried", "worth",
    )

    def __init__(self, text: ActionText, liking: float, new: bool) -> None:
        self.text = text
        self.liking = liking
        self.new = new  # not possible at the start
        self.tried = 0
        self.worth = 0.0  # what words alone say for it
        self.early = 0.0  # what is to be taken off while things of the goal are yet to be found
        self.ties: list[tuple[str, float]] = []  # words of the goal that notes tie it to
        self.steps: list[tuple[Block, int, float]] = []  # block, place in it, likeness
        self.goal_things: tuple[str, ...] = ()  # words of the goal among things found on the way
        self.found: frozenset[str] = frozenset()  # things of the goal that it led to


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
        self._kinds: dict[tuple[str, ...], int] = {}  # words of an action → times done
        self._moved_on: set[tuple[str, ...]] = set()
        self._advice = ReadAdvice([], {})
        self._advice_text = ""
        self._known: frozenset[str] = frozenset()  # words of what was possible at the start
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
            self._known = frozenset(w for name in actions for w in read_action(name).words)
        action = self._best(actions)
        self._follow(self._options[action])
        self._before, self._last = actions, action
        return action

    # --- choosing ---------------------------------------------------------------------------

    def _best(self, actions: tuple[str, ...]) -> str:
        weights = self._set
        options = [self._options.get(name) or self._meet(name) for name in actions]
        undone = [o.text.things != () and self._undo.undoes(o.text) for o in options]
        at_hand = {
            word
            for option, undoes in zip(options, undone, strict=True)
            if option.goal_things and not undoes
            for word in option.goal_things
        }
        best, best_score = 0, float("-inf")
        for place, option in enumerate(options):
            score = option.worth - weights.tried * option.tried
            if not at_hand:
                score -= option.early
            told = 0.0
            for word, tie in option.ties:
                told = max(told, weights.note * tie)
            if option.steps:
                told = max(told, weights.step * self._advised(option, at_hand))
            if option.new and not option.tried:
                score += weights.fresh
            score += told
            kind = self._kinds.get(option.text.words)
            if kind is not None:
                score -= weights.stock * kind
            if option.found:
                score += weights.seen * len(option.found)
            counts = self._idle.get(option.text.verb)
            if counts is not None:
                score -= weights.idle * counts[1] / (counts[0] + 1)
            if undone[place]:
                score -= weights.undo
            if score > best_score:
                best, best_score = place, score
        return actions[best]

    def _meet(self, name: str) -> _Option:
        option = _Option(
            read_action(name), self._rng.random() * self._set.taste, bool(self._last)
        )
        self._options[name] = option
        self._judge(option)
        return option

    def _judge(self, option: _Option) -> None:
        """The part of an action's worth that follows from words alone."""
        text, weights = option.text, self._set
        shared = [word for word in text.words if word in self._wanted]
        option.goal_things = tuple(
            word
            for thing in text.things
            for word in thing.split()
            if word in self._wanted and word not in self._known
        )
        ties: dict[str, float] = {}
        for word in (w for thing in text.things for w in thing.split()):
            for goal_word, tie in self._advice.notes.get(word, {}).items():
                ties[goal_word] = max(ties.get(goal_word, 0.0), tie)
        option.ties = list(ties.items())
        if len(text.things) > 1 and not self._spoken_for(text.things[0]):
            option.worth, option.ties, shared = option.liking - weights.stray, [], []
        else:
            option.worth = option.liking + weights.goal * len(shared)
        option.early = weights.goal * (1 - weights.early) * sum(w in self._known for w in shared)
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

    def _spoken_for(self, thing: str) -> bool:
        return any(word in self._wanted or word in self._advice.notes for word in thing.split())

    def _advised(self, option: _Option, at_hand: set[str]) -> float:
        best = 0.0
        for block, place, alike in option.steps:
            value = block.trust * alike * self._nearness(place - block.position)
            if value > best and place > block.position:
                for clause in block.clauses[block.position : place]:
                    if any(w not in at_hand and w not in self._known for w in clause.goal_words):
                        value *= self._set.skip
                        break
            best = max(best, value)
        return best

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
        self._kinds[text.words] = self._kinds.get(text.words, 0) + 1
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
        done = self._options[self._last]
        mark = (text.verb, *done.goal_things)
        if not done.goal_things or mark in self._moved_on:
            return
        self._moved_on.add(mark)
        for option in self._options.values():
            option.found = option.found.difference(text.things)
            if option.early or option.ties or option.found:
                option.tried = 0
        done.tried = 1


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
    if len(action.things) > 1 and not any(
        word in words or word in wanted for word in action.things[0].split()
    ):
        return 0.0  # it acts on something else
    if clause.numbers and clause.numbers != action.numbers:
        alike -= 0.1
    return 2 * alike - 1


@lru_cache(maxsize=1024)
def _mentions(goal: tuple[str, ...]) -> re.Pattern[str] | None:
    """Finds the things in a text that the goal names, with their numbers."""
    if not goal:
        return None
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, goal))})\b(?: \d+)?")
