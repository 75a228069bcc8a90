"""tell: the words of the advice. `SHAPE` says what sort of ways they suit (see `think`)."""

from metamem.designs import Query, text
from metamem.designs.blocks.thinker import Thinker
from metamem.designs.thinking import phrasing
from metamem.designs.thinking.frames import parse
from metamem.designs.thinking.going import next_step


class InTurn(Thinker):
    """every way as numbered steps, one list after the other"""

    def tell(self, ways: list[list[str]], query: Query) -> str:
        return phrasing.in_turn(ways)


class BestWay(Thinker):
    """the best way alone, as numbered steps"""

    def tell(self, ways: list[list[str]], query: Query) -> str:
        return phrasing.plan(ways[0]) if ways else ""


class BestWayForGoal(Thinker):
    """the best way as numbered steps, with the goal as its title"""

    def tell(self, ways: list[list[str]], query: Query) -> str:
        return phrasing.plan(ways[0], query.goal) if ways else ""


class InKinds(Thinker):
    """every way as numbered steps, with kinds of things in place of single ones"""

    SHAPE = "open whole"

    def tell(self, ways: list[list[str]], query: Query) -> str:
        return phrasing.in_turn([[text.kinds(step) for step in way] for way in ways])


class OnOneLine(Thinker):
    """the best way on one line"""

    SHAPE = "moves"

    def tell(self, ways: list[list[str]], query: Query) -> str:
        return phrasing.runs(ways[0]) if ways else ""


class FirstSteps(Thinker):
    """how each way begins, as notes"""

    STEPS = 4

    def tell(self, ways: list[list[str]], query: Query) -> str:
        return text.bullets(dict.fromkeys(", ".join(way[: self.STEPS]) for way in ways))


class OnceForAllPlaces(Thinker):
    """one way for all places: where to find what it takes stands below it, the likeliest first"""

    SHAPE = "open"

    def tell(self, ways: list[list[str]], query: Query) -> str:
        return phrasing.once(ways)


class NextStep(Thinker):
    """the next step alone, of the way that is furthest along of those that can be gone on with"""

    SHAPE = "open"

    def tell(self, ways: list[list[str]], query: Query) -> str:
        done = [step.action for step in query.steps]
        found = next_step(ways, done, query.actions, self.tell_leads)
        return phrasing.plan([found]) if found else ""

    def tell_leads(self, step: str, after: str) -> bool:
        return parse(step).frame in self.leads(parse(after).frame)
