"""heed: which lines may count for a query; the first is the plainest."""

from metamem.designs import Query, text
from metamem.designs.blocks.listener import Heard, Listener


class AnyLine(Listener):
    """any line"""

    def heed(self, heard: Heard, query: Query) -> bool:
        return True


class NamedOnes(Listener):
    """lines that have a name which the goal has, where it has one"""

    def heed(self, heard: Heard, query: Query) -> bool:
        spoken = query.goal.replace("'s", "").replace("?", " ").replace(",", " ").split()
        names = [w.lower().strip(".:;!") for w in spoken[1:] if w[:1].isupper()]
        known = [name for name in names if self.having[name]]
        return not known or any(name in text.words(heard.line) for name in known)


class FirstNamed(Listener):
    """lines that begin with a name which the goal has, where it has one"""

    def heed(self, heard: Heard, query: Query) -> bool:
        spoken = query.goal.replace("'s", "").replace("?", " ").replace(",", " ").split()
        names = [w.lower().strip(".:;!") for w in spoken[1:] if w[:1].isupper()]
        known = [name for name in names if self.having[name]]
        return not known or any(name in text.words(heard.line)[:6] for name in known)


class NoQuestions(Listener):
    """lines that are no questions"""

    def heed(self, heard: Heard, query: Query) -> bool:
        return not heard.line.rstrip().endswith("?")


class NoRoutine(Listener):
    """lines that were not read again and again"""

    SHORTEST = 2

    def heed(self, heard: Heard, query: Query) -> bool:
        return self.repeated[heard.line.partition(" ")[2]] <= self.SHORTEST
