"""The plumbing of layers that listen: lines are kept as they were read, and the few that answer are
told; the slots are filled by blocks.

hear:    the lines of an episode, each with what it may be found by
heed:    which of them may count for a query
weigh:   how well each answers
settle:  what a later line does to an earlier one
answer:  how much is told
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from metamem.designs import Experience, Layer, Query, Tools, text


@dataclass
class Heard:
    """A line, and how it came here."""

    line: str
    words: tuple[str, ...]  # that it is found by
    number: int  # the later, the larger


class Listener(Layer):
    """Keeps lines and tells those that answer."""

    TOP = 3  # lines told at most
    BUDGET = 500  # tokens

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.lines: list[Heard] = []
        self.having: Counter[str] = Counter()  # lines with a word
        self.repeated: Counter[str] = Counter()  # a line without its first word: times it was read
        self.vectors: list[Any] = []  # of lines, for those who compare meanings

    async def update(self, experience: Experience) -> None:
        for line, found_by in self.hear(experience):
            words = tuple(dict.fromkeys(text.content_words(found_by)))
            if words:
                self.lines.append(Heard(line, words, len(self.lines)))
                self.having.update(words)
                self.repeated[line.partition(" ")[2]] += 1
        await self.weigh_prepare()

    async def retrieve(self, query: Query, told: str = "") -> str:
        heeded = [heard for heard in self.lines if self.heed(heard, query)]
        weights = await self.weigh(heeded, query)
        ranked = sorted(zip(weights, heeded, strict=True), key=lambda p: (-p[0], -p[1].number))
        # No more than the best are looked at again: what they are worth bounds what it costs.
        best = [(weight, heard) for weight, heard in ranked[:300] if weight > 0]
        settled = self.settle(best, query)
        return text.cap("\n".join(self.answer(settled)), self.BUDGET)

    def rarity(self, word: str) -> float:
        """1 for a word of one line, towards 0 for one of all."""
        return 1.0 - self.having[word] / (len(self.lines) + 1) if self.having[word] else 0.0

    async def weigh_prepare(self) -> None:
        """For those who compare meanings."""

    # --- the slots ------------------------------------------------------------------------

    def hear(self, experience: Experience) -> list[tuple[str, str]]:
        """Lines worth keeping, each with the words that it may be found by."""
        raise NotImplementedError

    def heed(self, heard: Heard, query: Query) -> bool:
        """Whether a line may count for the query."""
        raise NotImplementedError

    async def weigh(self, heeded: list[Heard], query: Query) -> list[float]:
        """How well each line answers; 0: not at all."""
        raise NotImplementedError

    def settle(self, found: list[tuple[float, Heard]], query: Query) -> list[tuple[float, Heard]]:
        """The lines that still hold, the best first."""
        raise NotImplementedError

    def answer(self, found: list[tuple[float, Heard]]) -> list[str]:
        """The lines that are told."""
        raise NotImplementedError
