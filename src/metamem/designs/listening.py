"""Layers that listen, in their quick build: what `metamem.designs.blocks.listener` says line by line.

The same line is read again and again: in some worlds thirty thousand lines are a thousand different
ones. Here those that are alike are heeded and weighed once, and stand in the order in which the plain
build has them. So nothing that is told differs, as long as the slots judge a line by its text and by
the words that it is found by, and not by when it was read (`settle` and `answer` may: they see all).
The jail gives this build to designs of which that is known (`metamem.designs.quickening`).
"""

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from metamem.core.types import Experience, Query
from metamem.designs import text
from metamem.designs.contract import Layer
from metamem.designs.toolbox import Tools


@dataclass
class Heard:
    """A line, and how it came here."""

    line: str
    words: tuple[str, ...]  # that it is found by
    number: int  # the later, the larger


MOST = 300  # lines that are looked at again, the best: as in the plain build
Alike = tuple[str, tuple[str, ...]]  # a line and its words
Found = Sequence[tuple[float, Heard]]


class Ranking(Sequence[tuple[float, Heard]]):
    """Lines with their weights, the best first and the latest of the best before others; made as far
    as they are asked for, which is seldom far."""

    def __init__(self, weighed: Iterable[tuple[float, list[int]]], lines: list[Heard]) -> None:
        self._by_weight: dict[float, list[list[int]]] = {}
        self._length = 0
        for weight, numbers in weighed:
            if weight > 0:
                self._by_weight.setdefault(weight, []).append(numbers)
                self._length += len(numbers)
        self._to_come = (
            (weight, lines[number])
            for weight in sorted(self._by_weight, reverse=True)
            for number in sorted(chain.from_iterable(self._by_weight[weight]), reverse=True)
        )
        self._made: list[tuple[float, Heard]] = []

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[tuple[float, Heard]]:
        return iter(self._until(self._length))

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            first, last, step = at.indices(self._length)
            return self._until(last)[first:last:step] if step > 0 else [*self][at]
        return self._until(at + 1 if at >= 0 else self._length)[at]

    def _until(self, count: int) -> list[tuple[float, Heard]]:
        self._made += islice(self._to_come, max(0, count - len(self._made)))
        return self._made


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
        self.alike: dict[Alike, list[int]] = {}  # the numbers of lines that are the same
        self.known: dict[str, tuple[str, ...]] = {}  # the words that a text is found by

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A snapshot may be of the plain build, which does not tell lines apart."""
        self.__dict__.update({"alike": {}, "known": {}} | state)
        if "alike" not in state:
            for heard in self.lines:
                self.alike.setdefault((heard.line, heard.words), []).append(heard.number)

    async def update(self, experience: Experience) -> None:
        for line, found_by in self.hear(experience):
            words = self.known.get(found_by)
            if words is None:
                words = self.known[found_by] = tuple(text.content_words(found_by))
            if words:
                self.alike.setdefault((line, words), []).append(len(self.lines))
                self.lines.append(Heard(line, words, len(self.lines)))
                for word in words:
                    self.having[word] += 1
                self.repeated[line.partition(" ")[2]] += 1
        await self.weigh_prepare()

    async def retrieve(self, query: Query, told: str = "") -> str:
        alike = [
            numbers for numbers in self.alike.values() if self.heed(self.lines[numbers[0]], query)
        ]
        weights = await self.weigh([self.lines[numbers[0]] for numbers in alike], query)
        ranked = Ranking(zip(weights, alike, strict=True), self.lines)
        settled = self.settle(ranked[:MOST], query)
        return text.cap("\n".join(self.answer(settled)), self.BUDGET)

    def rarity(self, word: str) -> float:
        """1 for a word of one line, towards 0 for one of all."""
        return 1.0 - self.having[word] / (len(self.lines) + 1) if self.having[word] else 0.0

    async def weigh_prepare(self) -> None:
        """For those who compare meanings."""

    @abstractmethod
    def hear(self, experience: Experience) -> list[tuple[str, str]]: ...

    @abstractmethod
    def heed(self, heard: Heard, query: Query) -> bool: ...

    @abstractmethod
    async def weigh(self, heeded: list[Heard], query: Query) -> list[float]: ...

    @abstractmethod
    def settle(self, found: Found, query: Query) -> Found: ...

    @abstractmethod
    def answer(self, found: Found) -> list[str]: ...
