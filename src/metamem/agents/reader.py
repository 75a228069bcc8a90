"""The reader: an agent without a model, for any world that shows its admissible actions.

It knows the goal, what it observes, what it may do, and the advice, all as text, and ranks the
actions by what those say. It has no vocabulary of any domain and keeps nothing between tasks.
"""

import random
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache

from metamem.agents.advice import Block, ReadAdvice, likeness, read_advice
from metamem.agents.plans import Now, PlanStep, keep_places, plan_step
from metamem.agents.text import ActionText, content_words, read_action, spelled
from metamem.agents.undo import Reversals
from metamem.core.errors import UsageError
from metamem.core.ids import content_id, derive_seed
from metamem.core.protocols import Seat
from metamem.core.types import Observation

VERSION = 2


@dataclass(frozen=True, slots=True)
class Settings:
    """How much each reason counts. Set on training tasks only; part of the fingerprint."""

    goal: float = 1.0  # each word shared with the goal
    early: float = 0.3  # of that, for things known from the start while others are to be found
    seen: float = 0.6  # each thing of the goal that the action led to before
    note: float = 2.0  # names a thing that the advice ties to a word of the goal
    stale: float = 0.4  # of that, when the thing of that word is at hand
    step: float = 6.0  # the advised next step
    behind: float = 0.5  # of that, for a step already passed: another of its kind may do
    ahead: float = 0.4  # of that, for a step after the next one
    fade: float = 0.9  # of that, for each further step of distance
    skip: float = 0.2  # of that, when a step about the goal would be left out
    other: float = 0.2  # of that, when the other number is meant
    distrust: float = 0.2  # of that, when no step touches a word of the goal
    fresh: float = 0.8  # became possible along the way and is untried
    tried: float = 1.5  # each time it was done already since things last moved on
    stock: float = 0.15  # each time that it or another of its kind was done
    idle: float = 3.0  # its verb has changed nothing so far
    stray: float = 0.9  # it acts on a thing that nothing speaks for
    undo: float = 12.0  # it would undo what was done; more than any advice can outweigh
    taste: float = 1.0  # chance: how far a player's own liking may go


class Reader:
    """Ranks the admissible actions by what goal, observation and advice say; no model.

    A setting of nought takes a mechanism away: `Reader(undo=0)`.
    """

    def __init__(self, **settings: float) -> None:
        self.settings = Settings(**{name: float(value) for name, value in settings.items()})
        self._fingerprint = f"reader-{VERSION}/{content_id(asdict(self.settings))[:8]}"

    @property
    def fingerprint(self) -> str:
        return self._fingerprint

    def start(self, seat: Seat) -> "ReaderPlayer":
        return ReaderPlayer(self.settings, seat.goal, seat.seed)


class _Verb:
    """How often actions with this first word were done, and how often nothing changed."""

    __slots__ = ("done", "idle", "vain")

    def __init__(self) -> None:
        self.done = self.vain = 0
        self.idle = 0.0  # share of vain tries, on the hopeful side


class _Kind:
    """What words alone say about all actions that differ only in their numbers."""

    __slots__ = ("done", "early", "goal_things", "notes", "steps", "verb", "worth")

    def __init__(self, verb: _Verb) -> None:
        self.verb = verb
        self.done = 0
        self.worth = 0.0
        self.early = 0.0  # to be taken off while things of the goal are yet to be found
        self.notes: list[tuple[str, float]] = []  # words of the goal that the advice ties it to
        self.goal_things = False  # names a thing of the goal that had to be found
        self.steps: list[tuple[Block, int, float]] = []  # block, place in it, likeness


class _Option:
    """One action and what is remembered about it in this episode."""

    __slots__ = ("found", "kind", "liking", "name", "new", "steps", "text", "tried")

    def __init__(self, name: str, text: ActionText, liking: float, new: bool) -> None:
        self.name = name
        self.text = text
        self.liking = liking
        self.new = new  # not possible at the start
        self.tried = 0
        self.found: frozenset[str] = frozenset()  # things of the goal that it led to
        self.kind: _Kind
        self.steps: list[tuple[Block, int, float]]


