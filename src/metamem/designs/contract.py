"""The contract of a design: one Python file with one class that is a `Memory`."""

from abc import ABC, abstractmethod
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


class Layer(ABC):
    """A part of a memory, for designs built of several. A helper, not a duty."""

    def __init__(self, tools: Tools) -> None:
        self.tools = tools

    @abstractmethod
    async def update(self, experience: Experience) -> None: ...

    @abstractmethod
    async def retrieve(self, query: Query) -> list[str] | str: ...
