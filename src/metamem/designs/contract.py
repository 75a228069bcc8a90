"""The contract of a design: one Python file with one class that is a `Memory`."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from metamem.core.types import Experience, Query
from metamem.core.waiting import Wait
from metamem.designs.toolbox import Tools

Told = str | dict[str, Any]


class Memory(ABC):
    """A running design. Its docstring says, in one line, what it remembers.

    All state belongs in the object: that is what forks, snapshots and restores carry.
    """

    def __init__(self, tools: Tools) -> None:
        self.tools = tools

    @abstractmethod
    async def retrieve(self, query: Query) -> "Told | tuple[Told, Wait]":
        """Advice for the agent, as text or as a structure that JSON can hold.

        With a `Wait` beside it, it says when it wants to be asked again in the same episode.
        """

    @abstractmethod
    async def update(self, experience: Experience) -> None:
        """Learn from one episode, or from one batch of messages."""

    async def study(self, life: Sequence[Experience]) -> None:  # noqa: B027  (may be left out)
        """Learn from what another memory lived through, before one's own life begins.

        Only where tasks are in groups, each with a memory of its own (conversations, say): `life` is
        all that one other group went through, in order, and then the episodes of its tasks. What is
        true there is not true here; ways of saying and doing things may be. Ignored by default.
        """


class Layer(ABC):
    """A part of a memory, for designs built of several. A helper, not a duty."""

    def __init__(self, tools: Tools) -> None:
        self.tools = tools

    @abstractmethod
    async def update(self, experience: Experience) -> None: ...

    @abstractmethod
    async def retrieve(self, query: Query) -> list[str] | str: ...
