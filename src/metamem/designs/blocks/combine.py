"""combine: how the parts of a memory answer together.

`Recombined` and `Whole` are copied into each child that needs them; each block is one way to
fill the slot `retrieve`.
"""

from metamem.designs import Experience, Layer, Memory, Query, Tools, text
from metamem.designs.blocks.part import Part


class Whole(Layer):
    """A memory that was designed to stand alone, as one part among others."""

    def __init__(self, tools: Tools, memory: Layer) -> None:
        super().__init__(tools)
        self.memory = memory

    async def update(self, experience: Experience) -> None:
        await self.memory.update(experience)

    async def retrieve(self, query: Query, told: str = "") -> str:
        return text.as_text(await self.memory.retrieve(query))


class Recombined(Memory):
    """Several parts that each remember in their own way."""

    ADVICE = 1500  # tokens of advice in all

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.parts: list[Part | Whole] = []

    async def update(self, experience: Experience) -> None:
        for part in self.parts:
            await part.update(experience)

    async def retrieve(self, query: Query) -> str:
        raise NotImplementedError


class AllParts(Recombined):
    """all parts speak, in order"""

    async def retrieve(self, query: Query) -> str:
        told = ""
        for part in self.parts:
            told = f"{told}\n\n{await part.retrieve(query, told)}".strip()
        return text.cap(told, self.ADVICE)


class FirstThatKnows(Recombined):
    """only the first part speaks that has something to say"""

    async def retrieve(self, query: Query) -> str:
        for part in self.parts:
            told = await part.retrieve(query, "")
            if told:
                return text.cap(told, self.ADVICE)
        return ""


class NoLineTwice(Recombined):
    """all parts speak, in order, but no line is said twice"""

    async def retrieve(self, query: Query) -> str:
        lines: dict[str, None] = {}
        for part in self.parts:
            said = await part.retrieve(query, "\n".join(lines))
            lines.update(dict.fromkeys(said.splitlines()))
        return text.cap("\n".join(lines).strip(), self.ADVICE)


class EqualShares(Recombined):
    """all parts speak, in order, each for an equal share of the tokens"""

    async def retrieve(self, query: Query) -> str:
        told = ""
        for part in self.parts:
            said = text.cap(await part.retrieve(query, told), self.ADVICE // len(self.parts))
            told = f"{told}\n\n{said}".strip()
        return told


class ShortestFirst(Recombined):
    """all parts speak, the one with the least to say first"""

    async def retrieve(self, query: Query) -> str:
        told: list[str] = []
        for part in self.parts:
            told.append(await part.retrieve(query, "\n\n".join(told)))
        return text.cap("\n\n".join(sorted(filter(None, told), key=len)), self.ADVICE)
