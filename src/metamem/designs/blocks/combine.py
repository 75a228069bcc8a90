"""combine: how the parts of a memory answer together.

`Recombined` and `Whole` are copied into each child that needs them; each block is one way to
fill the slot `retrieve`.
"""

from metamem.designs import Experience, Layer, Memory, Query, Tools, Wait, text
from metamem.designs.blocks.part import Part


class Whole(Layer):
    """A memory that was designed to stand alone, as one part among others."""

    def __init__(self, tools: Tools, memory: Layer) -> None:
        super().__init__(tools)
        self.memory = memory

    async def update(self, experience: Experience) -> None:
        await self.memory.update(experience)

    async def retrieve(self, query: Query, told: str = "") -> str:
        said = await self.memory.retrieve(query)
        return text.as_text(said[0] if isinstance(said, tuple) else said)


class Recombined(Memory):
    """Several parts that each remember in their own way."""

    ADVICE = 1500  # tokens of advice in all
    AGAIN = 10  # actions before it is asked again, where it may be

    def __init__(self, tools: Tools) -> None:
        super().__init__(tools)
        self.parts: list[Part | Whole] = []

    async def update(self, experience: Experience) -> None:
        for part in self.parts:
            await part.update(experience)

    async def retrieve(self, query: Query) -> tuple[str, Wait]:
        raise NotImplementedError

    def said(self, told: str) -> tuple[str, Wait]:
        """What is told; it is asked again where the first way told ends, or leads to nothing new."""
        told = text.cap(told, self.ADVICE)
        steps = sum(line[:1].isdigit() for line in told.split("\n\n")[0].splitlines())
        return told, Wait(steps=min(steps or self.AGAIN, self.AGAIN), stuck=3)


class AllParts(Recombined):
    """all parts speak, in order"""

    async def retrieve(self, query: Query) -> tuple[str, Wait]:
        told = ""
        for part in self.parts:
            told = f"{told}\n\n{await part.retrieve(query, told)}".strip()
        return self.said(told)


class FirstThatKnows(Recombined):
    """only the first part speaks that has something to say"""

    async def retrieve(self, query: Query) -> tuple[str, Wait]:
        for part in self.parts:
            told = await part.retrieve(query, "")
            if told:
                return self.said(told)
        return self.said("")


class NoLineTwice(Recombined):
    """all parts speak, in order, but no line is said twice"""

    async def retrieve(self, query: Query) -> tuple[str, Wait]:
        lines: dict[str, None] = {}
        for part in self.parts:
            said = await part.retrieve(query, "\n".join(lines))
            lines.update(dict.fromkeys(said.splitlines()))
        return self.said("\n".join(lines).strip())


class EqualShares(Recombined):
    """all parts speak, in order, each for an equal share of the tokens"""

    async def retrieve(self, query: Query) -> tuple[str, Wait]:
        told = ""
        for part in self.parts:
            said = text.cap(await part.retrieve(query, told), self.ADVICE // len(self.parts))
            told = f"{told}\n\n{said}".strip()
        return self.said(told)


class ShortestFirst(Recombined):
    """all parts speak, the one with the least to say first"""

    async def retrieve(self, query: Query) -> tuple[str, Wait]:
        told: list[str] = []
        for part in self.parts:
            told.append(await part.retrieve(query, "\n\n".join(told)))
        return self.said("\n\n".join(sorted(filter(None, told), key=len)))