class ReaderPlayer:
    """The reader at one task."""

    def __init__(self, settings: Settings, goal: str, seed: int) -> None:
        self._set = settings
        self._task = goal.lower()
        self._goal = content_words(goal)
        self._wanted = frozenset(self._goal)
        self._mentions = _mentions(self._goal)
        self._rng = random.Random(derive_seed("reader", goal, seed))
        self._undo = Reversals(self._wanted)
        self._options: dict[str, _Option] = {}
        self._kinds: dict[tuple[object, ...], _Kind] = {}
        self._verbs: dict[str, _Verb] = {}
        self._reopened_by: set[tuple[str, ...]] = set()
        self._advice = ReadAdvice([], {})
        self._advice_text = ""
        self._known: frozenset[str] = frozenset()  # words of the first actions and observation
        self._before: tuple[str, ...] = ()
        self._last = ""

    def advise(self, advice: str) -> None:
        if advice == self._advice_text:
            return  # the same words again: keep the place in them
        before = self._advice.blocks
        self._advice_text = advice
        self._advice = read_advice(advice, self._goal)
        for block in self._advice.blocks:
            self._believe(block)
            block.pace(self._verbs)
        keep_places(before, self._advice.blocks)
        for kind in self._kinds.values():
            kind.steps = []
        for option in self._options.values():
            self._judge(option.text, option.kind)
            self._number(option)

    async def act(self, observation: Observation) -> str:
        actions = observation.actions
        if not actions:
            raise UsageError(
                "the reader ranks admissible actions, and this world shows none",
                hint="choose an agent that writes its own actions, or a domain that shows them",
            )
        if self._last:
            self._learn(observation)
        else:
            self._known = frozenset(
                [
                    *(word for name in actions for word in read_action(name).words),
                    *content_words(observation.text.lower().replace(self._task, " ")),
                ]
            )
        options = [self._options.get(name) or self._meet(name) for name in actions]
        at_hand = self._at_hand(options)
        reach = self._known | at_hand
        planned = self._planned(options, reach)
        action = planned.action if planned else self._best(options, at_hand, reach)
        self._follow(self._options[action])
        if planned:
            planned.block.position = planned.after
        self._before, self._last = actions, action
        return action

    # --- choosing ---------------------------------------------------------------------------

    def _at_hand(self, options: Sequence[_Option]) -> frozenset[str]:
        """Words of the things of the goal that something can be done with now."""
        return frozenset(
            word
            for option in options
            if option.kind.goal_things and not self._undo.undoes(option.text)
            for words in option.text.thing_words
            for word in words
        )

    def _planned(self, options: Sequence[_Option], reach: frozenset[str]) -> PlanStep | None:
        """The next step of a plan that the advice spells out."""
        if not self._advice.blocks:
            return None
        now = Now(
            spelled={spelled(option.name): option.name for option in options},
            kinds={frozenset(option.text.words) for option in options},
            reach=reach,
            undoes=lambda name: self._undoes(self._options[name].text),
        )
        return plan_step(self._advice.blocks, now)

    def _undoes(self, action: ActionText) -> bool:
        return bool(self._set.undo and action.things and self._undo.undoes(action))

    def _best(
        self, options: Sequence[_Option], at_hand: frozenset[str], reach: frozenset[str]
    ) -> str:
        weights, undoes = self._set, self._undo.undoes
        best, best_score = options[0].name, float("-inf")
        for option in options:
            kind = option.kind
            score = option.liking + kind.worth
            score -= weights.tried * option.tried + weights.stock * kind.done
            score -= weights.idle * kind.verb.idle
            if not at_hand:
                score -= kind.early
            if option.new and not option.tried:
                score += weights.fresh
            if option.found:
                score += weights.seen * len(option.found)
            told = 0.0
            for word, noted in kind.notes:
                told = max(told, noted * weights.stale if word in at_hand else noted)
            if option.steps:
                told = max(told, weights.step * self._advised(option, reach))
            score += told
            if score > best_score and option.text.things and undoes(option.text):
                score -= weights.undo
            if score > best_score:
                best, best_score = option.name, score
        return best

    def _advised(self, option: _Option, reach: frozenset[str]) -> float:
        """How strongly the advice has this action as a step now, 0 to 1."""
        best = 0.0
        for block, place, alike in option.steps:
            value = block.trust * alike * self._nearness(block.distance(place))
            if value > best and place > block.position:
                left_out = block.clauses[block.position : place]
                if any(not clause.goal_words <= reach for clause in left_out):
                    value *= self._set.skip
            best = max(best, value)
        return best

    def _nearness(self, distance: int) -> float:
        if distance == 0:
            return 1.0
        if distance > 0:
            return self._set.ahead * self._set.fade ** (distance - 1)
        return self._set.behind * self._set.fade ** (-distance - 1)

    # --- judging by words alone -------------------------------------------------------------

    def _meet(self, name: str) -> _Option:
        text = read_action(name)
        option = _Option(name, text, self._rng.random() * self._set.taste, bool(self._last))
        key = (text.words, text.thing_words)
        kind = self._kinds.get(key)
        if kind is None:
            if text.verb not in self._verbs:
                self._verbs[text.verb] = _Verb()
                for block in self._advice.blocks:
                    block.pace(self._verbs)
            kind = self._kinds[key] = _Kind(self._verbs[text.verb])
            self._judge(text, kind)
        option.kind = kind
        self._number(option)
        self._options[name] = option
        return option

    def _judge(self, text: ActionText, kind: _Kind) -> None:
        weights, wanted, notes = self._set, self._wanted, self._advice.notes
        shared = [word for word in text.words if word in wanted]
        named = [word for words in text.thing_words for word in words]
        kind.goal_things = any(word in wanted and word not in self._known for word in named)
        if len(text.things) > 1 and not any(w in wanted or w in notes for w in text.thing_words[0]):
            kind.worth, kind.notes, kind.early = -weights.stray, [], 0.0
        else:
            kind.worth = weights.goal * len(shared)
            ties = [tie for word in named for tie in notes.get(word, {}).items()]
            kind.notes = [(word, weights.note * strength) for word, strength in ties]
            from_start = sum(word in self._known for word in shared)
            kind.early = weights.goal * (1 - weights.early) * from_start
        alike: dict[frozenset[str], float] = {}
        kind.steps = []
        for block in self._advice.blocks:
            for place, clause in enumerate(block.clauses):
                if clause.words not in alike:
                    alike[clause.words] = likeness(text, clause.words, wanted)
                if alike[clause.words] > 0:
                    kind.steps.append((block, place, alike[clause.words]))

    def _number(self, option: _Option) -> None:
        """A step with other numbers than the action's is a little less like it."""
        numbers = option.text.numbers
        option.steps = [
            (block, place, alike * (1 - self._set.other))
            if block.clauses[place].numbers not in ((), numbers)
            else (block, place, alike)
            for block, place, alike in option.kind.steps
        ]

    def _believe(self, block: Block) -> None:
        """Steps that touch no word of the goal are most likely about something else."""
        touched = self._wanted.intersection(block.heading)
        for clause in block.clauses:
            touched |= clause.goal_words
        block.about_goal = bool(touched)
        share = len(touched) / len(self._wanted) if touched else 0.0
        block.trust = 0.6 + 0.4 * share if touched else self._set.distrust

    # --- learning from what came back -------------------------------------------------------

    def _follow(self, option: _Option) -> None:
        """Move each block's position past the step that this action takes."""
        best: dict[int, tuple[float, int, Block]] = {}
        for block, place, alike in option.steps:
            score = alike * self._nearness(block.distance(place))
            if id(block) not in best or score > best[id(block)][0]:
                best[id(block)] = (score, place, block)
        for _, place, block in best.values():
            block.position = place + 1

    def _learn(self, observation: Observation) -> None:
        option = self._options[self._last]
        option.tried += 1
        option.kind.done += 1
        verb = option.kind.verb
        verb.done += 1
        verb.vain += observation.actions == self._before
        verb.idle = verb.vain / (verb.done + 1)
        self._undo.saw(self._before, self._last, observation.actions)
        if self._mentions is not None:
            found = frozenset(self._mentions.findall(observation.text.lower()))
            option.found = found.difference(option.text.things)
        if option.kind.goal_things:
            self._reopen(option)

    def _reopen(self, done: _Option) -> None:
        """After something new was done with a thing of the goal, what bears on it is open again."""
        mark = (done.text.verb, *(word for word in done.text.words if word in self._wanted))
        if mark in self._reopened_by:
            return
        self._reopened_by.add(mark)
        for option in self._options.values():
            option.found = option.found.difference(done.text.things)
            if option.kind.early or option.kind.notes or option.found:
                option.tried = 0
        done.tried = 1


@lru_cache(maxsize=1024)
def _mentions(goal: tuple[str, ...]) -> re.Pattern[str] | None:
    """Finds the things in a text that the goal names, with their numbers."""
    if not goal:
        return None
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, goal))})\b(?: \d+)?")
