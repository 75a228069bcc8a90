"""answer: how much is told; the first is the plainest."""

from metamem.designs.blocks.listener import Heard, Listener


class BestFew(Listener):
    """the best few lines"""

    def answer(self, found: list[tuple[float, Heard]]) -> list[str]:
        return list(dict.fromkeys(heard.line for _, heard in found[: self.TOP]))


class OnlyTheBest(Listener):
    """the best line alone"""

    def answer(self, found: list[tuple[float, Heard]]) -> list[str]:
        return [heard.line for _, heard in found[:1]]


class NearTheBest(Listener):
    """the lines that answer nearly as well as the best"""

    NEAR = 0.7

    def answer(self, found: list[tuple[float, Heard]]) -> list[str]:
        good = [heard.line for weight, heard in found if weight >= self.NEAR * found[0][0]]
        return list(dict.fromkeys(good[: self.TOP]))


class OrNothing(Listener):
    """the best few lines, and nothing where even the best answers badly"""

    FLOOR = 0.3

    def answer(self, found: list[tuple[float, Heard]]) -> list[str]:
        good = [heard.line for weight, heard in found if weight >= self.FLOOR]
        return list(dict.fromkeys(good[: self.TOP]))


class BestOrNothing(Listener):
    """the best line alone, and nothing where it answers badly"""

    FLOOR = 0.3

    def answer(self, found: list[tuple[float, Heard]]) -> list[str]:
        return [heard.line for weight, heard in found[:1] if weight >= self.FLOOR]


class InOrder(Listener):
    """the best few lines, in the order in which they were read"""

    def answer(self, found: list[tuple[float, Heard]]) -> list[str]:
        few = sorted(found[: self.TOP], key=lambda pair: pair[1].number)
        return list(dict.fromkeys(heard.line for _, heard in few))
