"""ask: what to look for. `ASKS` says what the questions are (see `keep`)."""

from metamem.designs import Query, text
from metamem.designs.blocks.part import Part


class Goal(Part):
    """the goal as a whole"""

    ASKS = "goal"

    def ask(self, query: Query, told: str) -> list[str]:
        return [query.goal]


class GoalWords(Part):
    """each word of the goal"""

    ASKS = "word"

    def ask(self, query: Query, told: str) -> list[str]:
        return text.content_words(query.goal)


class LastGoalWords(Part):
    """each word of the goal, the last first"""

    ASKS = "word"

    def ask(self, query: Query, told: str) -> list[str]:
        return text.content_words(query.goal)[::-1]


class GoalAndLook(Part):
    """the goal together with what is seen now"""

    ASKS = "look"

    def ask(self, query: Query, told: str) -> list[str]:
        return [f"{query.goal}\n{query.observation}"]


class Look(Part):
    """what is seen now"""

    ASKS = "look"

    def ask(self, query: Query, told: str) -> list[str]:
        return [query.observation]


class ToldWords(Part):
    """each word that earlier parts of the advice use"""

    ASKS = "word"

    def ask(self, query: Query, told: str) -> list[str]:
        return text.content_words(told)[:15]


class ToldLines(Part):
    """each line that earlier parts of the advice have"""

    ASKS = "action"

    def ask(self, query: Query, told: str) -> list[str]:
        return [line for line in told.split("\n") if line][:15]


class PossibleActions(Part):
    """each action that is possible now and names a word of the goal"""

    ASKS = "action"

    def ask(self, query: Query, told: str) -> list[str]:
        wanted = set(text.content_words(query.goal))
        return [a for a in query.actions if wanted & set(text.words(a))][:15]
