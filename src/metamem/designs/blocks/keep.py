"""keep: what is kept of an episode, under what it is about.

`ABOUT` says what the values are filed under (goal, word, action, look) and `SHAPE` what they are
(a sequence, or notes). They help to draw an `ask` and a `match` that can find the values and a
`phrase` that suits them, and are not copied into a child.
"""

import itertools

from metamem.designs import Experience, Step, text
from metamem.designs.blocks.part import Part


class Story(Part):
    """the actions and their answers, under the goal"""

    ABOUT = "goal"
    SHAPE = "sequence"

    def keep(self, experience: Experience, steps: list[Step]) -> list[tuple[str, str]]:
        lines = [f"{step.action} -> {step.observation}" for step in steps]
        return [(experience.goal, "\n".join(lines))]


class Actions(Part):
    """the actions in order, under the goal"""

    ABOUT = "goal"
    SHAPE = "sequence"

    def keep(self, experience: Experience, steps: list[Step]) -> list[tuple[str, str]]:
        return [(experience.goal, "\n".join(step.action for step in steps))]


class ActionsFromHere(Part):
    """the actions in order, under the first observation"""

    ABOUT = "look"
    SHAPE = "sequence"

    def keep(self, experience: Experience, steps: list[Step]) -> list[tuple[str, str]]:
        return [(experience.observation, "\n".join(step.action for step in steps))]


class Outcome(Part):
    """whether and after how many actions it ended well, under the goal"""

    ABOUT = "goal"
    SHAPE = "notes"

    def keep(self, experience: Experience, steps: list[Step]) -> list[tuple[str, str]]:
        ended = "reached" if experience.reward > 0 else "not reached"
        return [(experience.goal, f"{ended} after {len(steps)} actions")]


class Paid(Part):
    """the actions that brought a reward, under the goal"""

    ABOUT = "goal"
    SHAPE = "notes"

    def keep(self, experience: Experience, steps: list[Step]) -> list[tuple[str, str]]:
        return [(experience.goal, step.action) for step in steps if step.reward > 0]


class ActionsByGoalWord(Part):
    """each action, under each word of the goal"""

    ABOUT = "word"
    SHAPE = "notes"

    def keep(self, experience: Experience, steps: list[Step]) -> list[tuple[str, str]]:
        wanted = text.content_words(experience.goal)
        return [(word, step.action) for word in wanted for step in steps]


class SeenAfter(Part):
    """the action after which a word was read, under that word"""

    ABOUT = "word"
    SHAPE = "notes"

    def keep(self, experience: Experience, steps: list[Step]) -> list[tuple[str, str]]:
        pairs = []
        for step in steps:
            said = set(text.words(step.action))
            seen = [w for w in text.content_words(step.observation) if w not in said]
            pairs += [(word, step.action) for word in seen]
        return pairs


class SeenWith(Part):
    """the words that were read together with a word, under that word"""

    ABOUT = "word"
    SHAPE = "notes"

    def keep(self, experience: Experience, steps: list[Step]) -> list[tuple[str, str]]:
        pairs = []
        for step in steps:
            seen = text.content_words(step.observation)[:12]
            pairs += [(one, other) for one in seen for other in seen if one != other]
        return pairs


class MadePossible(Part):
    """the action that made another possible, under each word of the other"""

    ABOUT = "word"
    SHAPE = "notes"

    def keep(self, experience: Experience, steps: list[Step]) -> list[tuple[str, str]]:
        pairs = []
        possible = set(experience.actions)
        for step in steps:
            fresh = [action for action in step.actions if action not in possible]
            possible = set(step.actions)
            opened = dict.fromkeys(word for a in fresh for word in text.content_words(a))
            pairs += [(word, step.action) for word in opened]
        return pairs


class MadeDoable(Part):
    """the action that made a sort of action possible, under the first word of that sort"""

    ABOUT = "word"
    SHAPE = "notes"

    def keep(self, experience: Experience, steps: list[Step]) -> list[tuple[str, str]]:
        pairs = []
        doable = {text.first_word(action) for action in experience.actions}
        for step in steps:
            now = dict.fromkeys(text.first_word(action) for action in step.actions)
            pairs += [(sort, step.action) for sort in now if sort not in doable]
            doable = set(now)
        return pairs


class PossibleAfter(Part):
    """the actions that an action made possible, under that action"""

    ABOUT = "action"
    SHAPE = "notes"

    def keep(self, experience: Experience, steps: list[Step]) -> list[tuple[str, str]]:
        pairs = []
        possible = set(experience.actions)
        for step in steps:
            pairs += [(step.action, action) for action in step.actions if action not in possible]
            possible = set(step.actions)
        return pairs


class FollowUps(Part):
    """the action that came next, under the action before"""

    ABOUT = "action"
    SHAPE = "notes"

    def keep(self, experience: Experience, steps: list[Step]) -> list[tuple[str, str]]:
        return [(a.action, b.action) for a, b in itertools.pairwise(steps)]


class Answers(Part):
    """the answer to an action, under that action"""

    ABOUT = "action"
    SHAPE = "notes"

    def keep(self, experience: Experience, steps: list[Step]) -> list[tuple[str, str]]:
        return [(step.action, step.observation) for step in steps]
