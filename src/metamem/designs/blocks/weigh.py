"""weigh: how well each line answers."""

from metamem.designs import Query, text
from metamem.designs.blocks.listener import Heard, Listener


class RareWords(Listener):
    """the rare words that it shares with the goal"""

    async def weigh(self, heeded: list[Heard], query: Query) -> list[float]:
        asked = set(text.content_words(query.goal))
        total = sum(self.rarity(word) ** 2 for word in asked) or 1.0
        return [
            sum(self.rarity(word) ** 2 for word in heard.words if word in asked) / total
            for heard in heeded
        ]


class RareStems(Listener):
    """the rare words that it shares with the goal, by how they begin"""

    LETTERS = 5

    async def weigh(self, heeded: list[Heard], query: Query) -> list[float]:
        asked = {word[: self.LETTERS] for word in text.content_words(query.goal)}
        weights = []
        for heard in heeded:
            shared = [word for word in heard.words if word[: self.LETTERS] in asked]
            weights.append(sum(self.rarity(word) ** 2 for word in shared) / (len(asked) or 1))
        return weights


class Meaning(Listener):
    """how near its meaning is to the goal's"""

    async def weigh_prepare(self) -> None:
        new = [heard.line for heard in self.lines[len(self.vectors) :]]
        if new:
            self.vectors.extend(await self.tools.embed(new))

    async def weigh(self, heeded: list[Heard], query: Query) -> list[float]:
        (asked,) = await self.tools.embed([query.goal])
        return [max(0.0, float(asked @ self.vectors[heard.number])) for heard in heeded]


class WordsAndMeaning(Listener):
    """rare words that it shares with the goal, and how near its meaning is"""

    SHARE = 0.4

    async def weigh_prepare(self) -> None:
        new = [heard.line for heard in self.lines[len(self.vectors) :]]
        if new:
            self.vectors.extend(await self.tools.embed(new))

    async def weigh(self, heeded: list[Heard], query: Query) -> list[float]:
        (asked,) = await self.tools.embed([query.goal])
        wanted = set(text.content_words(query.goal))
        total = sum(self.rarity(word) ** 2 for word in wanted) or 1.0
        weights = []
        for heard in heeded:
            near = max(0.0, float(asked @ self.vectors[heard.number]))
            shared = sum(self.rarity(word) ** 2 for word in heard.words if word in wanted)
            weights.append(self.SHARE * near + (1 - self.SHARE) * shared / total)
        return weights
