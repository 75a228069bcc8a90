"""adapt: a value as it is told for this query."""

from metamem.designs import Query, text
from metamem.designs.blocks.part import Part, Row


class Unchanged(Part):
    """unchanged"""

    def adapt(self, value: str, row: Row, query: Query) -> str:
        return value


class Analogy(Part):
    """with the words that differ between what it is about and the goal replaced by the goal's"""

    def adapt(self, value: str, row: Row, query: Query) -> str:
        return text.substitute(value, text.substitutions(row.about, query.goal))


class InView(Part):
    """only lines about something that is seen or can be acted on now"""

    def adapt(self, value: str, row: Row, query: Query) -> str:
        around = set(text.words(query.observation))
        for action in query.actions:
            around.update(text.words(action))
        lines = [x for x in value.splitlines() if around & set(text.content_words(x))]
        return "\n".join(lines)


class ForTheGoal(Part):
    """only lines with a word of the goal"""

    def adapt(self, value: str, row: Row, query: Query) -> str:
        wanted = set(text.content_words(query.goal))
        return "\n".join(x for x in value.splitlines() if wanted & set(text.words(x)))


class NotYetDone(Part):
    """only lines that were not done yet"""

    def adapt(self, value: str, row: Row, query: Query) -> str:
        done = {step.action for step in query.steps}
        return "\n".join(x for x in value.splitlines() if x not in done)
