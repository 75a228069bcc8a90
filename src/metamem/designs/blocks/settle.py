"""settle: what a later line does to an earlier one; the first is the plainest."""

from metamem.designs import Query, text
from metamem.designs.blocks.listener import Heard, Listener


class AllHold(Listener):
    """all lines hold"""

    def settle(self, found: list[tuple[float, Heard]], query: Query) -> list[tuple[float, Heard]]:
        return found


class LaterHides(Listener):
    """a later line hides an earlier one that is much like it and answers no better"""

    ALIKE = 0.4
    NEAR = 0.7

    def settle(self, found: list[tuple[float, Heard]], query: Query) -> list[tuple[float, Heard]]:
        kept = []
        for weight, heard in found[:20]:
            hidden = any(
                other.number > heard.number
                and better >= self.NEAR * weight
                and text.overlap(other.words, heard.words) >= self.ALIKE
                for better, other in found[:20]
            )
            if not hidden:
                kept.append((weight, heard))
        return kept


class LatestFirst(Listener):
    """of lines that answer nearly as well as the best, the latest comes first"""

    NEAR = 0.7

    def settle(self, found: list[tuple[float, Heard]], query: Query) -> list[tuple[float, Heard]]:
        if not found:
            return found
        near = [pair for pair in found if pair[0] >= self.NEAR * found[0][0]]
        near.sort(key=lambda pair: -pair[1].number)
        return [*near, *found[len(near) :]]


class LatestOnly(Listener):
    """of lines that answer nearly as well as the best, only the latest holds"""

    NEAR = 0.7

    def settle(self, found: list[tuple[float, Heard]], query: Query) -> list[tuple[float, Heard]]:
        if not found:
            return found
        near = [pair for pair in found if pair[0] >= self.NEAR * found[0][0]]
        return [max(near, key=lambda pair: pair[1].number), *found[len(near) :]]


class TakenBack(Listener):
    """nothing holds where the latest of the best lines asks that it be left alone"""

    NEAR = 0.6

    def settle(self, found: list[tuple[float, Heard]], query: Query) -> list[tuple[float, Heard]]:
        if not found:
            return found
        near = [pair for pair in found if pair[0] >= self.NEAR * found[0][0]]
        latest = max(near, key=lambda pair: pair[1].number)[1]
        spoken = set(text.words(latest.line))
        return [] if spoken & {"forget", "delete", "erase", "ignore", "disregard"} else found


class NextToo(Listener):
    """with a line there comes the one that was read after it"""

    def settle(self, found: list[tuple[float, Heard]], query: Query) -> list[tuple[float, Heard]]:
        kept: dict[int, tuple[float, Heard]] = {}
        for weight, heard in found:
            for other in self.lines[heard.number : heard.number + 2]:
                kept.setdefault(other.number, (weight, other))
        return list(kept.values())
