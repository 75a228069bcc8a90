"""trim: which steps of an episode count."""

from metamem.designs import Step, text
from metamem.designs.blocks.part import Part


class AllSteps(Part):
    """all steps"""

    def trim(self, steps: list[Step], goal: str) -> list[Step]:
        return steps


class ChangedActions(Part):
    """steps after which other actions were possible than before"""

    def trim(self, steps: list[Step], goal: str) -> list[Step]:
        before = [(), *(step.actions for step in steps)]
        return [step for step, old in zip(steps, before, strict=False) if step.actions != old]


class News(Part):
    """steps that were answered with something not read before in the episode"""

    def trim(self, steps: list[Step], goal: str) -> list[Step]:
        first = {step.observation: n for n, step in reversed(list(enumerate(steps)))}
        return [step for n, step in enumerate(steps) if first[step.observation] == n]


class NoLoops(Part):
    """steps that were not undone by coming back to the same situation"""

    def trim(self, steps: list[Step], goal: str) -> list[Step]:
        kept: list[Step] = []
        for step in steps:
            for n, earlier in enumerate(kept):
                same_view = earlier.observation == step.observation
                if same_view and earlier.actions == step.actions:
                    del kept[n:]
                    break
            kept.append(step)
        return kept


class LastOfRuns(Part):
    """of several actions of the same sort in a row, the last"""

    def trim(self, steps: list[Step], goal: str) -> list[Step]:
        sorts = [text.first_word(step.action) for step in steps]
        after = [*sorts[1:], ""]
        return [s for s, sort, then in zip(steps, sorts, after, strict=False) if sort != then]


class LedToEnd(Part):
    """backwards from the end, steps about the same things as the goal or as later such steps"""

    def trim(self, steps: list[Step], goal: str) -> list[Step]:
        matters = set(text.content_words(goal))
        kept: list[Step] = []
        for step in reversed(steps):
            about = text.objects(step.action)
            if not matters.isdisjoint(about):
                matters.update(about)
                kept.append(step)
        return kept[::-1]


class GoalSteps(Part):
    """steps whose action or answer names a word of the goal"""

    def trim(self, steps: list[Step], goal: str) -> list[Step]:
        wanted = set(text.content_words(goal))
        return [s for s in steps if wanted & set(text.words(f"{s.action} {s.observation}"))]


class LastFew(Part):
    """the last few steps"""

    LAST = 5

    def trim(self, steps: list[Step], goal: str) -> list[Step]:
        return steps[-self.LAST :]
