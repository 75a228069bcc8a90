"""where: which place stands for what a way leaves open (`_`), and for a kind of place.

`SHAPE` says what sort of ways they suit (see `think`).
"""

from metamem.designs import Query, text
from metamem.designs.blocks.thinker import Thinker
from metamem.designs.thinking.frames import SLOT, fill, parse


class LeftOpen(Thinker):
    """nothing is filled in, and steps that leave something open are passed over"""

    SHAPE = "whole moves"

    def where(self, way: list[str], query: Query) -> list[list[str]]:
        return [[step for step in way if SLOT not in step.split()]]


class WhereSeen(Thinker):
    """places where such things were seen, the likeliest for each step of effort first"""

    SHAPE = "open"
    PLACES = 12

    def where(self, way: list[str], query: Query) -> list[list[str]]:
        here = self.here(query)
        goal = text.content_words(query.goal)
        orders = [self.where_order(step, here, goal) for step in way]
        ways = []
        for turn in range(self.PLACES):
            told = [
                self.where_put(step, order[min(turn, len(order) - 1)] if order else "")
                for step, order in zip(way, orders, strict=True)
            ]
            ways.append([step for step in told if SLOT not in step.split()])
        return ways

    def where_order(self, step: str, here: list[str], goal: list[str]) -> list[str]:
        """The one place that the step names by its kind; else all of the kinds that ever stood
        there, where the thing was seen; last where the goal wants something to be: there it is not.
        """
        frame, named = parse(step)
        places = [p for name in named[::-1] for p in here if text.kinds(p) == name]
        if places or not named:
            return places[:1]
        use = self.frames.uses.get(frame)
        usual = [p for p in here if use and text.kinds(p) in use.fillers[-1]]
        order = self.seen.order(named[0], usual or here, lambda p: 1 + len(self.reach(frame, p)))
        return sorted(order, key=lambda place: text.kinds(place) in goal)

    def where_put(self, step: str, place: str) -> str:
        frame, named = parse(step)
        kind = text.kinds(place)
        return fill(frame, [place if place and name in (SLOT, kind) else name for name in named])


class AsListed(Thinker):
    """the places that there are, in the order in which they are listed"""

    SHAPE = "open"
    PLACES = 12

    def where(self, way: list[str], query: Query) -> list[list[str]]:
        here = self.here(query)
        if not any(SLOT in step.split() for step in way):
            return [way]
        return [
            [fill(step, [place] * step.split().count(SLOT)) for step in way]
            for place in here[: self.PLACES]
        ]


class Usual(Thinker):
    """what most often stood there"""

    SHAPE = "open"

    def where(self, way: list[str], query: Query) -> list[list[str]]:
        return [[self.where_usual(step) for step in way]]

    def where_usual(self, step: str) -> str:
        frame, named = parse(step)
        use = self.frames.uses.get(frame)
        if use is None:
            return step
        usual = [max(slot, key=lambda kind: (slot[kind], kind)) for slot in use.fillers]
        return fill(frame, [u if n == SLOT else n for n, u in zip(named, usual, strict=True)])
